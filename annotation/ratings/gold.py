"""The gold label of an item, defined once for agreement, prevalence, exports and pages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.ratings.design import MISSING, Codes, Floats, width_of
from annotation.ratings.table import GOLD, JUDGE, Ratings
from audit.errors import AuditError
from audit.stats.intervals import ShareEstimate, stratified_share, wilson
from audit.vocabulary import LABELS, Label

MAJORITY = "majority"
Mask = npt.NDArray[np.bool_]
GOLD_RULE = (
    "Gold: the adjudicated label, or else the one that more than half of an item's annotators gave, at least two of them (with "
    "two annotators, the label on which they agree)."
)
WITHOUT_GOLD = (
    "An open dispute has no gold label: in corrected shares and the judge's precision each label that was given counts in equal "
    "parts, because to leave disputes out would leave the difficult items out; it enters no other comparison. An item rated by "
    "one annotator only has no gold label and is left out."
)


@dataclass(frozen=True)
class GoldStandard:
    """Gold labels of a table of ratings; every array has one value per item.

    codes        the gold label, MISSING if there is none
    adjudicated  a third person decided
    disputed     rated by two or more, without a majority and not decided
    rated_once   rated by one annotator only, and not decided
    """

    codes: Codes
    adjudicated: Mask
    disputed: Mask
    rated_once: Mask

    @property
    def agreed(self) -> int:
        """Items whose label is that of the annotators."""
        return int(((self.codes != MISSING) & ~self.adjudicated).sum())

    def left_open(self, disputes: str = "", once: str = "") -> str:
        """How many items have no gold label although somebody rated them, in words; empty where all have one.

        disputes, once  what happens to open disputes and to items with one rating, in brackets
        """
        disputed, single = int(self.disputed.sum()), int(self.rated_once.sum())
        parts = [f"{disputed:,} item{'' if disputed == 1 else 's'} in open dispute{disputes}"] if disputed else []
        parts += [f"{single:,} of {self.rated:,} rated items rated by one annotator only{once}"] if single else []
        return f"without a gold label: {'; '.join(parts)}" if parts else ""

    @property
    def rated(self) -> int:
        """Items that at least one person rated or decided."""
        return int(((self.codes != MISSING) | self.disputed | self.rated_once).sum())


def votes(ratings: Ratings) -> Floats:
    """How many annotators gave each label, (items, labels)."""
    codes = np.arange(len(ratings.scheme.words))
    return np.asarray(np.sum([ratings.labels[rater][:, None] == codes for rater in ratings.annotators], axis=0), dtype=float)


def majority(ratings: Ratings) -> Codes:
    """The label that more than half of an item's annotators gave, at least two of them; else MISSING."""
    counts = votes(ratings)
    total = counts.sum(axis=1)
    # Strictly more than half: argmax alone would settle a tie in favour of the label that is declared first.
    return np.where((total >= 2) & (2 * counts.max(axis=1) > total), counts.argmax(axis=1), MISSING)


def reference_standard(ratings: Ratings) -> str:
    """The reference standard for the judge: gold once a dispute is decided, the majority before; never a mixture."""
    return GOLD if gold_standard(ratings).adjudicated.any() else MAJORITY


def gold_standard(ratings: Ratings) -> GoldStandard:
    """The adjudicated label, else the majority's."""
    decided = ratings.labels.get(GOLD, np.full(len(ratings.items), MISSING))
    adjudicated, agreed, raters = decided != MISSING, majority(ratings), votes(ratings).sum(axis=1)
    return GoldStandard(
        np.where(adjudicated, decided, agreed),
        # A study's column has the agreed labels too; adjudicated is what the annotators did not settle.
        adjudicated & (decided != agreed),
        ~adjudicated & (raters >= 2) & (agreed == MISSING),
        ~adjudicated & (raters == 1),
    )


def human_labels(ratings: Ratings, human: str = GOLD) -> Floats:
    """People's labels of each item: (items, labels), each row adding up to 1; NaN where it has no such label."""
    if human != GOLD and human not in ratings.annotators:
        raise AuditError(
            f"There is no annotator '{human}'. Allowed: {', '.join((GOLD, *ratings.annotators))}. Nothing was estimated."
        )
    if human != GOLD:
        return _one_label(ratings.labels[human])
    standard, vote_counts = gold_standard(ratings), votes(ratings)
    # Open disputes are split between their labels: dropping them would drop the difficult items.
    split = vote_counts / np.maximum(vote_counts.sum(axis=1, keepdims=True), 1)
    return np.where(standard.disputed[:, None], split, _one_label(standard.codes))


def _one_label(codes: Codes) -> Floats:
    """Each item's label as a share of 1, (items, labels); NaN if it has none."""
    return np.where((codes == MISSING)[:, None], np.nan, codes[:, None] == np.arange(len(LABELS)))


class ConfirmedCalls(NamedTuple):
    """Of the rated pairs to which the judge gave a label: how many people give it too, and the share of all such pairs.

    rated, confirmed, divided  pairs; `divided`: an open dispute in which this label was given, which counts in parts
    share                      with its 95 % interval, which allows for either outcome of each dispute; exact where every such
                               pair of the run is rated and none is divided
    pairs                      of the run that the judge gave this label, which the interval speaks of; infinite if unknown
    """

    rated: int
    confirmed: int
    divided: int
    share: ShareEstimate
    pairs: float = math.inf


def confirmed_calls(ratings: Ratings, label: Label, human: str = GOLD) -> ConfirmedCalls:
    """The judge's precision for a label, with open disputes split between the labels given, as in the corrected shares.

    Dropping them would drop the difficult pairs, and so flatter the judge. Counts pairs as they were sampled.
    `human` as in `human_labels`.
    """
    given, called = human_labels(ratings, human)[:, label.code], ratings.labels[JUDGE] == label.code
    own = called & ~np.isnan(given)
    n, events = int(own.sum()), float(given[own].sum())
    pairs, design = math.inf, ratings.design
    if design is not None and not np.isin(design.stratum[called], design.stratum[~called]).any():
        pairs = float(design.pairs[np.unique(design.stratum[called])].sum())
    width = float(width_of(n, live=ratings.live))
    if n and math.isfinite(pairs):
        share = stratified_share([events], [n], [pairs], width=width)
    else:
        share = ShareEstimate(np.array(events / n if n else math.nan), *wilson(events, n, width))
    confirmed, divided = int((given[own] == 1).sum()), int(((given[own] > 0) & (given[own] < 1)).sum())
    if divided:
        low, high = np.minimum(share.low, confirmed / n), np.maximum(share.high, (confirmed + divided) / n)
        share = share._replace(low=low, high=high)
    return ConfirmedCalls(n, confirmed, divided, share, pairs)
