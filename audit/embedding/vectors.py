"""Unit vectors: their types, vectors from words alone, and a fixed number of threads for reproducible results."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import norm, svds

from audit.text.tokens import content_words

Vectors = NDArray[np.float32]
"""One row per text, each of length 1, so that a dot product is a cosine."""
Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the number of items done, and the total."""

THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def no_progress(_step: str, _done: int, _total: int) -> None:
    """A `Progress` that reports nothing."""


def unit_rows(vectors: NDArray[Any]) -> Vectors:
    """The rows scaled to length 1; a row of zeros stays a row of zeros."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
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


# -- vectors from words alone -------------------------------------------------------------------------------------------

NGRAM_LENGTHS = (3, 4, 5)
DIMENSIONS = 256
Features = tuple[str, ...]


def lexical_features(phrase: str) -> Features:
    """The stems of a phrase and their character n-grams (3 to 5 letters), so that a typing error spoils a word only in part.

    A phrase of stop words only is taken word by word.
    """
    stems = [word.stem for word in content_words(phrase)] or phrase.split()
    return tuple(feature for stem in stems for feature in _stem_and_ngrams(f" {stem} "))


def _stem_and_ngrams(padded: str) -> Iterator[str]:
    yield padded
    for length in NGRAM_LENGTHS:
        yield from (padded[at : at + length] for at in range(len(padded) - length + 1) if length < len(padded))


def lexical_vectors(phrases: Sequence[str], corpus: Sequence[str]) -> Vectors:
    """TF-IDF vectors of the phrases, weighted as in `corpus` and reduced to the directions in which the corpus varies most.

    float32 (phrases, at most 256), rows of length 1; a phrase that shares no feature with the corpus has a row of zeros.
    """
    corpus_features = [lexical_features(phrase) for phrase in corpus]
    frequency = Counter(feature for features in corpus_features for feature in set(features))
    # A feature of a single phrase connects nothing. If every feature is like that (two phrases, say), all are kept.
    features_used = sorted(feature for feature, count in frequency.items() if count > 1) or sorted(frequency)
    column_of = {feature: column for column, feature in enumerate(features_used)}
    idf = np.array([log((1 + len(corpus)) / (1 + frequency[feature])) + 1 for feature in features_used])
    corpus_table = _tf_idf(corpus_features, column_of, idf)
    axes = _principal_axes(corpus_table)
    if list(phrases) == list(corpus):
        return unit_rows(corpus_table @ axes)
    return unit_rows(_tf_idf([lexical_features(phrase) for phrase in phrases], column_of, idf) @ axes)


def _tf_idf(rows: Sequence[Features], column_of: Mapping[str, int], idf: Vectors) -> csr_array:
    entries = [
        (row, column_of[feature], 1 + log(count))
        for row, features in enumerate(rows)
        for feature, count in Counter(features).items()
        if feature in column_of
    ]
    row, column, weight = (np.array(values) for values in zip(*entries, strict=True)) if entries else (np.zeros(0, int),) * 3
    table = csr_array((weight, (row, column)), shape=(len(rows), len(column_of)), dtype=np.float64) @ diags_array(idf)
    length = norm(table, axis=1)
    return csr_array(diags_array(1 / np.where(length > 0, length, 1)) @ table)


def _principal_axes(table: csr_array) -> Vectors:
    """Features x dimensions; few phrases or features need no reduction."""
    if min(table.shape) <= DIMENSIONS + 1:
        return np.eye(table.shape[1], dtype=np.float32)
    # ARPACK's default start vector is random; a fixed one makes the axes reproducible.
    start = np.ones(min(table.shape))
    *_, axes = svds(table, k=DIMENSIONS, v0=start)
    return np.asarray(axes.T, dtype=np.float32)
