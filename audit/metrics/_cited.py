"""Whether two answers that the judge calls a disagreement state different amounts of those that it cites, or one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from audit.stats.intervals import Floats, Ints
from audit.store.connection import Connection, rows
from audit.text.cited_amounts import cited_amounts

MAX_CITED = 30
"""Pairs of a question that are read, evenly spread over those that disagree: more tell nothing new of its handbooks."""
CITED_SQL = f"""
with numbered as (
    select question, handbook_a, handbook_b, reasoning, divergence_topic,
           row_number() over (partition by question order by handbook_a, handbook_b) - 1 as number,
           count(*) over (partition by question) as pairs
    from judged_pairs where disagrees
)
select question, handbook_a, handbook_b, first.answer, second.answer, coalesce(reasoning, ''), coalesce(divergence_topic, '')
from numbered
join answers first using (question) join answers second using (question)
where first.handbook = handbook_a and second.handbook = handbook_b and first.answer is not null and second.answer is not null
  and number * {MAX_CITED} // pairs > (number - 1) * {MAX_CITED} // pairs
order by all
"""


def differing_amounts(con: Connection, handbooks: Mapping[int, Ints]) -> list[Floats]:
    """For each question, every two of its handbooks: 1 where the amounts that the judge cites differ, 0 where both state one.

    NaN where it calls no disagreement, cites no amount that an answer states, or the pair was not read.

    handbooks  number of each question -> its handbooks, ascending
    """
    told = {question: np.full((len(own), len(own)), np.nan) for question, own in handbooks.items()}
    for question, first, second, a, b, reasoning, topic in rows(con, CITED_SQL):
        cited = cited_amounts(a, b, reasoning, topic)
        if question in told and (cited.first or cited.shared):
            places = np.searchsorted(handbooks[question], [first, second])
            told[question][tuple(places)] = told[question][tuple(places[::-1])] = float(bool(cited.first))
    return list(told.values())
