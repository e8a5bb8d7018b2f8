"""Where each phrase stands on the map: near those that say the like."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from audit.embedding.vectors import Progress, Vectors, no_progress
from audit.optional_imports import optional
from audit.themes.neighbours import nearest

NEIGHBOURS = 15
FEWEST_FOR_UMAP = 12
FLAT = 1e-4


def principal_layout(vectors: Vectors, dimensions: int = 2) -> NDArray[np.float32]:
    """The first principal components, the largest coordinate 10: the map where UMAP is not installed, and UMAP's start."""
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    chosen = axes[:, ::-1][:, :dimensions]
    chosen = chosen * np.sign(chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])])  # an axis has no direction
    points = np.zeros((len(vectors), dimensions), dtype=np.float32)
    points[:, : chosen.shape[1]] = centred @ chosen
    return np.asarray(points / max(float(np.abs(points).max(initial=0)), 1e-9) * 10, dtype=np.float32)


def umap_layout(
    vectors: Vectors, seed: int, *, dimensions: int = 2, min_dist: float = 0.1, progress: Progress = no_progress
) -> NDArray[np.float32]:
    """UMAP on cosine distance, from exact neighbours and the principal components.

    Both are cheaper than UMAP's own (13 CPU seconds in place of 32 for 16,000 phrases), and the start leaves nothing to
    chance. The same seed and number of threads give the same points; another number of threads may give others.
    A handful of phrases has no neighbourhoods to speak of and gets its principal components.

    Raises MissingLibraryError where umap-learn or faiss-cpu is not installed.
    """
    if len(vectors) < FEWEST_FOR_UMAP:
        return principal_layout(vectors, dimensions)
    umap = optional("umap", "The map", "models")
    count = min(NEIGHBOURS, len(vectors) - 1)
    similarity, index = nearest(vectors, vectors, count)
    progress("map", 1, 3)
    start = principal_layout(vectors, dimensions)
    flat = bool((np.ptp(start, axis=0) < FLAT).any())  # phrases that lie in a line or a plane: UMAP would divide by zero
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a seed means one thread, and that new points cannot be added
        fitted = umap.UMAP(
            n_neighbors=count, n_components=dimensions, min_dist=min_dist, metric="cosine", random_state=seed,
            precomputed_knn=(index, np.maximum(1 - similarity, 0)), init="random" if flat else start,
        ).fit_transform(vectors)  # fmt: skip
    progress("map", 3, 3)
    return np.asarray(fitted, dtype=np.float32)
