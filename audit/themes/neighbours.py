"""Exact nearest neighbours by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit.embedding.vectors import Vectors
from audit.optional_imports import optional
from audit.themes.basis import Labels


def nearest(among: Vectors, asked: Vectors, count: int) -> tuple[NDArray[np.float32], Labels]:
    """Cosine and row in `among` of the `count` nearest of each asked vector, nearest first: two arrays (asked, count).

    FAISS's flat index: exact, and 16,000 by 16,000 phrases take seconds and no matrix.
    Raises MissingLibraryError without faiss-cpu.
    """
    faiss = optional("faiss", "Looking for the nearest phrases", "models")
    index = faiss.IndexFlatIP(among.shape[1])
    index.add(np.ascontiguousarray(among))
    similarity, row = index.search(np.ascontiguousarray(asked), min(count, len(among)))
    return similarity, row.astype(np.int64)
