"""Where two texts differ: in quantities, negations and words, as spans that a page can mark.

left, right = differences("Wait 3 months before you travel.", "Wait one year before you travel.")
[(span.kind, span.start, span.end) for span in left]     # [(DifferenceKind.NUMBER, 5, 13)]
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from audit.text.agreement import without_counterpart
from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import Word, content_words, plain_text, stem

VERBS = "do|does|did|should|shall|must|can|could|would|will|may|might|is|are|was|were|has|have|had|need"
AUXILIARY = f"(?:{VERBS})"
PREDICATE = r"(?:allowed|permitted|recommended|advised|advisable|safe|known|clear|proven|necessary|needed|required|possible)"
# In "grapefruit is not allowed" the subject is before the cue; after every other cue it follows.
SUBJECT_BEFORE = (
    rf"(?:{AUXILIARY}\s)?not\s(?:usually\s|generally\s|yet\s|been\s|be\s)?{PREDICATE}|"
    r"contraindicated|prohibited|forbidden|banned|unsafe|unknown|unclear|unproven|off[-\s]limits"
)
SUBJECT_AFTER = (
    rf"{AUXILIARY}\s(?:\w{{1,10}}\s)?not|(?:{VERBS}|ca|wo)n't|cannot|not|never|no|nor|none|nothing|neither|nobody|nowhere|"
    r"avoid(?:s|ed|ing|ance)?|without|refrain(?:s|ing)?|abstain(?:s|ing)?|stay\saway|steer\sclear"
)
# "No more than 3 drinks" sets a limit, and "not only" adds something: neither denies anything.
LIMIT = r"no(?:t)?\s(?:more|less|fewer|later|longer|earlier|sooner|higher|heavier|greater|older)\sthan"
NOT_A_NEGATION = rf"{LIMIT}|not\sonly|not\sjust|no\smatter|no\sdoubt|no\.\s?\d|whether\sor\snot|or\snot|if\snot|why\snot"
CUE = re.compile(rf"(?<![\w-])(?:(?P<none>{NOT_A_NEGATION})|(?P<before>{SUBJECT_BEFORE})|(?P<after>{SUBJECT_AFTER}))(?![\w-])")
CLAUSE_END = re.compile(r"[.;:!?\n](?:\s|$)")
# How far from its cue the subject of a negation may be: words before and after it, and characters on either side
WORDS_BEFORE, WORDS_AFTER, MAX_CHARACTERS = 4, 6, 300
_GENERIC_WORDS = """
people person patient individual doctor team provider case take tell us use call ask make have give need year month
week day time also usual usually general generally center clinic hospital handbook thing well know known not no never
"""
# Words that two negations may share without having the same subject
GENERIC_STEMS = frozenset(map(stem, _GENERIC_WORDS.split()))


@dataclass(frozen=True)
class Negation:
    """Something that a text denies, forbids or calls unknown: the cue ("should not") and the stems of its subject."""

    start: int
    end: int
    cue: str
    subject: frozenset[str]

    def agrees(self, other: Negation) -> bool:
        """Whether both have the same subject, as "avoid grapefruit" and "grapefruit is not allowed" do."""
        return bool(self.subject & other.subject) or self.subject == other.subject


@lru_cache(maxsize=4096)
def find_negations(text: str) -> tuple[Negation, ...]:
    """Every negation in `text`, in order, without limits ("no more than 3") and phrases such as "not only"."""
    plain, words = plain_text(text), content_words(text)
    starts = [word.start for word in words]
    return tuple(_negation(plain, words, starts, match) for match in CUE.finditer(plain) if not match["none"])


def _negation(plain: str, words: tuple[Word, ...], starts: list[int], cue: re.Match[str]) -> Negation:
    start, end = cue.span()
    clause_start, clause_end = _clause(plain, start, end)
    first_after, first_at_cue = bisect_left(starts, end), bisect_left(starts, start)
    after = [word.stem for word in words[first_after : first_after + WORDS_AFTER] if word.start < clause_end]
    before = [w.stem for w in words[max(0, first_at_cue - WORDS_BEFORE) : first_at_cue] if w.start >= clause_start]
    # Without words after the cue ("this is not safe.") the subject must be before it
    subject = [*(before if cue["before"] or not after else []), *after]
    return Negation(start, end, plain[start:end], frozenset(subject) - GENERIC_STEMS)


def _clause(plain: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of the clause around a cue, at most MAX_CHARACTERS away."""
    # Without the limit, a text without full stops would be searched in full for every cue.
    earliest = max(0, start - MAX_CHARACTERS)
    clause_ends = [match.end() for match in CLAUSE_END.finditer(plain, earliest, start)]
    stop = CLAUSE_END.search(plain, end, end + MAX_CHARACTERS)
    return (clause_ends[-1] if clause_ends else earliest), (stop.start() if stop else end + MAX_CHARACTERS)


class DifferenceKind(StrEnum):
    """The kinds of difference that a span marks, the most important first."""

    NUMBER = "number"
    NEGATION = "negation"
    WORD = "word"


class DifferenceSpan(NamedTuple):
    """Characters `start` to `end` of one text that have no counterpart in the other text."""

    start: int
    end: int
    kind: DifferenceKind


def differences(a: str, b: str) -> tuple[list[DifferenceSpan], list[DifferenceSpan]]:
    """The spans of `a` without a counterpart in `b`, and the spans of `b` without a counterpart in `a`.

    A number is marked if the other text states no quantity that agrees, a negation if the other text denies nothing about the
    same subject, a word if its stem is nowhere in the other text. Spans are in order and do not overlap: a quantity takes
    precedence over a negation, and a negation over a word. `differences(b, a)` returns the same two lists swapped.
    """
    return _unmatched_spans(a, b), _unmatched_spans(b, a)


def _unmatched_spans(text: str, other: str) -> list[DifferenceSpan]:
    quantities, negations, denied = find_quantities(text), find_negations(text), find_negations(other)
    undenied = [negation for negation in negations if not any(map(negation.agrees, denied))]
    spans = [
        *_spans(without_counterpart(quantities, find_quantities(other)), DifferenceKind.NUMBER),
        *_outside(_spans(undenied, DifferenceKind.NEGATION), _coverage(text, quantities)),
        # The most important kind first; what it covers is not marked again
        *_outside(_new_words(text, other), _coverage(text, [*quantities, *negations])),
    ]
    return sorted(spans)


def _spans(items: Iterable[Quantity | Negation], kind: DifferenceKind) -> list[DifferenceSpan]:
    return [DifferenceSpan(item.start, item.end, kind) for item in items]


def _coverage(text: str, items: Iterable[Quantity | Negation]) -> bytearray:
    """One byte for each character: 1 inside an item."""
    # Bytes, because a long answer has thousands of words to test against it.
    coverage = bytearray(len(text))
    for item in items:
        coverage[item.start : item.end] = b"\x01" * (item.end - item.start)
    return coverage


def _outside(spans: Iterable[DifferenceSpan], coverage: bytearray) -> list[DifferenceSpan]:
    return [span for span in spans if not any(coverage[span.start : span.end])]


def _new_words(text: str, other: str) -> list[DifferenceSpan]:
    other_stems = {word.stem for word in content_words(other)}
    return [
        DifferenceSpan(word.start, word.end, DifferenceKind.WORD) for word in content_words(text) if word.stem not in other_stems
    ]
