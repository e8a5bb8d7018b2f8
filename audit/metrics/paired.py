"""Two runs on the pairs that both of them scored: counts by question, and 95 % intervals of what changed.

Both runs are asked about the same questions and the same handbooks, so a change is measured pair by pair, and most of what
makes questions unlike each other stands in both runs and drops out. What is left to chance is which questions were asked.
So questions are resampled, each with all its pairs and with the same draw in both runs (a cluster bootstrap, seeded as in
audit.metrics.pigeonhole); the handbooks are those that both runs have, and a change is said of these.

A change that fewer than FEW questions bear has no interval (NaN): most draws would hold hardly any of it.
Source: Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8, of clusters; paired by drawing once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from audit.metrics.intervals import Floats, Interval, Ints, percentiles, wilson_paired
from audit.metrics.pigeonhole import FEW, THIN, draws
from audit.queries.aligned_runs import ALIGNED
from audit.store.connection import Connection, frame
from audit.vocabulary import DISAGREEING, GENERAL, Label

ALL = "(all)"
RISES, FALLS, UNCLEAR, SAME, UNKNOWN = "rises", "falls", "not clear", "the same", "too few questions"

STATES = f"""
with {ALIGNED},
tallied as (
    select question, replace(first, 'PRE-SCREENED', 'ABSENT') as first, replace(second, 'PRE-SCREENED', 'ABSENT') as second,
           count(*) as pairs
    from both_runs
    where first not in ('UNSCORED', 'NOT IN THE RUN') and second not in ('UNSCORED', 'NOT IN THE RUN')
    group by all
)"""
"""The pairs that both runs scored, by question and by what each run says; pre-screened is ABSENT here."""
SQL = f"{STATES} select question, organ, first, second, pairs from tallied join this.questions using (question) order by all"


@dataclass(frozen=True)
class Paired:
    """The pairs that both runs scored.

    cells  question, organ, first, second (labels), pairs: one row per question and combination
    """

    cells: pd.DataFrame

    @cached_property
    def _place(self) -> tuple[Ints, pd.Series]:
        place, questions = pd.factorize(self.cells["question"], sort=True)
        organ = self.cells.drop_duplicates("question").set_index("question")["organ"]
        return place, organ.reindex(questions)

    @property
    def organs(self) -> list[str]:
        """The organs of the questions by name, 'general' after the others, then '(all)'."""
        found = sorted(self._place[1].unique(), key=lambda organ: (organ == GENERAL, organ))
        return [*found, ALL]

    @cached_property
    def members(self) -> Floats:
        """Which question belongs to which organ: float32, organs x questions."""
        own = self._place[1].to_numpy()
        return np.array([(own == organ) | (organ == ALL) for organ in self.organs], dtype=np.float32)

    @cached_property
    def draws(self) -> Floats:
        """How often each question is drawn in each replicate."""
        return draws(self.members.shape[1], stream=0)

    def counts(self, wanted: pd.Series) -> Floats:
        """The pairs of the wanted cells: float, organs x questions."""
        pairs = (self.cells["pairs"] * wanted).to_numpy(dtype=float)
        return self.members * np.bincount(self._place[0], pairs, self.members.shape[1])

    def says(self, side: str, *labels: Label) -> pd.Series:
        """Which cells one of the runs (`first` or `second`) gives one of these labels."""
        return self.cells[side].isin([label.value for label in labels])

    def absent(self, side: str) -> pd.Series:
        """Which cells one of the runs calls absent."""
        return self.says(side, Label.ABSENT)

    def disagreeing(self, side: str) -> pd.Series:
        """Which cells one of the runs calls divergent or contradictory."""
        return self.says(side, *DISAGREEING)


@dataclass(frozen=True)
class Share:
    """A share of pairs (or of questions) in one run: its parts and wholes, both organs x questions."""

    part: Floats
    whole: Floats

    @property
    def value(self) -> Floats:
        """The share in each organ; NaN without a whole."""
        return ratio(self.part.sum(axis=1), self.whole.sum(axis=1))

    def drawn(self, weights: Floats) -> Floats:
        """The share in each replicate; NaN where a draw keeps less than THIN of the whole."""
        whole = self.whole @ weights
        enough = whole >= THIN * self.whole.sum(axis=1, keepdims=True)
        return ratio(self.part @ weights, np.where(enough, whole, 0))


def paired(con: Connection) -> Paired:
    """The pairs that two runs both scored; takes a connection to both (audit.store.connection.open_two)."""
    return Paired(frame(con, SQL))


def ratio(part: Floats, whole: Floats) -> Floats:
    """The share part / whole, NaN where the whole is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = part / np.where(whole > 0, whole, np.nan)
    return found


def change_interval(replicates: Floats, bearing: Ints) -> Interval:
    """The interval of each row of replicates (organs x replicates); NaN where fewer than FEW questions bear the change."""
    low, high = percentiles(replicates, bearing)
    return np.where(bearing >= FEW, low, np.nan), np.where(bearing >= FEW, high, np.nan)


def change_of(name: str, first: Share, second: Share, weights: Floats) -> dict[str, Any]:
    """The second share less the first, by organ: columns `name`, its 95 % interval, `questions` that bear it, and `moves`.

    A question bears a change when its counts differ; there are no more of these than questions in either whole.
    """
    differ = np.count_nonzero((first.part != second.part) | (first.whole != second.whole), axis=1)
    bearing = np.min([differ, *(np.count_nonzero(share.whole, axis=1) for share in (first, second))], axis=0)
    change, ends = second.value - first.value, change_interval(second.drawn(weights) - first.drawn(weights), bearing)
    moves = [direction(*each) for each in zip(*ends, (differ == 0) & ~np.isnan(change), strict=True)]
    return {name: change, f"{name}_low": ends[0], f"{name}_high": ends[1], "questions": bearing, "moves": moves}


def change_of_marks(name: str, first: Share, second: Share) -> dict[str, Any]:
    """The same for a share of questions, each marked or not in either run: Wilson's interval for pairs, even where few change."""
    was, now, asked = first.part > 0, second.part > 0, first.whole > 0
    table = [np.count_nonzero(asked & mark, axis=1) for mark in (was & now, was & ~now, ~was & now, ~was & ~now)]
    ends, differ, change = wilson_paired(*table), table[1] + table[2], second.value - first.value
    moves = [direction(*each) for each in zip(*ends, (differ == 0) & ~np.isnan(change), strict=True)]
    return {name: change, f"{name}_low": ends[0], f"{name}_high": ends[1], "questions": differ, "moves": moves}


def direction(low: float, high: float, same: bool) -> str:
    """Where a change goes, by the ends of its interval (NaN where it is not known); `same` where there is none at all."""
    if same or np.isnan(low):
        return SAME if same else UNKNOWN
    return RISES if low > 0 else FALLS if high < 0 else UNCLEAR


def total(counts: Floats) -> Ints:
    """Counts (organs x questions) added up by organ."""
    found: Ints = counts.sum(axis=1).round().astype(int)
    return found
