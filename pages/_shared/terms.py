"""Text on a page: a release's own terms, and nothing that a release wrote taken for Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from audit.store.runs import Run
from audit.terms import fill, terms
from pages._blinded.frame import escaped

__all__ = ["escaped", "fill", "listed", "say", "terms", "title_of"]

BEFORE_PERCENT = re.compile(r"(?<=\d) (?=\\?%)")


def say(run: Run, template: str, **values: object) -> str:
    """Markdown from a template of ours: `{handbooks}`, `{Organ}`, `{a_handbook}` are the run's terms, all values are escaped.

    No line ends between a number and its percent sign.
    """
    known = {name: escaped(value) for name, value in {**terms(run), **values}.items()}
    return BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", template.format(**known))


def title_of(run: Run, word: str) -> str:
    """The run's word for `word` as a column heading or a label: `Topic area` for `organ` in a release that says so.

    Plain text: labels of widgets interpret Markdown, so escape it there with `escaped`.
    """
    return terms(run)[word.capitalize()]


def listed(names: Iterable[object]) -> str:
    """`a, b and c`."""
    *most, last = [str(name) for name in names] or [""]
    return f"{', '.join(most)} and {last}" if most else last
