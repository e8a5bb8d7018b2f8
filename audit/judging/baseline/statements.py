"""An answer cut into statements: what each is about, which amounts it gives and what it denies."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from audit.text.comparison import Negation, find_negations
from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import content_words, stem
from audit.text.units import ONES, TENS, UNITS

BREAK = re.compile(r"(?<=[.!?])[\"')\]]{0,3}\s+(?=[\"'(\[]?[A-Z0-9•*-])|[;\n]")
MOST = 300
"""So many statements are read, thirty times those of a usual answer: statements are compared each with each."""
_MEASURES = "time time amount number least most exact approximately estimated"
MEASURES = frozenset(map(stem, [*(word for word in UNITS if word.isalpha()), *ONES, *TENS, *_MEASURES.split()]))
"""Words that measure: they stand beside any amount and tell nothing of what it is about."""

_TEAM = r"(?:your|the|their|a) (?:\w+ )?(?:team|doctor|coordinator|nurse|provider|physician)"
ASIDE = re.compile(
    r"\d{3}-\d{4}|\?$|\b(?:about this|this (?:question|section|page|chapter)|the following|(?:hear|over) this|"
    rf"clear about|(?:bring up|raise|go over|discuss|talk|speak|check)\b[^,;]{{0,80}}\bwith {_TEAM}|"
    rf"{_TEAM} will (?:go over|explain|discuss|tell))\b",
    re.I,
)
"""Statements on the answer itself, telephone numbers, questions repeated, and "ask your team": they give no guidance."""


@dataclass(frozen=True)
class Statement:
    """One sentence, or one part of it before a semicolon.

    start, end  where it stands in the answer
    text        those characters, without the spaces around them
    stems       what it is about: its words by their stems, without those that only measure
    amounts     the amounts it gives
    denials     what it denies, forbids or calls unknown
    """

    start: int
    end: int
    text: str
    stems: frozenset[str]
    amounts: tuple[Quantity, ...]
    denials: tuple[Negation, ...]

    @cached_property
    def aside(self) -> bool:
        """Whether it gives no guidance: it speaks of the answer itself, or of whom to call."""
        return ASIDE.search(self.text) is not None


@dataclass(frozen=True)
class Answer:
    """An answer as the rules read it: its text and its statements, in order."""

    text: str
    statements: tuple[Statement, ...]

    @cached_property
    def empty(self) -> bool:
        """Whether it holds no guidance at all."""
        return all(statement.aside for statement in self.statements)

    @cached_property
    def guidance(self) -> tuple[Statement, ...]:
        """The statements that are no asides; all of them where there are no others."""
        return tuple(statement for statement in self.statements if not statement.aside) or self.statements

    @cached_property
    def stems(self) -> frozenset[str]:
        """What the whole answer is about."""
        return frozenset().union(*(statement.stems for statement in self.guidance))


@lru_cache(maxsize=4096)
def read_answer(text: str) -> Answer:
    """The statements of an answer. Kept, because each answer meets all others to its question."""
    known, amounts, denials = content_words(text), find_quantities(text), find_negations(text)
    starts = [[one.start for one in found] for found in (known, amounts, denials)]
    statements = []
    for start, end in _spans(text):
        inside = [slice(bisect_left(places, start), bisect_left(places, end)) for places in starts]
        stems = frozenset(word.stem for word in known[inside[0]]) - MEASURES
        statements.append(Statement(start, end, text[start:end].strip(), stems, amounts[inside[1]], denials[inside[2]]))
    return Answer(text, tuple(statements))


def _spans(text: str) -> Sequence[tuple[int, int]]:
    edges = [0, *(place for found in BREAK.finditer(text) for place in found.span()), len(text)]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if text[start:end].strip()][:MOST]
