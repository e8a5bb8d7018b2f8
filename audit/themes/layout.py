"""Nearest neighbours of phrases, and their positions on the map: phrases that say similar things lie close together."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from audit.embedding.vectors import Progress, Vectors, no_progress
from audit.optional_imports import optional
from audit.themes.linkage import Labels

UMAP_NEIGHBOURS = 15
MIN_PHRASES_FOR_UMAP = 12
FLAT = 1e-4


def nearest(index_vectors: Vectors, query_vectors: Vectors, count: int) -> tuple[NDArray[np.float32], Labels]:
    """Cosine and row of the `count` indexed vectors nearest to each query, nearest first: two arrays (queries, count).

    FAISS's flat index is exact, and needs seconds and no distance matrix for 16,000 by 16,000 phrases.
    Raises MissingLibraryError without faiss-cpu.
    """
    faiss = optional("faiss", "Looking for the nearest phrases", "models")
    index = faiss.IndexFlatIP(index_vectors.shape[1])
    index.add(np.ascontiguousarray(index_vectors))
    similarity, row = index.search(np.ascontiguousarray(query_vectors), min(count, len(index_vectors)))
    return similarity, row.astype(np.int64)


def principal_layout(vectors: Vectors, dimensions: int = 2) -> NDArray[np.float32]:
    """The first principal components, the largest coordinate 10: the map where UMAP is not installed, and UMAP's start."""
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    chosen = axes[:, ::-1][:, :dimensions]
    chosen = chosen * np.sign(
        chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])]
    )  # the sign of an axis is arbitrary: fix it, so that the same phrases give the same map
    points = np.zeros((len(vectors), dimensions), dtype=np.float32)
    points[:, : chosen.shape[1]] = centred @ chosen
    return np.asarray(points / max(float(np.abs(points).max(initial=0)), 1e-9) * 10, dtype=np.float32)


def umap_layout(
    vectors: Vectors, seed: int, *, dimensions: int = 2, min_dist: float = 0.1, progress: Progress = no_progress
) -> NDArray[np.float32]:
    """UMAP on cosine distance, from exact neighbours and the principal components.

    Both are cheaper than UMAP's own (13 CPU seconds instead of 32 for 16,000 phrases), and the start is deterministic. The same
    seed and number of threads give the same points; another number of threads may give others.
    Fewer than 12 phrases have no neighbourhoods worth speaking of and get their principal components.

    Raises MissingLibraryError where umap-learn or faiss-cpu is not installed.
    """
    if len(vectors) < MIN_PHRASES_FOR_UMAP:
        return principal_layout(vectors, dimensions)
    umap = optional("umap", "The map", "models")
    count = min(UMAP_NEIGHBOURS, len(vectors) - 1)
    similarity, index = nearest(vectors, vectors, count)
    progress("map", 1, 3)
    start = principal_layout(vectors, dimensions)
    flat = bool((np.ptp(start, axis=0) < FLAT).any())  # phrases on a line: UMAP would divide by zero
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # UMAP warns that a seed means one thread, which is what we want
        fitted = umap.UMAP(
            n_neighbors=count, n_components=dimensions, min_dist=min_dist, metric="cosine", random_state=seed,
            precomputed_knn=(index, np.maximum(1 - similarity, 0)), init="random" if flat else start,
        ).fit_transform(vectors)  # fmt: skip
    progress("map", 3, 3)
    return np.asarray(fitted, dtype=np.float32)
