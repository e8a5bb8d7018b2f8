"""Error rates of annotators and probable true labels, from three or more ratings of each item.

A majority takes every annotator to be equally right. Dawid and Skene (1979), J. R. Stat. Soc. C 28, estimate from the ratings
alone with which probability each annotator gives which label to an item of which true label, and from these the probability of
each true label of each item, alternately until neither changes (expectation maximisation). Annotators are taken to err
independently: the model cannot detect items that all of them misread (`annotation.prevalence.shared_errors`). It is a check on
the corrected shares, not the headline figure: its interval takes the probabilities as labels, without the error of the estimates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annotation.ratings.design import MISSING, Codes, Floats
from annotation.ratings.table import Ratings
from audit.vocabulary import LABELS

MIN_ANNOTATORS = 3
"""With two raters of an item it is unknown which of them made an error."""
ROUNDS, TOLERANCE = 500, 1e-8


class TrueLabels(NamedTuple):
    """The model's estimates of the true labels.

    probability  (items, labels), of each true label; NaN for an item without a rating
    confusion    (annotators, labels, labels): P(label given | true label)
    """

    probability: Floats
    confusion: Floats


def can_tell_annotators_apart(ratings: Ratings) -> bool:
    """Whether enough annotators rated each item for this model."""
    is_labelled = np.array([ratings.labels[annotator] != MISSING for annotator in ratings.annotators])
    return bool((is_labelled.sum(axis=0) >= MIN_ANNOTATORS).any())


def true_labels(ratings: Ratings) -> TrueLabels:
    """The model's estimate for a study of pairs."""
    return dawid_skene(np.array([ratings.labels[annotator] for annotator in ratings.annotators]), len(LABELS))


def dawid_skene(codes: Codes, size: int, pseudo_items: float = 1.0) -> TrueLabels:
    """`codes` (annotators, items) of `size` labels, MISSING where not given.

    pseudo_items  added to every row of every confusion matrix, spread evenly, so what was never seen is not impossible;
                  0 is the original
    """
    is_given = (codes[:, :, None] == np.arange(size)).astype(float)  # (annotators, items, labels)
    rated = is_given.any(axis=(0, 2))
    votes = is_given[:, rated].sum(axis=0)
    probability = votes / votes.sum(axis=1, keepdims=True)
    confusion = np.zeros((len(codes), size, size))
    for _ in range(ROUNDS):
        shares = probability.mean(axis=0)
        counts = np.einsum("it,ril->rtl", probability, is_given[:, rated]) + pseudo_items / size
        confusion = counts / np.maximum(counts.sum(axis=2, keepdims=True), np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            logs = np.log(shares) + np.einsum("ril,rtl->it", is_given[:, rated], np.maximum(np.log(confusion), -1e3))
        updated = np.exp(logs - logs.max(axis=1, keepdims=True))
        updated /= updated.sum(axis=1, keepdims=True)
        moved, probability = np.abs(updated - probability).max(), updated
        if moved < TOLERANCE:
            break
    everything = np.full((codes.shape[1], size), np.nan)
    everything[rated] = probability
    return TrueLabels(everything, confusion)
