"""Vectors from words alone: two phrases are similar when they share rare words or parts of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import norm, svds

from audit.embedding.vectors import Vectors, unit_rows
from audit.text.tokens import content_words

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
