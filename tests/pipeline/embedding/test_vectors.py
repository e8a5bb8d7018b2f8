"""Which vectors are nearest, by numpy for few and by FAISS for many: the same either way."""

from __future__ import annotations

import numpy as np
import pytest

from audit.pipeline.embedding.vectors import FAISS_FROM, nearest, unit_rows


@pytest.mark.parametrize("count", [FAISS_FROM // 4 - 1, FAISS_FROM // 4])
def test_few_and_many_vectors_give_the_nearest_by_hand(count: int) -> None:
    pytest.importorskip("faiss")
    rng = np.random.default_rng(3)
    vectors = unit_rows(rng.normal(size=(count, 16)))
    queries = unit_rows(rng.normal(size=(4, 16)))
    cosines, rows = nearest(vectors, queries, 7)
    every = queries @ vectors.T
    assert rows.tolist() == [sorted(range(count), key=lambda row: -every[query, row])[:7] for query in range(4)]
    assert cosines == pytest.approx(-np.sort(-every, axis=1)[:, :7], abs=1e-6)


def test_few_vectors_need_no_faiss_and_many_keep_their_index() -> None:
    vectors, asked = unit_rows(np.eye(3)), []

    def flat() -> object:
        asked.append(1)
        raise AssertionError("not needed for so few")

    cosines, rows = nearest(vectors, vectors[:1], 5, flat)
    assert (rows[0].tolist(), cosines.shape, asked) == ([0, 1, 2], (1, 3), [])
