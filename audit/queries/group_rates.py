"""The rates that organs and topics share, with their intervals: the same four questions asked of any group of questions."""

from __future__ import annotations

import pandas as pd

from audit.queries.pair_table import question_groups, read_pairs
from audit.queries.sql_fragments import COUNTS, SUMMED
from audit.stats.bootstrap import rate_intervals
from audit.stats.interval_columns import with_interval, with_wilson
from audit.store.connection import Connection

GROUP_COUNTS = f"""
           count(*)                                   as questions,
           count(*) filter (scored > 0)               as questions_scored,
           count(*) filter (disagreeing > 0)          as questions_any,
{SUMMED}""".lstrip("\n")
"""Counts a group of questions, each joined to its tally (null where it has no pairs)."""

GROUP_COLUMNS = f"""questions, {", ".join(COUNTS)},
       absent / nullif(scored, 0)                     as r_abs,
       disagreeing / nullif(present, 0)               as r_div,
       consistent / nullif(present, 0)                as r_con,
       questions_scored, questions_any,
       questions_any / nullif(questions_scored, 0)    as pct_any_div"""
"""Rates are null, which reads as NaN, where nothing was counted: no pair is not the same as no disagreement."""


def with_rate_intervals(con: Connection, table: pd.DataFrame, name: str, memberships: pd.DataFrame) -> pd.DataFrame:
    """`table`, one row per group of questions, with the intervals of its four rates.

    `name` is the column of `table` and of `memberships` (question, name) that names the group. r_abs, r_div and r_con
    pool pairs: questions and handbooks are resampled. pct_any_div counts questions, so Wilson's interval serves. Resampling
    handbooks would be wrong there: a draw holds about two thirds of them, in which fewer questions show any disagreement.
    """
    pairs = read_pairs(con)
    groups = question_groups(pairs, memberships["question"], memberships[name], table[name])
    for rate, (low, high) in rate_intervals(pairs, groups).items():
        table = with_interval(table, rate, low, high)
    return with_wilson(table, "pct_any_div", "questions_any", "questions_scored")
