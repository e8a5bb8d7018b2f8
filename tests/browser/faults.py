"""What scripts can see to be wrong with a page: `faults.js`, contrast, and the rules of axe-core."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.accessibility import axe_violations


def script(name: str) -> str:
    """A function in JavaScript, without the comment above it."""
    return re.sub(r"^//.*\n", "", Path(__file__).with_name(name).read_text(encoding="utf-8"), flags=re.MULTILINE)


FAULTS, LOW_CONTRAST = script("faults.js"), script("low_contrast.js")
MIN_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3, for text of ordinary size."""
PLURALS = (
    "pairs", "questions", "handbooks", "institutes", "centers", "organs", "topics", "themes", "answers", "searches", "replies",
    "labels", "sources", "systems", "codes", "items", "runs", "passages", "sections", "people", "ratings", "positions",
)  # fmt: skip

Fault = tuple[str, str]
"""What kind, and what it is: `("touch", "Next 20 x 20, next to Back")`."""


def faults(page: Page, *, axe: bool = True) -> list[Fault]:
    """Everything that scripts find wrong with a page as it is drawn now."""
    seen = [(kind, what) for kind, what in page.evaluate(FAULTS, list(PLURALS))]
    seen += [("contrast", f"{text} {ratio}") for text, ratio, *_ in page.evaluate(LOW_CONTRAST, MIN_CONTRAST)]
    return seen + ([("axe", violation) for violation in axe_violations(page)] if axe else [])
