"""The vocabularies of the audit: labels, significances, phases and others, in order, with their accepted spellings.

Case, spaces, hyphens and underscores do not matter; a label may be given by its number 0 to 4.
"""

from __future__ import annotations

import difflib
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

Term = TypeVar("Term", bound=StrEnum)


class Label(StrEnum):
    """A judge's verdict on a pair, ordered on the coverage-agreement axis (ABSENT 0 ... CONTRADICTORY 4)."""

    ABSENT = "ABSENT"
    CONSISTENT = "CONSISTENT"
    COMPLEMENTARY = "COMPLEMENTARY"
    DIVERGENT = "DIVERGENT"
    CONTRADICTORY = "CONTRADICTORY"

    @property
    def code(self) -> int:
        """The label's number in a release's matrix."""
        return LABELS.index(self)


class Significance(StrEnum):
    """How much a disagreement matters to a patient; given to DIVERGENT and CONTRADICTORY pairs only."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Phase(StrEnum):
    """The part of the patient's journey that a handbook covers."""

    PRE = "pre"
    POST = "post"
    COMBINED = "combined"


class CheckKind(StrEnum):
    """Why a judge was asked about a pair again."""

    SWAP = "swap"
    BLIND = "blind"
    REPEAT = "repeat"


class Parse(StrEnum):
    """How a judge's reply was parsed: as the requested JSON, as faulty JSON, as a label in its text, or not at all.

    RULES: no model was asked.
    """

    STRICT = "strict"
    LENIENT = "lenient"
    LABEL = "label"
    NONE = "none"
    RULES = "rules"


LABELS = tuple(Label)
SIGNIFICANCES = tuple(Significance)
PHASES = tuple(Phase)
CHECK_KINDS = tuple(CheckKind)
PARSES = tuple(Parse)
DISAGREEING = (Label.DIVERGENT, Label.CONTRADICTORY)
GENERAL = "general"
"""The organ of a question that concerns every handbook."""

NOT_ADDRESSED = "NOT ADDRESSED"
"""The canonical prefix of an answer in which the handbook does not address the question."""

ABSTAINED = "abstained"
"""How the reason of an unscored pair begins where the judge had an answer to give and could not tell; no reply was unreadable."""

LABEL_VARIANTS: dict[Label, tuple[str, ...]] = {
    Label.ABSENT: ("absence", "missing", "notaddressed", "0"),
    Label.CONSISTENT: ("consistency", "agree", "agreement", "1"),
    Label.COMPLEMENTARY: ("complement", "complimentary", "complements", "2"),
    Label.DIVERGENT: ("divergence", "diverging", "diverge", "diverges", "3"),
    Label.CONTRADICTORY: ("contradiction", "contradicts", "contradicting", "contradict", "4"),
}
SIGNIFICANCE_VARIANTS: dict[Significance, tuple[str, ...]] = {
    Significance.LOW: ("minor",),
    Significance.MEDIUM: ("med", "moderate"),
    Significance.HIGH: ("major", "severe"),
}
PHASE_VARIANTS: dict[Phase, tuple[str, ...]] = {
    Phase.PRE: ("pretransplant", "before"),
    Phase.POST: ("posttransplant", "after"),
    Phase.COMBINED: ("both", "all", "prepost", "preandpost"),
}
CHECK_KIND_VARIANTS: dict[CheckKind, tuple[str, ...]] = {
    CheckKind.SWAP: ("swapped", "positionswap", "order"),
    CheckKind.BLIND: ("blinded", "blindcenters"),
    CheckKind.REPEAT: ("repeated", "again"),
}
EMPTY_WORDS = frozenset({"", "null", "none", "nan", "na", "n/a"})
"""Texts that mean "no value" where a label or a significance is expected."""


# Millions of records repeat few spellings.
@lru_cache(4096)
def plain(text: str) -> str:
    """`text` without case, spaces, hyphens and underscores: the form in which spellings are compared."""
    return "".join(ch for ch in text.casefold() if ch not in " -_\t\r\n")


def spellings(variants: dict[Term, tuple[str, ...]]) -> dict[str, Term]:
    """Every accepted plain spelling of a vocabulary, the words themselves included."""
    return {plain(word): term for term, others in variants.items() for word in (term.value, *others)}


def concerns(organ: str, other: str) -> bool:
    """Whether questions about one organ are put to handbooks of the other: they are the same, or one of them is general."""
    organs = plain(organ), plain(other)
    return organs[0] == organs[1] or GENERAL in organs


LABEL_SPELLINGS = spellings(LABEL_VARIANTS)
SIGNIFICANCE_SPELLINGS = spellings(SIGNIFICANCE_VARIANTS)
PHASE_SPELLINGS = spellings(PHASE_VARIANTS)
CHECK_KIND_SPELLINGS = spellings(CHECK_KIND_VARIANTS)
PARSE_SPELLINGS = {parse.value: parse for parse in PARSES}


# difflib is slow, and one misspelling is usually in every record of a file.
@lru_cache(1024)
def nearest(word: str, allowed: tuple[str, ...]) -> str:
    """` Did you mean 'x'?` for the allowed word closest to `word`, or an empty text when none is close."""
    close = difflib.get_close_matches(word, allowed, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
