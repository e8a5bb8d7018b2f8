"""BM25 over a list of texts, by the library bm25s, and the tokens that it counts.

All scores are computed when the index is built, so a query only sums columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from snowballstemmer.english_stemmer import EnglishStemmer

from audit.optional_imports import optional
from audit.text.tokens import STOP_WORDS, plain_text
from audit.text.words import search_words

Scores = NDArray[np.float32]
# Robertson's usual values and the defaults of bm25s.
K1, B = 1.5, 0.75
ARRAYS = ("data", "indices", "indptr")
"""Scores, texts and starts, by the names of bm25s."""
NONE: NDArray[Any] = np.zeros(0, dtype=np.int32)


def tokens(text: str) -> list[str]:
    """The stems of a text in order, without stop words; numbers and gene names count: `Kidneys, 15q13.3` -> kidney, 15q13, 3."""
    return [english_stem(word) for word in search_words(plain_text(text)) if word not in STOP_WORDS]


@lru_cache(maxsize=65536)
def english_stem(word: str) -> str:
    """The Snowball English stem of a lower-case word ("transplanted" -> "transplant")."""
    # The Python class by name: `snowballstemmer.stemmer()` would use PyStemmer, if installed, with other rules.
    # A stemmer keeps the word it works on, so each call makes its own: threads must not share one.
    stem: str = EnglishStemmer().stemWord(word)
    return stem


class Bm25:
    """Scores every text for a bag of weighted tokens.

    columns  token -> its column; scores[starts[column]:starts[column + 1]] are those of the texts in `texts` at the same places
    """

    def __init__(self, columns: Mapping[str, int], arrays: Mapping[str, NDArray[Any]], text_count: int) -> None:
        self._columns, self.text_count = columns, text_count
        self._scores, self._texts, self._starts = (arrays.get(name, NONE) for name in ARRAYS)

    @classmethod
    def build(cls, texts: Sequence[Sequence[str]], b: float = B) -> Bm25:
        """The index of tokenised texts. `b`: how much a short text gains, from 0. Raises MissingLibraryError without bm25s."""
        if not any(texts):  # bm25s fails on a corpus without a single token
            return cls({}, {}, len(texts))
        # Reading an index needs no library, and this one takes longer to import than most indexes to read
        retriever = optional("bm25s", "BM25", "pipeline").BM25(k1=K1, b=b, method="lucene")
        retriever.index([list(text) for text in texts], show_progress=False, create_empty_token=False)
        return cls(retriever.vocab_dict, retriever.scores, len(texts))

    def scores(self, weights: Mapping[str, float]) -> Scores:
        """One score per text, 0 if it has none of the tokens. `weights`: token -> weight."""
        total = np.zeros(self.text_count, dtype=np.float32)
        for token, weight in weights.items():
            if token in self._columns:
                of_token = self._column(token)
                total[self._texts[of_token]] += np.float32(weight) * self._scores[of_token]
        return total

    def _column(self, token: str) -> slice:
        column = self._columns[token]
        return slice(int(self._starts[column]), int(self._starts[column + 1]))

    def document_frequency(self, token: str) -> int:
        """The number of texts that contain the token."""
        of_token = self._column(token) if token in self._columns else slice(0, 0)
        return of_token.stop - of_token.start

    def idf(self, token: str) -> float:
        """Inverse document frequency: the rarer the token, the larger, and largest for one that no text contains."""
        return log(1 + self.text_count / (0.5 + self.document_frequency(token)))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The index as arrays, for `from_arrays`."""
        if not self._columns:
            return {"count": np.array(self.text_count)}
        words = sorted(self._columns, key=self._columns.__getitem__)
        return dict(zip(ARRAYS, (self._scores, self._texts, self._starts), strict=True)) | {
            "count": np.array(self.text_count),
            # As bytes: an array of texts would give every word four bytes for each letter of the longest one.
            "words": np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Bm25:
        """The index that `to_arrays` stored."""
        words = arrays["words"].tobytes().decode().split("\n") if "words" in arrays else []
        return cls({word: column for column, word in enumerate(words)}, arrays, int(arrays["count"]))
