"""What a score of closeness means: stated, perhaps, or not found, with how often each was right on questions of known answer."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit.vocabulary import Found

TABLE = Path(__file__).with_name("found.toml")
MINILM, WORDS = "minilm", "words"


@dataclass(frozen=True)
class Thresholds:
    """The scores from which an answer is stated, and from which it is perhaps there; below them it is not found."""

    stated: float
    perhaps: float

    def found(self, score: float | None) -> Found:
        """How surely the best passage of a handbook answers; None: the handbook has no passage."""
        if score is None or score < self.perhaps:
            return Found.NOT_FOUND
        return Found.STATED if score >= self.stated else Found.PERHAPS


@cache
def thresholds(way: str) -> Thresholds:
    """The thresholds of a way to compare: MINILM or WORDS."""
    with TABLE.open("rb") as file:
        rows = tomllib.load(file)[way]
    return Thresholds(rows["stated"], rows["perhaps"])
