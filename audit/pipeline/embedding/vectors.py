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

Vectors = NDArray[np.float32]
"""One row per text, each of length 1, so a dot product is a cosine."""
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
