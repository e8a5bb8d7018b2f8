"""An answer cut into statements: what each is about, which amounts it gives and what it denies."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from audit.wording import Negation, Quantity, negations, quantities, stem, words
from audit.wording.units import ONES, TENS, UNITS

BREAK = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9•*-])|\s*[;\n]\s*")
_MEASURES = "time time amount number least most exact approximately estimated"
MEASURES = frozenset(map(stem, [*(word for word in UNITS if word.isalpha()), *ONES, *TENS, *_MEASURES.split()]))
"""Words that measure: they stand beside any amount and tell nothing of what it is about."""


@dataclass(frozen=True)
class Statement:
    """One sentence, or one part of it before a semicolon.

    start, end  where it stands in the answer
    text        those characters
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


@dataclass(frozen=True)
class Answer:
    """An answer as the rules read it: its text and its statements, in order."""

    text: str
    statements: tuple[Statement, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """What the whole answer is about."""
        return frozenset().union(*(statement.stems for statement in self.statements))


@lru_cache(maxsize=4096)
def read_answer(text: str) -> Answer:
    """The statements of an answer. Kept, because each answer meets all others to its question."""
    known, amounts, denials = words(text), quantities(text), negations(text)
    starts = [[one.start for one in found] for found in (known, amounts, denials)]
    statements = []
    for start, end in _spans(text):
        inside = [slice(bisect_left(places, start), bisect_left(places, end)) for places in starts]
        stems = frozenset(word.stem for word in known[inside[0]]) - MEASURES
        statements.append(Statement(start, end, text[start:end], stems, amounts[inside[1]], denials[inside[2]]))
    return Answer(text, tuple(statements))


def _spans(text: str) -> Sequence[tuple[int, int]]:
    edges = [0, *(place for found in BREAK.finditer(text) for place in found.span()), len(text)]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if text[start:end].strip()]
