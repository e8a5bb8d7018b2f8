"""Who is compared with whom in a table of ratings, and the counts behind each comparison, stratum by stratum.

How far a figure of such a table can be from the one with all items labelled follows from the delta method for stratified
samples: the figure is differentiated by each cell (audit.stats.agreement.derivatives); the derivative is what one more item in
that cell would add. For kappa this gives the non-null standard error of Fleiss, Cohen and Everitt (1969), for the others that of
Gwet (2014); for a stratified sample, Cochran (1977), 5.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.ratings.design import MISSING, Codes, Floats, SampleDesign, width_of
from annotation.ratings.gold import MAJORITY, gold_standard, majority
from annotation.ratings.table import GOLD, JUDGE, Ratings
from annotation.schemes import PAIRS
from audit.vocabulary import SIGNIFICANCES

SAMPLE, POPULATION = "sample", "population"
LABEL_ORDER = PAIRS.words
ERROR_COLUMNS = ("by", "right", "judged", "n", "items")
Mask = npt.NDArray[np.bool_]
NO_ITEM = "no item has both labels"
"""Why a table without items has no figures."""


@dataclass(frozen=True)
class StratifiedTable:
    """How often each two labels met, per stratum of the sample.

    cells     float, (strata, K, K): items
    rated     float, (strata,): items that were rated, those that are in no cell included
    pairs     float, (strata,): pairs of the run in each stratum; infinite where the table describes the sample only
    possible  bool, (strata, K): labels that the second rater can have given in a stratum
    live      as in `annotation.ratings.table.Ratings`
    factor    how many times as wide intervals are besides, as at a registered look
    """

    cells: Floats
    rated: Floats
    pairs: Floats
    possible: npt.NDArray[np.bool_]
    live: bool = False
    factor: float = 1.0

    @classmethod
    def unweighted(cls, table: npt.ArrayLike, *, live: bool = False) -> StratifiedTable:
        """One table that describes its own items only."""
        cells = np.asarray(table, dtype=float)[None]
        return cls(cells, cells.sum(axis=(1, 2)), np.array([np.inf]), np.ones(cells.shape[:2], dtype=bool), live)

    @property
    def items(self) -> int:
        """Items in the cells."""
        return round(float(self.cells.sum()))

    @property
    def width(self) -> float:
        """How many times as wide intervals are (`annotation.ratings.design.width_of`)."""
        return self.factor * float(width_of(self.items, live=self.live))

    @property
    def weighted(self) -> bool:
        """Whether the table describes a run."""
        return bool(np.isfinite(self.pairs).all())

    @property
    def table(self) -> Floats:
        """The table: plain counts, or weighted to the run and scaled to add up to the number of items."""
        return _scaled_to(self.items, self.in_pairs) if self.weighted else np.asarray(self.cells.sum(axis=0))

    @property
    def in_pairs(self) -> Floats:
        """The table in estimated pairs of the run."""
        return self._weighted_sum(self.cells / np.maximum(self.rated, 1)[:, None, None])

    @property
    def with_imagined_items(self) -> Floats:
        """The table, including the imagined items where it is weighted."""
        return _scaled_to(self.items, self._weighted_sum(self._smoothed_shares())) if self.weighted else self.table

    @property
    def with_half_an_item(self) -> StratifiedTable:
        """The table of a sample with half an item more: the second rater labels it as usual, the first may give any label."""
        cells = self.cells.sum(axis=0)
        columns = cells.sum(axis=0) / max(cells.sum(), 1)
        return StratifiedTable.unweighted(cells + columns / len(cells) / 2)

    def variance(self, slopes: Floats) -> float:
        """The variance of a figure whose derivative by each cell of `with_imagined_items` is `slopes`."""
        if not self.weighted:
            return float((self.cells.sum(axis=0) * slopes**2).sum())
        shares = self._smoothed_shares()
        # Cochran (1977), 5.6: a stratum that is rated in full adds no variance.
        within = (shares * slopes**2).sum(axis=(1, 2)) - (shares * slopes).sum(axis=(1, 2)) ** 2
        scale = self.items / self._weighted_sum(shares).sum()
        per_item = self.pairs**2 * (1 - self.rated / self.pairs) / np.maximum(self.rated - 1, 1)
        return float((scale**2 * per_item * within).sum())

    def _weighted_sum(self, shares: Floats) -> Floats:
        return np.asarray((shares * self.pairs[:, None, None]).sum(axis=0))

    def _smoothed_shares(self) -> Floats:
        """Shares of each stratum's rated items, (strata, K, K), including its imagined item."""
        # A stratum without any disagreement would add no spread, though 40 such items do not rule out a few per cent. So each
        # stratum gets an imagined item, in proportion to how much of it is unrated. In simulated studies of 40 items a stratum
        # intervals covered the run's quadratic kappa in 62 % without it and 97 % with it, its raw agreement in 84 % and 95 %
        # (tests/annotation/agreement/test_interval_coverage.py).
        unrated = (1 - self.rated / self.pairs)[:, None, None]
        rated = np.maximum(self.rated, 1)[:, None, None]
        columns = self.cells.sum(axis=1, keepdims=True) / rated
        return np.asarray((self.cells + unrated * imagined_labels(self.cells.shape[-1]) * columns) / (rated + unrated))


