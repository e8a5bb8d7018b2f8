"""BM25 over a list of texts, by the library bm25s, and the tokens that it counts.

All scores are computed when the index is built, so a query only sums columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from snowballstemmer.english_stemmer import EnglishStemmer

from audit.optional_imports import optional
from audit.text.tokens import STOP_WORDS, plain_text

Scores = NDArray[np.float32]
# Robertson's usual values and the defaults of bm25s.
K1, B = 1.5, 0.75
# Letters and digits together, so a name such as CYP3A5 stays one token; a raised digit is the mark of a note, or a power.
TOKEN = re.compile(r"[^\W_⁰¹²³⁴-⁹]+(?:'[^\W_⁰¹²³⁴-⁹]+)?")


def tokens(text: str) -> list[str]:
    """The stems of a text in order, without stop words; numbers and gene names count: `Kidneys, 15q13.3` -> kidney, 15q13, 3."""
    return [english_stem(word) for word in TOKEN.findall(plain_text(text)) if word not in STOP_WORDS]


@lru_cache(maxsize=65536)
def english_stem(word: str) -> str:
    """The Snowball English stem of a lower-case word ("transplanted" -> "transplant")."""
    # The Python class by name: `snowballstemmer.stemmer()` would use PyStemmer, if installed, with other rules.
    # A stemmer keeps the word it works on, so each call makes its own: threads must not share one.
    stem: str = EnglishStemmer().stemWord(word)
    return stem


class Bm25:
    """Scores every text for a bag of weighted tokens. Raises MissingLibraryError without bm25s (extra `pipeline`)."""

    def __init__(self, retriever: Any, text_count: int) -> None:
        self._retriever, self.text_count = retriever, text_count

    @classmethod
    def build(cls, texts: Sequence[Sequence[str]]) -> Bm25:
        """The index of tokenised texts."""
        retriever = _new_retriever()
        if any(texts):  # bm25s fails on a corpus without a single token
            retriever.index([list(text) for text in texts], show_progress=False, create_empty_token=False)
        return cls(retriever, len(texts))

    @property
    def _vocabulary(self) -> Mapping[str, int]:
        vocabulary: Mapping[str, int] = getattr(self._retriever, "vocab_dict", {})
        return vocabulary

    def scores(self, weights: Mapping[str, float]) -> Scores:
        """One score per text, 0 if it has none of the tokens. `weights`: token -> weight."""
        total = np.zeros(self.text_count, dtype=np.float32)
        for token, weight in weights.items():
            if token in self._vocabulary:
                total += np.float32(weight) * self._retriever.get_scores_from_ids([self._vocabulary[token]])
        return total

    def document_frequency(self, token: str) -> int:
        """The number of texts that contain the token."""
        column = self._vocabulary.get(token)
        if column is None:
            return 0
        starts = self._retriever.scores["indptr"]
        return int(starts[column + 1] - starts[column])

    def idf(self, token: str) -> float:
        """Inverse document frequency: the rarer the token, the larger, and largest for one that no text contains."""
        return log(1 + self.text_count / (0.5 + self.document_frequency(token)))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The index as arrays, for `from_arrays`."""
        if not self._vocabulary:
            return {"count": np.array(self.text_count)}
        arrays = self._retriever.scores
        words = sorted(self._vocabulary, key=self._vocabulary.__getitem__)
        return {name: arrays[name] for name in ("data", "indices", "indptr")} | {
            "count": np.array(self.text_count),
            # As bytes: an array of texts would give every word four bytes for each letter of the longest one.
            "words": np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Bm25:
        """The index that `to_arrays` stored."""
        retriever, text_count = _new_retriever(), int(arrays["count"])
        if "words" in arrays:
            words = arrays["words"].tobytes().decode().split("\n")
            retriever.scores = {name: arrays[name] for name in ("data", "indices", "indptr")} | {"num_docs": text_count}
            retriever.vocab_dict = {word: column for column, word in enumerate(words)}
            # Only BM25 variants that score absent words need it, but bm25s reads the attribute in any case.
            retriever.nonoccurrence_array = None
        return cls(retriever, text_count)


def _new_retriever() -> Any:
    return optional("bm25s", "BM25", "pipeline").BM25(k1=K1, b=B, method="lucene")
