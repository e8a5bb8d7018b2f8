"""Who is compared with whom in a table of ratings, and the counts behind each comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotation.agreement.spread import NO_ITEM, Counts, Floats
from annotation.design import Design
from annotation.ratings import GOLD, JUDGE, MISSING, Codes, Ratings
from audit.vocabulary import LABELS, SIGNIFICANCES

MAJORITY = "majority"
SAMPLE, POPULATION = "sample", "population"
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Comparison:
    """Two seats on the same items.

    about          `label` or `significance`
    first, second  the seats; where the second is the judge, the first is what it is measured by
    rows, columns  their codes, one per item, MISSING where they gave none
    rated          items that were looked at by those whose say counts; the population figures weight these
    order          the declared labels
    nothing        why there is no item that both labelled, where there is none
    """

    about: str
    first: str
    second: str
    rows: Codes
    columns: Codes
    rated: Mask
    order: tuple[str, ...]
    nothing: str = NO_ITEM

    @property
    def judged(self) -> bool:
        """Whether the second seat is measured by the first."""
        return self.second == JUDGE

    @property
    def both(self) -> Mask:
        """Items on which both seats said something."""
        return np.asarray(self.rated & (self.rows != MISSING) & (self.columns != MISSING))

    def counts(self, design: Design | None = None) -> Counts:
        """The table of the sample; with a design, the tables of its strata, for figures of the run."""
        stratum = np.zeros(len(self.rows), dtype=np.intp) if design is None else design.stratum
        strata, size = 1 if design is None else len(design.names), len(self.order)
        cells = np.zeros((strata, size, size))
        np.add.at(cells, (stratum[self.both], self.rows[self.both], self.columns[self.both]), 1)
        rated: Floats = np.bincount(stratum[self.rated], minlength=strata).astype(float)
        return Counts(cells, rated, np.full(1, np.inf) if design is None else design.pairs, self._possible(stratum, strata))

    def _possible(self, stratum: Codes, strata: int) -> Mask:
        """The judge has labelled the whole run: a stratum drawn by its label holds no other. People may give any label."""
        used = np.zeros((strata, len(self.order)), dtype=bool)
        given = self.columns != MISSING
        used[stratum[given], self.columns[given]] = True
        drawn_by_label = self.judged & (used.sum(axis=1, keepdims=True) == 1)
        return np.where(drawn_by_label, used, True)


def comparisons(ratings: Ratings) -> list[Comparison]:
    """Annotators with each other, the judge by each yardstick, then the same for significance."""
    return [*_labels(ratings), *_significances(ratings)]


def majority(ratings: Ratings) -> Codes:
    """The label that more than half of an item's annotators gave, two of them at least; MISSING where none has that."""
    votes = np.sum([ratings.labels[seat][:, None] == np.arange(len(LABELS)) for seat in ratings.annotators], axis=0)
    most, given = votes.argmax(axis=1), votes.sum(axis=1)
    return np.where((given >= 2) & (2 * votes.max(axis=1) > given), most, MISSING)


def gold(ratings: Ratings) -> Codes | None:
    """The adjudicated label, else the majority's; None where the table has no column `gold`."""
    adjudicated = ratings.labels.get(GOLD)
    return None if adjudicated is None else np.where(adjudicated == MISSING, majority(ratings), adjudicated)


def yardsticks(ratings: Ratings) -> Iterator[tuple[str, Codes, Mask]]:
    """What the judge is measured by: name, codes, and the items that were looked at for it."""
    given = np.array([ratings.labels[seat] != MISSING for seat in ratings.annotators])
    yield MAJORITY, majority(ratings), given.sum(axis=0) >= 2
    adjudicated = gold(ratings)
    if adjudicated is not None:
        yield GOLD, adjudicated, (given.sum(axis=0) >= 2) | (ratings.labels[GOLD] != MISSING)
    for seat, rated in zip(ratings.annotators, given, strict=True):
        yield seat, ratings.labels[seat], rated


def _labels(ratings: Ratings) -> Iterator[Comparison]:
    order = tuple(label.value for label in LABELS)
    for one, other in combinations(ratings.annotators, 2):
        a, b = ratings.labels[one], ratings.labels[other]
        yield Comparison("label", one, other, a, b, (a != MISSING) & (b != MISSING), order)
    for name, codes, rated in yardsticks(ratings):
        yield Comparison("label", name, JUDGE, codes, ratings.labels[JUDGE], rated, order)


def graded_by_all(ratings: Ratings) -> dict[str, Codes]:
    """The significance from each seat that grades, on the items where every one of them gave one; elsewhere MISSING.

    So all couples speak of the same items. Adjudicated ones stand aside: they repeat what an annotator said.
    """
    graded = {seat: codes for seat, codes in ratings.significance.items() if seat != GOLD}
    everyone = np.all([codes != MISSING for codes in graded.values()], axis=0)
    return {seat: np.where(everyone, codes, MISSING) for seat, codes in graded.items()}


def nobody_left_out(graded: dict[str, Codes]) -> str:
    """Why there can be no figure on significance."""
    return f"no item has a significance from each of {', '.join(graded)}"


def _significances(ratings: Ratings) -> Iterator[Comparison]:
    graded = graded_by_all(ratings)
    people = [seat for seat in graded if seat != JUDGE]
    if not people or len(graded) < 2:
        return
    order = tuple(term.value for term in SIGNIFICANCES)
    rated = np.all([ratings.labels[seat] != MISSING for seat in people], axis=0)
    for one, other in [*combinations(people, 2), *((seat, JUDGE) for seat in people if JUDGE in graded)]:
        yield Comparison("significance", one, other, graded[one], graded[other], rated, order, nobody_left_out(graded))