def imagined_labels(size: int) -> Floats:
    """K x K, each column adding up to 1: half as likely with every step away from the diagonal."""
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    falling = 0.5**steps
    return np.asarray(falling / falling.sum(axis=0))


def _scaled_to(total: float, table: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(table / table.sum(axis=(-2, -1), keepdims=True) * total)


@dataclass(frozen=True)
class Comparison:
    """Two raters on the same items.

    about          `label` or `significance`
    first, second  the raters; where the second is the judge, the first is the reference standard
    rows, columns  their codes, one per item, MISSING where they gave none
    rated          items that were rated for this comparison; the population figures weight these
    order          the declared labels
    empty_reason   why no item was labelled by both, where that is so
    ordered        whether the labels are an ordered scale
    live           as in `annotation.ratings.table.Ratings`
    """

    about: str
    first: str
    second: str
    rows: Codes
    columns: Codes
    rated: Mask
    order: tuple[str, ...]
    empty_reason: str = NO_ITEM
    ordered: bool = True
    live: bool = False

    @property
    def of_judge(self) -> bool:
        """Whether the first rater is the reference standard for the judge."""
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
        return StratifiedTable(cells, rated, pairs, self._possible_labels(stratum, strata), self.live)

    def _possible_labels(self, stratum: Codes, strata: int) -> Mask:
        """The judge has labelled the whole run, so a stratum drawn by its label has no other. People may give any label."""
        used = np.zeros((strata, len(self.order)), dtype=bool)
        is_labelled = self.columns != MISSING
        used[stratum[is_labelled], self.columns[is_labelled]] = True
        # Known only where one label fills a stratum; a stratum by organ or by another criterion may have any verdict.
        drawn_by_label = self.of_judge & (used.sum(axis=1, keepdims=True) == 1)
        return np.where(drawn_by_label, used, True)


class ReferenceStandard(NamedTuple):
    """A reference standard for the judge: a name, label codes, and the items that were rated for it."""

    name: str
    codes: Codes
    rated: Mask


def comparisons(ratings: Ratings) -> list[Comparison]:
    """Annotators with each other, the judge by each reference standard, then the same for significance."""
    found = (*_label_comparisons(ratings), *_significance_comparisons(ratings))
    return [replace(comparison, live=ratings.live) for comparison in found]


def reference_standards(ratings: Ratings) -> Iterator[ReferenceStandard]:
    """The majority, gold where there is one, and each annotator."""
    is_labelled = np.array([ratings.labels[rater] != MISSING for rater in ratings.annotators])
    # Items without a majority count as rated, so the pairs they stand for are not attributed to the other items.
    rated_twice = is_labelled.sum(axis=0) >= 2
    yield ReferenceStandard(MAJORITY, majority(ratings), rated_twice)
    if GOLD in ratings.labels:
        yield ReferenceStandard(GOLD, gold_standard(ratings).codes, rated_twice | (ratings.labels[GOLD] != MISSING))
    for rater, rated in zip(ratings.annotators, is_labelled, strict=True):
        yield ReferenceStandard(rater, ratings.labels[rater], rated)


def _label_comparisons(ratings: Ratings) -> Iterator[Comparison]:
    words, ordered = ratings.scheme.words, ratings.scheme.ordered
    for one, other in combinations(ratings.annotators, 2):
        a, b = ratings.labels[one], ratings.labels[other]
        yield Comparison("label", one, other, a, b, (a != MISSING) & (b != MISSING), words, ordered=ordered)
    for reference in reference_standards(ratings):
        judge = ratings.labels[JUDGE]
        yield Comparison("label", reference.name, JUDGE, reference.codes, judge, reference.rated, words, ordered=ordered)


def significance_by_all(ratings: Ratings) -> dict[str, Codes]:
    """The significance by each rater who gives one, on the items where all of them gave one; elsewhere MISSING.

    So all comparisons are about the same items. Adjudicated values are left out: they repeat an annotator's.
    """
    graded = {rater: codes for rater, codes in ratings.significance.items() if rater != GOLD}
    # The same items for every comparison: otherwise two figures could differ because of the items alone.
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
    """The items that the judge labelled differently from people, by kind of error.

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
    # The second key keeps the order stable where two kinds are equally frequent.
    ordered = sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0]))
    words = ratings.scheme.words
    return [(words[right], words[judged], len(items), items) for (right, judged), items in ordered]
