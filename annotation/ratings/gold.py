"""The gold label of an item, defined once for agreement, prevalence, exports and pages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.ratings.design import MISSING, Codes, Floats
from annotation.ratings.table import GOLD, Ratings

MAJORITY = "majority"
Mask = npt.NDArray[np.bool_]
GOLD_RULE = (
    "Gold: the adjudicated label, or else the one that more than half of an item's annotators gave, at least two of them (with "
    "two annotators, the label on which they agree)."
)
WITHOUT_GOLD = (
    "An open dispute has no gold label: it enters no comparison with the judge, and in corrected shares each label that was "
    "given counts in equal parts, because to leave disputes out would leave the difficult items out. An item rated by one "
    "annotator only has no gold label and is left out."
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
