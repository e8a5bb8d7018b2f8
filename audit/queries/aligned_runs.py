"""Pairs of two runs, aligned by the ids of questions and of handbooks or editions: as SQL, and as counts of changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.stats.bootstrap import draws
from audit.stats.intervals import Floats, Ints
from audit.store.connection import Connection, frame
from audit.terms import ALL
from audit.vocabulary import DISAGREEING, GENERAL, LABELS, Label, sql_list

PRESCREENED, UNSCORED, NOT_THERE = "PRE-SCREENED", "UNSCORED", "NOT IN THE RUN"
STATES = (PRESCREENED, *(label.value for label in LABELS), UNSCORED, NOT_THERE)
"""The possible states of a pair in a run, in the order of the matrix."""
STATE_WORDS = {state: state.lower() for state in STATES}

# A run may list two handbooks the other way round: `least` and `greatest` put them in the order of the first run.
# The join is a full one, so a pair that only one of the runs has is counted as such.
ALIGNED = f"""
same_ids as (
    select mine.handbook as own, theirs.handbook as their
    from this.handbooks mine join other.handbooks theirs using (handbook_id)
),
editions as (
    select mine.handbook as own, theirs.handbook as their
    from this.handbooks mine join other.handbooks theirs
      on coalesce(mine.edition_of, mine.handbook_id) = coalesce(theirs.edition_of, theirs.handbook_id)
    where mine.handbook not in (select own from same_ids) and theirs.handbook not in (select their from same_ids)
    -- Of two editions in one run nobody can tell which is meant
    qualify count(*) over (partition by mine.handbook) = 1 and count(*) over (partition by theirs.handbook) = 1
),
books as (from same_ids union all from editions),
asked as (
    select mine.question as own, theirs.question as their
    from this.questions mine join other.questions theirs using (question_id)
),
before as (
    select question, handbook_a, handbook_b, significance::varchar as significance, divergence_topic,
           case when prescreened then '{PRESCREENED}' else coalesce(label::varchar, '{UNSCORED}') end as state
    from this.pairs
    where question in (select own from asked)
      and handbook_a in (select own from books) and handbook_b in (select own from books)
),
after as (
    select asked.own as question, least(a.own, b.own) as handbook_a, greatest(a.own, b.own) as handbook_b,
           significance::varchar as significance, divergence_topic,
           case when prescreened then '{PRESCREENED}' else coalesce(label::varchar, '{UNSCORED}') end as state
    from other.pairs p
    join asked on asked.their = p.question
    join books a on a.their = p.handbook_a
    join books b on b.their = p.handbook_b
),
both_runs as (
    select question, handbook_a, handbook_b,
           coalesce(before.state, '{NOT_THERE}') as first, coalesce(after.state, '{NOT_THERE}') as second,
           before.significance as significance_first, after.significance as significance_second,
           before.divergence_topic as topic_first, after.divergence_topic as topic_second
    from before full join after using (question, handbook_a, handbook_b)
)"""
"""The SQL steps that align both runs' pairs, by the ids of questions and handbooks, whatever their order in each run."""

SCORED_IN_BOTH = f"first not in {sql_list((UNSCORED, NOT_THERE))} and second not in {sql_list((UNSCORED, NOT_THERE))}"
# Pre-screened in one run and judged ABSENT in the other is the same label, not a change.
ABSENT_STATES = sql_list((PRESCREENED, Label.ABSENT))
LABEL_OF = f"replace({{}}, '{PRESCREENED}', '{Label.ABSENT}')"
"""The label of a state."""
COMPARED = f"""
{ALIGNED},
compared as (
    select question, handbook_a, handbook_b,
           first in {ABSENT_STATES} as was_absent,
           second in {ABSENT_STATES} as is_absent,
           first in {sql_list(DISAGREEING)} as was_disagreeing,
           second in {sql_list(DISAGREEING)} as is_disagreeing,
           case $kind when 'disagreement' then was_disagreeing <> is_disagreeing
                      when 'absence' then was_absent <> is_absent
                      else first <> second and not (was_absent and is_absent) end as moves
    from both_runs
    where {SCORED_IN_BOTH}
)"""
"""The pairs that both runs scored, and whether they change in what `$kind` asks for."""


PAIRED_SQL = f"""
with {ALIGNED}
select question, q.organ, {LABEL_OF.format("first")} as first, {LABEL_OF.format("second")} as second,
       count(*) as pairs
from both_runs
join this.questions q using (question)
join this.handbooks a on a.handbook = handbook_a
join this.handbooks b on b.handbook = handbook_b
where {SCORED_IN_BOTH}
  and ($scope = '{ALL_HANDBOOKS}' or q.organ = 'general'
       or (a.organ in (q.organ, 'general') and b.organ in (q.organ, 'general')))
group by all
order by all
"""


@dataclass(frozen=True)
class PairedRuns:
    """The pairs that both runs scored.

    cells  question, organ, first, second (labels), pairs: one row per question and combination
    """

    cells: pd.DataFrame

    @cached_property
    def _questions(self) -> tuple[Ints, pd.Series]:
        position, questions = pd.factorize(self.cells["question"], sort=True)
        # `factorize` sorts, so a question's code is its row in all counts of this module.
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


def paired_runs(con: Connection, scope: str = ALL_HANDBOOKS) -> PairedRuns:
    """The pairs in a scope that two runs both scored; takes a connection to both (audit.store.connection.open_two)."""
    return PairedRuns(frame(con, PAIRED_SQL, {"scope": scope}))


def group_totals(counts: Floats) -> Ints:
    """Counts (groups x questions) added up by group."""
    # Whole numbers, kept as floats for the product with the draws.
    totals: Ints = counts.sum(axis=1).round().astype(int)
    return totals
