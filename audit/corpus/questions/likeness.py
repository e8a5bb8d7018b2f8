"""Which questions are nearly the same: exact duplicates by their words, near ones by the cosine of their vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from audit.corpus.questions.reading import Question, plain_text
from audit.embedding.vectors import Vectors

THRESHOLD = 0.85
"""Questions whose vectors have a larger cosine are shown for review (arXiv:2605.29084)."""
BLOCK = 1_024


@dataclass(frozen=True)
class Near:
    """Two questions that may be one, `first` standing before `second` in the file; cosine 1 where only the form differs."""

    first: Question
    second: Question
    cosine: float

    @property
    def key(self) -> tuple[str, str]:
        """Their ids."""
        return self.first.question_id, self.second.question_id


def near_pairs(questions: Sequence[Question], vectors: Vectors | None, threshold: float = THRESHOLD) -> list[Near]:
    """Pairs of questions that may be one, the likest first.

    vectors    one row of length 1 per question; None: exact duplicates only
    threshold  cosine that a pair must exceed; exact duplicates are listed whatever it is
    """
    found = dict.fromkeys(_exact(questions), 1.0)
    for pair, cosine in () if vectors is None else _close(vectors, threshold):
        found.setdefault(pair, cosine)
    near = [Near(questions[one], questions[other], round(cosine, 3)) for (one, other), cosine in sorted(found.items())]
    return sorted(near, key=lambda pair: -pair.cosine)


def _exact(questions: Sequence[Question]) -> Iterator[tuple[int, int]]:
    places: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        same = places.setdefault(plain_text(question.question), [])
        yield from ((earlier, place) for earlier in same)
        same.append(place)


def _close(vectors: Vectors, threshold: float) -> Iterator[tuple[tuple[int, int], float]]:
    """Every couple above the threshold; a block of rows at a time, so that 100,000 questions fit into memory too."""
    for start in range(0, len(vectors), BLOCK):
        cosines = vectors[start : start + BLOCK] @ vectors.T
        for row, column in np.argwhere(cosines > threshold).tolist():
            if start + row < column:
                yield (start + row, column), float(cosines[row, column])
