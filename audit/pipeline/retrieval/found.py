"""What a score of closeness means: stated, perhaps, or not found, with how often each was right on questions of known answer."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import inf, log
from pathlib import Path
from typing import Any

from audit.pipeline.embedding.encoders import MINILM as MINILM_NAME
from audit.pipeline.embedding.static import NAME as STATIC_NAME
from audit.pipeline.retrieval.closest import USUAL, passage_places
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document
from audit.vocabulary import Found

TABLE = Path(__file__).with_name("found.toml")
MINILM, WORDS, BOTH = "minilm", "words", "both"
WAYS = {MINILM_NAME: MINILM, MINILM_NAME.rpartition("/")[2]: MINILM, LEXICAL: WORDS, STATIC_NAME: WORDS}
"""Name of an encoder -> the way to compare; of other encoders nobody measured what a score means."""
MOST_LETTERS = 226_000
"""Characters: a quarter more than the longest document of benchmarks/gold. What a score means in a longer one is not known."""
MEASURED_IN = "en"
"""The language of benchmarks/gold, as ISO 639 code."""
FEW_LETTERS = 20_000
"""Characters: any document with so many has the passages from which `closest` takes what is usual."""
COUNTS = ("missed", "answered", "found", "unanswered", "source", "date")


@dataclass(frozen=True)
class Thresholds:
    """The scores from which an answer is stated, and from which it is perhaps there; below them it is not found.

    more     what is added to `stated` for e times as many handbooks
    shorter  what is taken off `perhaps` for each passage that a handbook has too few
    """

    stated: float
    perhaps: float
    more: float = 0.0
    shorter: float = 0.0

    def among(self, handbooks: int) -> Thresholds:
        """These, where one question is put to so many handbooks and the closest is read first.

        Each is stated wrongly as rarely as before, but one of many is sooner.
        """
        return replace(self, stated=self.stated + self.more * log(max(handbooks, 1)))

    def of(self, document: Document) -> Thresholds:
        """These, for one handbook.

        In one that is longer than those that were measured, nothing is stated: the more passages, the closer the closest of them
        comes by chance, and nobody measured how much. In one that lacks some of the passages from which `closest` takes what is
        usual, more counts as perhaps, because its scores are lower by what is assumed in their place. In one that is
        known to be in another language than those that were measured, every passage is perhaps an answer.
        """
        if not in_measured_language(document):
            return replace(self, stated=inf, perhaps=-inf)
        letters = sum(len(section.text) for section in document.sections)
        if letters > MOST_LETTERS:
            return replace(self, stated=inf)
        return replace(self, perhaps=self.perhaps - self.shorter * _missing(document)) if letters < FEW_LETTERS else self

    def found(self, score: float | None) -> Found:
        """How surely the best passage of a handbook answers; None: the handbook has no passage."""
        if score is None or score < self.perhaps:
            return Found.NOT_FOUND
        return Found.STATED if score >= self.stated else Found.PERHAPS


def agreed(one: Found, other: Found, same: bool) -> Found:
    """What two searches say together, each by its own thresholds: only what both say is sure.

    same  whether the same passage is closest in both; otherwise they do not state the same
    """
    return one if one is other and (same or one is not Found.STATED) else Found.PERHAPS


def in_measured_language(document: Document) -> bool:
    """Whether scores and errors were measured in the language of a handbook, as far as that is known."""
    return document.language in (None, MEASURED_IN)


@lru_cache(512)
def _missing(document: Document) -> int:
    """How many of the ranks that say what is usual in a handbook this one lacks."""
    return max(USUAL.stop - max(len(passage_places(document)), USUAL.start), 0)


@cache
def thresholds(way: str) -> Thresholds:
    """The thresholds of a way to compare: MINILM or WORDS."""
    row = _table()[way]
    return Thresholds(row["stated"], row["perhaps"], row["more"], row["shorter"])


def generator_errors(way: str) -> dict[str, Any] | None:
    """How often this way errs on questions of known answer, as `generator_errors` of a manifest; None: not measured.

    BOTH: the two ways taken together by `agreed`.
    """
    row = _table()[way]
    return {name: row[name] for name in COUNTS} if all(name in row for name in COUNTS) else None


@cache
def _table() -> dict[str, dict[str, Any]]:
    with TABLE.open("rb") as file:
        return tomllib.load(file)
