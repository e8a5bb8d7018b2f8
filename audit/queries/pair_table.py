"""The pairs of a run read from its store, for the bootstrap."""

from __future__ import annotations

import pandas as pd

from audit.stats.intervals import Floats
from audit.stats.pair_table import COUPLE_BASE, PRESCREENED, UNSCORED, Pairs, group_matrix
from audit.store.connection import Connection, arrays

SQL = f"""
select question,
       handbook_a::integer * {COUPLE_BASE} + handbook_b               as couple,
       case when prescreened then {PRESCREENED} when label is null then {UNSCORED}
            else enum_code(label) end::utinyint                       as outcome
from pairs
order by question, handbook_a, handbook_b
"""


def read_pairs(con: Connection) -> Pairs:
    """The pairs of a run (about 9 bytes each)."""
    columns = arrays(con, SQL)
    return Pairs(columns["question"], columns["couple"], columns["outcome"])


def question_groups(pairs: Pairs, questions: pd.Series, groups: pd.Series, names: pd.Series) -> Floats:
    """Membership of questions in groups: float32, names x pairs.questions, from one row per question and group.

    Questions without pairs are left out: they have nothing to count.
    """
    row, column = pd.Index(names).get_indexer(pd.Index(groups)), pd.Index(pairs.questions).get_indexer(pd.Index(questions))
    return group_matrix(row, column, (len(names), len(pairs.questions)))
