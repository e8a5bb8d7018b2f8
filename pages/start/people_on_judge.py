"""How often people confirm the judge where it says that two answers disagree: counts for a sentence."""

from __future__ import annotations

from typing import NamedTuple

from annotation.prevalence.estimates import human_labels
from annotation.ratings.table import JUDGE, Ratings
from audit.vocabulary import DISAGREEING


class Confirmed(NamedTuple):
    """Of the rated pairs to which the judge gave a label, how many people say differ; on some they are divided."""

    label: str
    rated: int
    confirmed: int
    divided: int


def confirmations(ratings: Ratings) -> list[Confirmed]:
    """For each label by which the judge says that two answers disagree: how often people say so too.

    People's label is the adjudicated one, else what the raters agree on. Counts rated items as they were sampled within the
    label, not weighted to the run.
    """
    disagree = human_labels(ratings)[:, [label.code for label in DISAGREEING]].sum(axis=1)  # NaN where nobody rated
    by_label = [(label, disagree[ratings.labels[JUDGE] == label.code]) for label in DISAGREEING]
    return [
        Confirmed(label.value, int((shares >= 0).sum()), int((shares > 1 / 2).sum()), int((shares == 1 / 2).sum()))
        for label, shares in by_label
        if (shares >= 0).any()
    ]
