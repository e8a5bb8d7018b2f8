"""Vectors from words alone: which rare words, and which letters in a row, two phrases share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import norm, svds

from audit.embedding.basis import Vectors, unit
from audit.text.tokens import content_words

LETTERS = (3, 4, 5)
DIMENSIONS = 256
Features = tuple[str, ...]


def features(phrase: str) -> Features:
    """The stems of a phrase, and every 3 to 5 letters in a row in them, so that a typing error spoils a word only in part.

    A phrase of nothing but stop words is taken word by word.
    """
    stems = [word.stem for word in content_words(phrase)] or phrase.split()
    return tuple(part for stem in stems for part in _parts(f" {stem} "))


def _parts(padded: str) -> Iterator[str]:
    yield padded
    for length in LETTERS:
        yield from (padded[at : at + length] for at in range(len(padded) - length + 1) if length < len(padded))


def lexical_vectors(phrases: Sequence[str], corpus: Sequence[str]) -> Vectors:
    """TF-IDF of the features, weighted as in `corpus`, in the directions in which the corpus varies most.

    float32 (phrases, at most 256), rows of length 1; a phrase that shares no feature with the corpus has a row of zeros.
    """
    seen = [features(phrase) for phrase in corpus]
    held = Counter(feature for one in seen for feature in set(one))
    # A feature of one phrase joins nothing; where all are such (two phrases, say), every feature counts.
    kept = sorted(feature for feature, count in held.items() if count > 1) or sorted(held)
    place = {feature: number for number, feature in enumerate(kept)}
    rarity = np.array([log((1 + len(corpus)) / (1 + held[feature])) + 1 for feature in kept])
    known = _weighed(seen, place, rarity)
    axes = _axes(known)
    same = list(phrases) == list(corpus)
    return unit((known if same else _weighed([features(phrase) for phrase in phrases], place, rarity)) @ axes)


def _weighed(rows: Sequence[Features], place: dict[str, int], rarity: Vectors) -> csr_array:
    cells = [(row, place[f], 1 + log(times)) for row, one in enumerate(rows) for f, times in Counter(one).items() if f in place]
    row, column, weight = (np.array(values) for values in zip(*cells, strict=True)) if cells else (np.zeros(0, int),) * 3
    table = csr_array((weight, (row, column)), shape=(len(rows), len(place)), dtype=np.float64) @ diags_array(rarity)
    length = norm(table, axis=1)
    return csr_array(diags_array(1 / np.where(length > 0, length, 1)) @ table)


def _axes(table: csr_array) -> Vectors:
    """Features x dimensions; few phrases or features need no reduction."""
    if min(table.shape) <= DIMENSIONS + 1:
        return np.eye(table.shape[1], dtype=np.float32)
    start = np.ones(min(table.shape))  # ARPACK would start from chance
    *_, axes = svds(table, k=DIMENSIONS, v0=start)
    return np.asarray(axes.T, dtype=np.float32)
