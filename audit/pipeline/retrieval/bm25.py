"""BM25 over a list of texts, by the library bm25s, and the tokens that it counts.

All scores are computed when the index is built, so a query only sums columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from snowballstemmer import algorithms

from audit.text.language import language_name
from audit.text.tokens import STOP_WORDS, plain_text
from audit.text.words import search_words

Scores = NDArray[np.float32]
# Robertson's usual values and the defaults of bm25s.
K1, B = 1.5, 0.75
ARRAYS = ("data", "indices", "indptr")
"""Scores, texts and starts, by the names of bm25s."""
NONE: NDArray[Any] = np.zeros(0, dtype=np.int32)
ENGLISH = "english"


def tokens(text: str, language: str | None = None) -> list[str]:
    """The stems of a text in order, without stop words; numbers and gene names count: `Kidneys, 15q13.3` -> kidney, 15q13, 3.

    language  ISO 639 code of the text; None: unknown, and read as English. Another language has no stop words: what is in every
              passage weighs next to nothing. Words of one without a stemmer stay as they are
    """
    return [stem for stem, _ in stemmed_words(text, language)]


def stemmed_words(text: str, language: str | None = None) -> Iterator[tuple[str, str]]:
    """(stem, word) of the same words, the words in lower case."""
    stemmer = stemmer_of(language)
    for word in search_words(plain_text(text)):
        if stemmer != ENGLISH or word not in STOP_WORDS:
            yield _stem(word, stemmer) if stemmer else word, word


@cache
def stemmer_of(language: str | None) -> str:
    """The name of the Snowball stemmer of a language; that of English where it is unknown; empty where there is none."""
    name = language_name(language).lower() if language else ENGLISH
    return name if name in algorithms() else ""


@lru_cache(maxsize=65536)
def _stem(word: str, stemmer: str) -> str:
    # A stemmer keeps the word it works on, so each call makes its own: threads must not share one.
    return str(_stemmer(stemmer)().stemWord(word))


@cache
def _stemmer(name: str) -> Any:
    # The Python class by name: `snowballstemmer.stemmer()` would use PyStemmer, if installed, with other rules.
    return getattr(import_module(f"snowballstemmer.{name}_stemmer"), f"{name.title()}Stemmer")


class Bm25:
    """Scores every text for a bag of weighted tokens.

    columns  token -> its column; scores[starts[column]:starts[column + 1]] are those of the texts in `texts` at the same places
    """

    def __init__(self, columns: Mapping[str, int], arrays: Mapping[str, NDArray[Any]], text_count: int) -> None:
        self._columns, self.text_count = columns, text_count
        self._scores, self._texts, self._starts = (arrays.get(name, NONE) for name in ARRAYS)

    @classmethod
    def build(cls, texts: Sequence[Sequence[str]], b: float = B) -> Bm25:
        """The index of tokenised texts. `b`: how much a short text gains, from 0."""
        if not any(texts):  # bm25s fails on a corpus without a single token
            return cls({}, {}, len(texts))
        # Reading an index needs no library, and this one takes longer to import than most indexes to read
        retriever = import_module("bm25s").BM25(k1=K1, b=b, method="lucene")
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
