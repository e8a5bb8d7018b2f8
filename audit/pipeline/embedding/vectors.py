"""The vector types that encoders and their users share, and a fixed number of threads for reproducible results."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.optional_imports import optional

Vectors = NDArray[np.float32]
"""One row per text, each of length 1, so a dot product is a cosine."""
Nearest = tuple[NDArray[np.float32], NDArray[np.int64]]
Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the number of items done, and the total."""

THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def no_progress(_step: str, _done: int, _total: int) -> None:
    """A `Progress` that reports nothing."""


def unit_rows(vectors: NDArray[Any]) -> Vectors:
    """The rows scaled to length 1; a row of zeros stays a row of zeros."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    # FAISS accepts only contiguous float32.
    return np.ascontiguousarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)


FAISS_FROM = 20_000
"""Cosines of one search from which FAISS computes them. Up to 5,000 vectors of 384 numbers neither is faster (0.2 ms); from
20,000 on FAISS takes 0.5 to 0.75 of numpy's CPU time. For vectors of 1,024 numbers they are within two fifths of each other.
"""


def nearest(vectors: Vectors, queries: Vectors, count: int, flat: Callable[[], Any] | None = None) -> Nearest:
    """Cosine and row of the `count` vectors nearest to each query, nearest first: two arrays (queries, count). Exact.

    flat  brings FAISS's flat index of the vectors (`flat_index`) where that is kept; called only where it is used

    Raises MissingLibraryError without faiss-cpu where there are FAISS_FROM cosines or more.
    """
    count = min(count, len(vectors))
    if len(vectors) * len(queries) >= FAISS_FROM:
        cosines, rows = (flat() if flat else flat_index(vectors)).search(np.ascontiguousarray(queries), count)
        return cosines, rows.astype(np.int64)
    cosines = queries @ vectors.T
    rows = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(cosines, rows, axis=1), rows.astype(np.int64)


def flat_index(vectors: Vectors) -> Any:
    """FAISS's flat index of the vectors. Raises MissingLibraryError without faiss-cpu."""
    index = optional("faiss", "Search among so many vectors", "models").IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    return index


@contextmanager
def fixed_threads(threads: int) -> Iterator[None]:
    """Run numba and BLAS with this many threads.

    The same seed gives other UMAP coordinates with two threads than with one, so a reproducible build must fix the number.
    """
    if "numba" in sys.modules:
        numba = sys.modules["numba"]
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    names = [name for name in THREAD_VARIABLES if not _is_locked(name)]
    before = {name: os.environ.get(name) for name in names}
    # Libraries that are imported inside the block read these variables once, at import.
    os.environ.update(dict.fromkeys(names, str(threads)))
    try:
        with _blas_threads(threads):
            yield
    finally:
        for name in names:
            if not _is_locked(name):
                _restore_variable(name, before[name])


def _is_locked(name: str) -> bool:
    """Numba raises an error when its variable changes after it was imported."""
    return name == "NUMBA_NUM_THREADS" and "numba" in sys.modules


def _restore_variable(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name)
    else:
        os.environ[name] = value


def _blas_threads(threads: int) -> AbstractContextManager[Any]:
    """Limit numpy's BLAS, which was imported long ago and ignores the variables; without threadpoolctl it keeps its threads."""
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    limits: AbstractContextManager[Any] = import_module("threadpoolctl").threadpool_limits(threads)
    return limits
