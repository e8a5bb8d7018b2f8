"""BM25 over a list of texts, by bm25s: every score is worked out when the index is made, so that a query adds up columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.optional_imports import optional

Scores = NDArray[np.float32]
K1, B = 1.5, 0.75
"""Robertson's usual values, and the library's."""


class Bm25:
    """Scores every text for a bag of weighted tokens. Raises MissingLibraryError without bm25s (extra `retrieval`)."""

    def __init__(self, retriever: Any, count: int) -> None:
        self._retriever, self.count = retriever, count

    @classmethod
    def of(cls, texts: Sequence[Sequence[str]]) -> Bm25:
        """The index of texts that are given as tokens."""
        retriever = _retriever()
        if any(texts):
            retriever.index([list(text) for text in texts], show_progress=False, create_empty_token=False)
        return cls(retriever, len(texts))

    def scores(self, weights: Mapping[str, float]) -> Scores:
        """One score a text, 0 where it holds none of the tokens. `weights`: token -> how much it counts."""
        total = np.zeros(self.count, dtype=np.float32)
        known: Mapping[str, int] = getattr(self._retriever, "vocab_dict", {})
        for token, weight in weights.items():
            if token in known:
                total += np.float32(weight) * self._retriever.get_scores_from_ids([known[token]])
        return total

    def holding(self, token: str) -> int:
        """How many of the texts hold the token."""
        number = getattr(self._retriever, "vocab_dict", {}).get(token)
        if number is None:
            return 0
        starts = self._retriever.scores["indptr"]
        return int(starts[number + 1] - starts[number])

    def rarity(self, token: str) -> float:
        """How much a token tells of a text that holds it: the more, the fewer do, and most where none does."""
        return log(1 + self.count / (0.5 + self.holding(token)))

    def saved(self) -> dict[str, NDArray[Any]]:
        """What `read` needs."""
        if not hasattr(self._retriever, "vocab_dict"):
            return {"count": np.array(self.count)}
        held = self._retriever.scores
        words = sorted(self._retriever.vocab_dict, key=self._retriever.vocab_dict.__getitem__)
        return {name: held[name] for name in ("data", "indices", "indptr")} | {
            "count": np.array(self.count),
            "words": np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        }

    @classmethod
    def read(cls, saved: Mapping[str, NDArray[Any]]) -> Bm25:
        """The index that `saved` kept."""
        retriever, count = _retriever(), int(saved["count"])
        if "words" in saved:
            words = saved["words"].tobytes().decode().split("\n")
            retriever.scores = {name: saved[name] for name in ("data", "indices", "indptr")} | {"num_docs": count}
            retriever.vocab_dict = {word: number for number, word in enumerate(words)}
            retriever.nonoccurrence_array = None  # of methods that score absence; this one does not
        return cls(retriever, count)


def _retriever() -> Any:
    return optional("bm25s", "BM25", "pipeline").BM25(k1=K1, b=B, method="lucene")
