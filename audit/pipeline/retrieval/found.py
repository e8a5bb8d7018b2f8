"""What a score of closeness means: stated, perhaps, or not found, with how often each was right on questions of known answer."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from audit.pipeline.embedding.encoders import MINILM as MINILM_NAME
from audit.pipeline.embedding.static import NAME as STATIC_NAME
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document
from audit.vocabulary import Found

TABLE = Path(__file__).with_name("found.toml")
MINILM, WORDS = "minilm", "words"
WAYS = {MINILM_NAME: MINILM, MINILM_NAME.rpartition("/")[2]: MINILM, LEXICAL: WORDS, STATIC_NAME: WORDS}
"""Name of an encoder -> the way to compare; of other encoders nobody measured what a score means."""
MOST_LETTERS = 226_000
"""Characters: a quarter more than the longest document of benchmarks/gold. What a score means in a longer one is not known."""
COUNTS = ("missed", "answered", "found", "unanswered", "source", "date")


@dataclass(frozen=True)
class Thresholds:
    """The scores from which an answer is stated, and from which it is perhaps there; below them it is not found."""

    stated: float
    perhaps: float

    def of(self, document: Document) -> Thresholds:
        """These, for one handbook: in one that is longer than those that were measured, nothing is stated.

        The more passages, the closer the closest of them comes by chance, and nobody measured how much.
        """
        letters = sum(len(section.text) for section in document.sections)
        return replace(self, stated=inf) if letters > MOST_LETTERS else self

    def found(self, score: float | None) -> Found:
        """How surely the best passage of a handbook answers; None: the handbook has no passage."""
        if score is None or score < self.perhaps:
            return Found.NOT_FOUND
        return Found.STATED if score >= self.stated else Found.PERHAPS


@cache
def thresholds(way: str) -> Thresholds:
    """The thresholds of a way to compare: MINILM or WORDS."""
    row = _table()[way]
    return Thresholds(row["stated"], row["perhaps"])


def generator_errors(way: str) -> dict[str, Any] | None:
    """How often this way errs on questions of known answer, as `generator_errors` of a manifest; None: not measured."""
    row = _table()[way]
    return {name: row[name] for name in COUNTS} if all(name in row for name in COUNTS) else None


@cache
def _table() -> dict[str, dict[str, Any]]:
    with TABLE.open("rb") as file:
        return tomllib.load(file)
