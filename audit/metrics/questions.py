"""One row per question: how its pairs were labelled, how often its answers disagree, how much that matters."""

from __future__ import annotations

import pandas as pd

from audit.metrics.intervals import with_wilson
from audit.metrics.severity import WEIGHT
from audit.metrics.steps import BY_QUESTION, COUNTS, RATES
from audit.store.connection import Connection, frame

SQL = f"""
with {BY_QUESTION},
severities as (
    select question,
           count(*) filter (significance = 'low')      as low,
           count(*) filter (significance = 'medium')   as medium,
           count(*) filter (significance = 'high')     as high,
           count(*) filter (significance is null)      as unstated
    from pairs
    where label in ('DIVERGENT', 'CONTRADICTORY')
    group by question
),
topic_lists as (
    select question, string_agg(distinct topic, ', ' order by topic) as topics from topics group by question
),
subtopic_lists as (
    select question, string_agg(distinct subtopic, ', ' order by subtopic) as subtopics from subtopics group by question
),
answered as (
    select question, count(*) as answers, count(*) filter (not absent) as answering
    from answers
    group by question
),
counted as (
    select question, question_id, text, organ, coalesce(topics, '') as topics, coalesce(subtopics, '') as subtopics,
           case when has_answers then coalesce(answers, 0) end as asked,
           case when has_answers then coalesce(answering, 0) end as answering,
           {", ".join(f"coalesce({count}, 0) as {count}" for count in COUNTS)},
           {", ".join(f"coalesce({count}, 0) as {count}" for count in ("low", "medium", "high", "unstated"))}
    from questions
    left join topic_lists using (question) left join subtopic_lists using (question)
    left join tallies using (question) left join severities using (question) left join answered using (question)
    cross join run
)
select question, question_id, text, organ, topics, subtopics, asked, answering, {", ".join(COUNTS)},
       {RATES},
       low, medium, high, unstated,
       ({WEIGHT}) / nullif(present, 0) as severity
from counted
order by question
"""


def questions(con: Connection) -> pd.DataFrame:
    """Counts, disagreement and severity per question."""
    table = frame(con, SQL).astype({"asked": "Int64", "answering": "Int64"})
    return with_wilson(table, "r_div", "disagreeing", "present")
