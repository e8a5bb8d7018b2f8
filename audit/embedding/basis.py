"""Types and one rule that all who embed share: a fixed number of threads, so that the same input gives the same bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""One row per text, each of length 1, so that a dot product is a cosine."""
Progress = Callable[[str, int, int], None]
"""Called with a step's name, how much of it is done, and how much there is."""

THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def silent(_step: str, _done: int, _total: int) -> None:
    """The progress of a caller who wants none."""


def unit(vectors: NDArray[Any]) -> Vectors:
    """The rows at length 1; a row of zeros stays as it is."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)


@contextmanager
def pinned(threads: int) -> Iterator[None]:
    """Run numba and BLAS with this many threads: UMAP gives other results with two threads than with one."""
    if "numba" in sys.modules:
        numba = sys.modules["numba"]
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    names = [name for name in THREAD_VARIABLES if not _settled(name)]
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(threads)))  # what is imported from here on reads these
    try:
        with _blas(threads):
            yield
    finally:
        for name in names:
            if not _settled(name):
                os.environ.pop(name) if before[name] is None else os.environ.__setitem__(name, str(before[name]))


def _settled(name: str) -> bool:
    """Whether the variable must stay as it is: numba, once imported, refuses to find another number of threads there."""
    return name == "NUMBA_NUM_THREADS" and "numba" in sys.modules


@contextmanager
def _blas(threads: int) -> Iterator[None]:
    """Tell the BLAS of numpy, which is long imported; without threadpoolctl (the extra brings it) it runs as it was started."""
    if find_spec("threadpoolctl") is None:
        yield
        return
    with import_module("threadpoolctl").threadpool_limits(threads):
        yield
