"""Finds documents with the same content under two names: exactly the same words, or nearly all of them."""

from __future__ import annotations

import heapq
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from audit.text.documents import Document
from audit.text.folding import fold

# Numbers too: two editions may differ only in doses
WORD = re.compile(r"\w+")
SHINGLE_WORDS = 5
# The smallest hash values of a document represent all of them (Broder 1997); the error of the share is about 1 / sqrt(SKETCH)
SKETCH = 512
NEAR = 0.8


class Sketch(NamedTuple):
    """A document as the smallest hash values of its shingles (five words in a row), and one hash value of all its words."""

    handbook_id: str
    values: frozenset[int]
    words: int


class Duplicate(NamedTuple):
    """Two handbooks with the same content; `overlap`: the share in [0, 1] of shingles that both have, 1 where all words agree."""

    first: str
    second: str
    overlap: float

    @property
    def sentence(self) -> str:
        """The finding, and what to do."""
        same = "the same text" if self.overlap == 1 else f"nearly the same text ({self.overlap:.0%} of it)"
        return f"{self.first} and {self.second} have {same}: if they are one handbook, leave one of them out."


def sketch_of(document: Document) -> Sketch:
    """The sketch of a document's words, without case, accents and punctuation."""
    words = WORD.findall(fold(document.full_text).text.casefold())
    shingles = {" ".join(words[start : start + SHINGLE_WORDS]) for start in range(max(1, len(words) - SHINGLE_WORDS + 1))}
    values = heapq.nsmallest(SKETCH, {zlib.crc32(text.encode()) for text in shingles})
    return Sketch(document.handbook_id, frozenset(values), hash(tuple(words)))


def duplicates(sketches: Iterable[Sketch]) -> Iterator[Duplicate]:
    """Each pair of handbooks with the same or nearly the same content."""
    for first, second in combinations(sketches, 2):
        # A sketch may miss a word, so overlap 1 requires equal hash values of all words
        overlap = 1.0 if first.words == second.words else min(_overlap(first.values, second.values), 0.99)
        if overlap >= NEAR:
            yield Duplicate(first.handbook_id, second.handbook_id, overlap)


def _overlap(first: frozenset[int], second: frozenset[int]) -> float:
    smallest = heapq.nsmallest(SKETCH, first | second)
    return sum(value in first and value in second for value in smallest) / len(smallest)
