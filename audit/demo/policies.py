"""What the fictional handbooks can say: the policies of audit/demo/handbook, one file per topic, and the wordings around them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any


@cache
def phrases() -> dict[str, Any]:
    """Circumstances, openings, closings, absence wordings and reasonings, as they are in the file."""
    return tomllib.loads((Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8"))


HANDBOOK_DIR = Path(__file__).parent / "handbook"
DETAILS = 5
DETAIL_SETS = tuple(combinations(range(DETAILS), 2))
"""Every answer gives one of these ten sets of two details; the same set and the same value make a CONSISTENT pair."""


@dataclass(frozen=True)
class PolicyDetail:
    """A further fact that an answer may carry: what it is about in a few words, and the sentence."""

    tag: str
    sentence: str


@dataclass(frozen=True)
class Policy:
    """One rule on which handbooks may agree or differ, or which they may not address.

    kind        value: centers hold one of several values; stance: the first value is the usual advice, the second its opposite
    organs      empty: concerns every organ; otherwise only questions about these organs ask for it
    phase       pre or post: the part of the journey in which patients ask
    severity    low, medium or high: how much a disagreement tends to matter
    theme       what a disagreement is about, in a judge's words
    values      2 or 3 positions; for a value policy the words that replace {value}
    says        per value, the ways to state it
    guidance    the advice that every center shares, worded in several ways
    asks, hows  questions that turn on the value, and on the shared advice; {o} becomes "kidney " or nothing
    details     five facts; an answer gives two of them
    """

    id: str
    kind: str
    topics: tuple[str, ...]
    subtopics: tuple[str, ...]
    chapter: str
    section: str
    organs: tuple[str, ...]
    phase: str
    severity: str
    theme: str
    values: tuple[str, ...]
    says: tuple[tuple[str, ...], ...]
    guidance: tuple[str, ...]
    asks: tuple[str, ...]
    hows: tuple[str, ...]
    details: tuple[PolicyDetail, ...]

    def concerns(self, organ: str) -> bool:
        """Whether a question about `organ` (or `general`) may ask for this policy."""
        return not self.organs or organ in self.organs


@cache
def policies() -> tuple[Policy, ...]:
    """Every policy, in the order of the files' names and of the entries in a file."""
    return tuple(policy for path in sorted(HANDBOOK_DIR.glob("*.toml")) for policy in _read(path))


def _read(path: Path) -> list[Policy]:
    chapter = tomllib.loads(path.read_text(encoding="utf-8"))
    return [_policy(entry, chapter) for entry in chapter["policy"]]


def _policy(entry: dict[str, Any], chapter: dict[str, Any]) -> Policy:
    return Policy(
        id=entry["id"],
        kind=entry.get("kind", "value"),
        topics=(chapter["topic"], *entry.get("also", ())),
        subtopics=tuple(entry["subtopics"]),
        chapter=chapter["chapter"],
        section=entry["section"],
        organs=tuple(entry.get("organs", ())),
        phase=entry.get("phase", "post"),
        severity=entry["severity"],
        theme=entry["theme"],
        values=tuple(entry["values"]),
        says=_says(entry),
        guidance=tuple(entry["guidance"]),
        asks=tuple(entry["asks"]),
        hows=tuple(entry["hows"]),
        details=tuple(PolicyDetail(*text.split(": ", 1)) for text in entry["details"]),
    )


def _says(entry: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    if entry.get("kind") == "stance":
        return tuple(tuple(ways) for ways in entry["says"])
    return tuple(tuple(way.format(value=value) for way in entry["says"]) for value in entry["values"])
