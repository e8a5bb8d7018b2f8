"""Who is compared with whom in a table of ratings, the counts behind each comparison, and the judge's errors item by item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.agreement.variance import NO_ITEM, StratifiedTable
from annotation.ratings.design import Codes, Floats, SampleDesign
from annotation.ratings.table import GOLD, JUDGE, MISSING, Ratings
from audit.vocabulary import LABELS, SIGNIFICANCES

MAJORITY = "majority"
SAMPLE, POPULATION = "sample", "population"
LABEL_ORDER = tuple(label.value for label in LABELS)
ERROR_COLUMNS = ("by", "right", "judged", "n", "items")
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Comparison:
    """Two raters on the same items.

    about          `label` or `significance`
    first, second  the raters; where the second is the judge, the first is the reference standard
    rows, columns  their codes, one per item, MISSING where they gave none
    rated          items that were rated for this comparison; the population figures weight these
    order          the declared labels
    empty_reason   why no item was labelled by both, where that is so
    """

    about: str
    first: str
    second: str
    rows: Codes
    columns: Codes
    rated: Mask
    order: tuple[str, ...]
    empty_reason: str = NO_ITEM

    @property
    def of_judge(self) -> bool:
        """Whether the judge is measured by the first rater."""
        return self.second == JUDGE

    @property
    def labelled_by_both(self) -> Mask:
        """Items to which both raters gave a label."""
        return np.asarray(self.rated & (self.rows != MISSING) & (self.columns != MISSING))

    def table(self, design: SampleDesign | None = None) -> StratifiedTable:
        """The table of the sample; with a design, the tables of its strata, for figures of the run."""
        stratum = np.zeros(len(self.rows), dtype=np.intp) if design is None else design.stratum
        strata, size = 1 if design is None else len(design.strata), len(self.order)
        cells = np.zeros((strata, size, size))
        both = self.labelled_by_both
        np.add.at(cells, (stratum[both], self.rows[both], self.columns[both]), 1)
        rated: Floats = np.bincount(stratum[self.rated], minlength=strata).astype(float)
        pairs = np.full(1, np.inf) if design is None else design.pairs
        return StratifiedTable(cells, rated, pairs, self._possible_labels(stratum, strata))

    def _possible_labels(self, stratum: Codes, strata: int) -> Mask:
        """The judge has labelled the whole run, so a stratum drawn by its label has no other. People may give any label."""
        used = np.zeros((strata, len(self.order)), dtype=bool)
        given = self.columns != MISSING
        used[stratum[given], self.columns[given]] = True
        drawn_by_label = self.of_judge & (used.sum(axis=1, keepdims=True) == 1)
        return np.where(drawn_by_label, used, True)


class ReferenceStandard(NamedTuple):
    """What the judge is measured by: a name, label codes, and the items that were rated for it."""

    name: str
    codes: Codes
    rated: Mask


def comparisons(ratings: Ratings) -> list[Comparison]:
    """Annotators with each other, the judge by each reference standard, then the same for significance."""
    return [*_label_comparisons(ratings), *_significance_comparisons(ratings)]


def majority(ratings: Ratings) -> Codes:
    """The label that more than half of an item's annotators gave, at least two of them; MISSING where there is none."""
    votes = np.sum([ratings.labels[rater][:, None] == np.arange(len(LABELS)) for rater in ratings.annotators], axis=0)
    commonest, given = votes.argmax(axis=1), votes.sum(axis=1)
    return np.where((given >= 2) & (2 * votes.max(axis=1) > given), commonest, MISSING)


def gold(ratings: Ratings) -> Codes | None:
    """The adjudicated label, else the majority's; None where the table has no column `gold`."""
    adjudicated = ratings.labels.get(GOLD)
    return None if adjudicated is None else np.where(adjudicated == MISSING, majority(ratings), adjudicated)


def reference_standards(ratings: Ratings) -> Iterator[ReferenceStandard]:
    """The majority, gold where there is one, and each annotator."""
    given = np.array([ratings.labels[rater] != MISSING for rater in ratings.annotators])
    rated_twice = given.sum(axis=0) >= 2
    yield ReferenceStandard(MAJORITY, majority(ratings), rated_twice)
    adjudicated = gold(ratings)
    if adjudicated is not None:
        yield ReferenceStandard(GOLD, adjudicated, rated_twice | (ratings.labels[GOLD] != MISSING))
    for rater, rated in zip(ratings.annotators, given, strict=True):
        yield ReferenceStandard(rater, ratings.labels[rater], rated)


def _label_comparisons(ratings: Ratings) -> Iterator[Comparison]:
    for one, other in combinations(ratings.annotators, 2):
        a, b = ratings.labels[one], ratings.labels[other]
        yield Comparison("label", one, other, a, b, (a != MISSING) & (b != MISSING), LABEL_ORDER)
    for reference in reference_standards(ratings):
        yield Comparison("label", reference.name, JUDGE, reference.codes, ratings.labels[JUDGE], reference.rated, LABEL_ORDER)


def significance_by_all(ratings: Ratings) -> dict[str, Codes]:
    """The significance by each rater who gives one, on the items where all of them gave one; elsewhere MISSING.

    So all comparisons are about the same items. Adjudicated values are left out: they repeat an annotator's.
    """
    graded = {rater: codes for rater, codes in ratings.significance.items() if rater != GOLD}
    by_all = np.all([codes != MISSING for codes in graded.values()], axis=0)
    return {rater: np.where(by_all, codes, MISSING) for rater, codes in graded.items()}


def missing_significance(graded: dict[str, Codes]) -> str:
    """Why significance has no figures."""
    return f"no item has a significance from each of {', '.join(graded)}"


def _significance_comparisons(ratings: Ratings) -> Iterator[Comparison]:
    graded = significance_by_all(ratings)
    people = [rater for rater in graded if rater != JUDGE]
    if not people or len(graded) < 2:
        return
    order = tuple(term.value for term in SIGNIFICANCES)
    rated = np.all([ratings.labels[rater] != MISSING for rater in people], axis=0)
    for one, other in [*combinations(people, 2), *((rater, JUDGE) for rater in people if JUDGE in graded)]:
        reason = missing_significance(graded)
        yield Comparison("significance", one, other, graded[one], graded[other], rated, order, reason)


def judge_errors(ratings: Ratings) -> pd.DataFrame:
    """The items that the judge labelled otherwise than people did, by kind of error.

    One row per kind, most frequent first within each reference standard:
        by             str, whose label is right: majority, gold or an annotator
        right, judged  str, the label by people and by the judge
        n              int, items
        items          list of str, in the order of the table

    Items without a label by the reference standard, or without a readable verdict, are not errors.
    """
    rows = [(by, *row) for by, codes, _ in reference_standards(ratings) for row in _error_kinds(ratings, codes)]
    return pd.DataFrame(rows, columns=list(ERROR_COLUMNS))


def _error_kinds(ratings: Ratings, codes: Codes) -> list[tuple[str, str, int, list[str]]]:
    judge = ratings.labels[JUDGE]
    wrong = (codes != MISSING) & (judge != MISSING) & (codes != judge)
    kinds: dict[tuple[int, int], list[str]] = {}
    for right, judged, item in zip(codes[wrong].tolist(), judge[wrong].tolist(), ratings.items[wrong], strict=True):
        kinds.setdefault((right, judged), []).append(item)
    ordered = sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0]))
    return [(LABEL_ORDER[right], LABEL_ORDER[judged], len(items), items) for (right, judged), items in ordered]
