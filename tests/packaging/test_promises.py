"""SECURITY.md says what is tested: each promise has its tests, and each test that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = re.compile(r"\[(`[^\]]+`)\]$")


def promises() -> list[str]:
    """The points under *Protections*, each on one line."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    protections = text.split("## Protections")[1].split("\n## ")[0]
    points = re.split(r"^\* ", re.sub(r"^\*\*.*\*\*$", "", protections, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    return [" ".join(point.split()) for point in points]


def named_in(text: str) -> list[str]:
    return [
        name for group in re.findall(r"\[(`[a-z_0-9]+`(?:, `[a-z_0-9]+`)*)\]", text) for name in re.findall(r"`(\w+)`", group)
    ]


def test_each_promise_of_security_md_names_its_tests_and_they_exist() -> None:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    known = {name for source in sources for name in re.findall(r"^(?:async )?def test_(\w+)", source, re.MULTILINE)}
    points = promises()
    assert len(points) > 30
    assert [point for point in points if not TESTS.search(point)] == []
    text = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    assert sorted(set(named_in(text)) - known) == []
