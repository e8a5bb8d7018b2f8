"""SECURITY.md says what is tested: each promise has its tests, and each test that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
TESTS = re.compile(r"\[(`[^\]]+`)\]$")


def promises(text: str) -> list[str]:
    """The points under *Protections*, each on one line."""
    protections = text.split("## Protections")[1].split("\n## ")[0]
    points = re.split(r"^\* ", re.sub(r"^\*\*.*\*\*$", "", protections, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    return [" ".join(point.split()) for point in points]


def named_in(text: str) -> list[str]:
    return [
        name for group in re.findall(r"\[(`[a-z_0-9]+`(?:, `[a-z_0-9]+`)*)\]", text) for name in re.findall(r"`(\w+)`", group)
    ]


def broken(text: str) -> list[str]:
    """The promises without a test, and the names of tests that do not exist."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    known = {name for source in sources for name in re.findall(r"^(?:async )?def test_(\w+)", source, re.MULTILINE)}
    return [point for point in promises(text) if not TESTS.search(point)] + sorted(set(named_in(" ".join(text.split()))) - known)


def test_each_promise_of_security_md_names_its_tests_and_they_exist() -> None:
    assert len(promises(SECURITY)) > 30
    assert broken(SECURITY) == []


def test_a_promise_without_a_test_and_one_with_a_test_that_was_renamed_are_found() -> None:
    point = "* Nobody reads anything."
    assert broken(SECURITY.replace("**Ledgers**", f"**Ledgers**\n{point}")) == [point.removeprefix("* ")]
    first = named_in(" ".join(promises(SECURITY)))[0]
    assert broken(SECURITY.replace(f"`{first}`", f"`{first}_no_more`")) == [f"{first}_no_more"]
