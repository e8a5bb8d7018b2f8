"""The pairs that two runs both scored, by question: what every change between two runs is counted from.

Both runs are asked the same questions about the same handbooks, so a change is measured pair by pair (audit.stats.paired).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from audit.queries.aligned_runs import ALIGNED
from audit.stats.bootstrap import draws
from audit.stats.intervals import Floats, Ints
from audit.store.connection import Connection, frame
from audit.terms import ALL
from audit.vocabulary import DISAGREEING, GENERAL, Label

STATES = f"""
with {ALIGNED},
tallied as (
    select question, replace(first, 'PRE-SCREENED', 'ABSENT') as first, replace(second, 'PRE-SCREENED', 'ABSENT') as second,
           count(*) as pairs
    from both_runs
    where first not in ('UNSCORED', 'NOT IN THE RUN') and second not in ('UNSCORED', 'NOT IN THE RUN')
    group by all
)"""
"""The pairs that both runs scored, by question and by each run's label; pre-screened is ABSENT here."""
SQL = f"{STATES} select question, organ, first, second, pairs from tallied join this.questions using (question) order by all"


@dataclass(frozen=True)
class PairedRuns:
    """The pairs that both runs scored.

    cells  question, organ, first, second (labels), pairs: one row per question and combination
    """

    cells: pd.DataFrame

    @cached_property
    def _questions(self) -> tuple[Ints, pd.Series]:
        position, questions = pd.factorize(self.cells["question"], sort=True)
        # `factorize` sorts, so a question's code is its row in everything that is counted here.
        organ = self.cells.drop_duplicates("question").set_index("question")["organ"]
        return position, organ.reindex(questions)

    @property
    def organs(self) -> list[str]:
        """The organs of the questions by name, 'general' after the others, then '(all)'."""
        organs = sorted(self._questions[1].unique(), key=lambda organ: (organ == GENERAL, organ))
        return [*organs, ALL]

    @cached_property
    def members(self) -> Floats:
        """Which question belongs to which organ: float32, organs x questions."""
        own = self._questions[1].to_numpy()
        return np.array([(own == organ) | (organ == ALL) for organ in self.organs], dtype=np.float32)

    @cached_property
    def draws(self) -> Floats:
        """How often each question is drawn in each replicate."""
        return draws(self.members.shape[1], stream=0)

    def counts(self, wanted: pd.Series) -> Floats:
        """The pairs of the wanted cells: float, organs x questions."""
        pairs = (self.cells["pairs"] * wanted).to_numpy(dtype=float)
        return self.members * np.bincount(self._questions[0], pairs, self.members.shape[1])

    def labelled(self, side: str, *labels: Label) -> pd.Series:
        """Which cells have one of these labels in one of the runs (`first` or `second`)."""
        return self.cells[side].isin([label.value for label in labels])

    def absent(self, side: str) -> pd.Series:
        """Which cells are absent in one of the runs."""
        return self.labelled(side, Label.ABSENT)

    def disagreeing(self, side: str) -> pd.Series:
        """Which cells are divergent or contradictory in one of the runs."""
        return self.labelled(side, *DISAGREEING)


def paired_runs(con: Connection) -> PairedRuns:
    """The pairs that two runs both scored; takes a connection to both (audit.store.connection.open_two)."""
    return PairedRuns(frame(con, SQL))


def group_totals(counts: Floats) -> Ints:
    """Counts (groups x questions) added up by group."""
    totals: Ints = counts.sum(axis=1).round().astype(int)
    return totals
