"""Where two texts differ, as spans that a page can mark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

from audit.text.negation import Negation, negations
from audit.text.quantities import quantities
from audit.text.quantity import Quantity
from audit.text.words import words


class Kind(StrEnum):
    """What kind of difference a span marks, the weightiest first."""

    NUMBER = "number"
    NEGATION = "negation"
    WORD = "word"


class Span(NamedTuple):
    """Characters `start` to `end` of one text, which the other text does not have."""

    start: int
    end: int
    kind: Kind


Statement = Quantity | Negation
Said = TypeVar("Said", Quantity, Negation)


def contrast(a: str, b: str) -> tuple[list[Span], list[Span]]:
    """What differs between two answers: the spans of `a` that `b` does not have, and the spans of `b` that `a` does not have.

    A number is marked where the other text states no amount that agrees, a negation where the other text denies nothing
    of the same subject, a word where its stem stands nowhere in the other text. Spans are ordered and do not overlap; an
    amount goes before a denial and a denial before a word. `contrast(b, a)` gives the same two lists the other way round.
    """
    return _marks(a, b), _marks(b, a)


def _marks(mine: str, theirs: str) -> list[Span]:
    amounts, denials = quantities(mine), negations(mine)
    taken = _covered(mine, [*amounts, *denials])
    spans = [
        *_unmatched(amounts, quantities(theirs), Kind.NUMBER),
        *_outside(_unmatched(denials, negations(theirs), Kind.NEGATION), _covered(mine, amounts)),
        *_outside(_new_words(mine, theirs), taken),
    ]
    return sorted(spans)


def _unmatched(mine: Sequence[Said], theirs: Sequence[Said], kind: Kind) -> list[Span]:
    return [Span(one.start, one.end, kind) for one in mine if not any(one.agrees(other) for other in theirs)]


def _covered(text: str, statements: Iterable[Statement]) -> bytearray:
    """One byte per character: 1 where a statement stands, so that nothing is marked twice."""
    taken = bytearray(len(text))
    for statement in statements:
        taken[statement.start : statement.end] = b"\x01" * (statement.end - statement.start)
    return taken


def _outside(spans: Iterable[Span], taken: bytearray) -> list[Span]:
    return [span for span in spans if not any(taken[span.start : span.end])]


def _new_words(mine: str, theirs: str) -> list[Span]:
    known = {word.stem for word in words(theirs)}
    return [Span(word.start, word.end, Kind.WORD) for word in words(mine) if word.stem not in known]
