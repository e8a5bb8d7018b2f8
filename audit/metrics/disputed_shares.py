"""The share of questions with any disagreement, by organ, topic and source: a figure about these handbooks only."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import ANY_DISPUTE, rate_columns
from audit.queries.lookup import require_one_of
from audit.queries.pair_counts import BY_QUESTION_IN_SCOPE, SCOPES, default_scope
from audit.stats.intervals import with_wilson
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.terms import ALL, RATE_MEANINGS

SQL = f"""
with {BY_QUESTION_IN_SCOPE},
memberships as (
    select 0 as level, 'run' as grouped_by, '{ALL}' as name, question from questions
    union
    select 1, 'organ', organ, question from questions
    union
    select 2, 'topic', topic, question from topics
    union
    select 3, 'subtopic', subtopic, question from subtopics
    union
    select 4, 'source', source, question from questions where source is not null
)
select grouped_by, name, count(*) filter (scored > 0) as questions_scored,
       count(*) filter (disagreeing > 0) as questions_any, sum(scored) / nullif(questions_scored, 0) as pairs_each,
       questions_any / nullif(questions_scored, 0) as pct_any_div
from memberships left join tallies using (question)
group by level, grouped_by, name
order by level, name
"""
GROUPED_BY = {"run": "run", "organ": "{organ}", "topic": "{topic}", "subtopic": "subtopic", "source": "question source"}
TABLE = TableSpec(
    "{Questions} on which any two {handbooks} disagree",
    (
        Column.text("grouped_by", "Grouped by", words=GROUPED_BY), Column.named("name", "Group", "all {questions}"),
        Column.count("questions_scored", "{Questions}", "with a verdict"),
        Column.count("questions_any", "Disputed", "{questions}"),
        Column.decimal("pairs_each", "Pairs with a verdict", "mean of {a_question}"), *rate_columns("pct_any_div"),
    ),
    (
        RATE_MEANINGS["pct_any_div"], ANY_DISPUTE,
        IntervalNote(
            Population.QUESTIONS_TO_THESE, "{questions} are the units (Wilson 1927)",
            "No interval can generalise to other {handbooks}: with more of them, more {questions} show some disagreement.",
        ),
    ),
    printed_rows=40,
)  # fmt: skip
GLOSSARY = {"disputed {questions} (pct_any_div)": RATE_MEANINGS["pct_any_div"]}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def disputed_shares(con: Connection, scope: str | None = None) -> pd.DataFrame:
    """Of the questions with a verdict on any pair, the share with at least one disagreeing pair, by group of questions.

    It grows with the number of handbooks, since one pair is enough; `pairs_each` shows which groups can be compared.

    `scope` is as in `organs`. One row for the run, then per organ, topic, subtopic and question source, each by name; a
    question on two topics counts in both, one without a source in none:
        grouped_by, name                 str
        questions_scored, questions_any  int, questions with a scored pair, with a disagreeing pair
        pairs_each                       float, mean pairs with a verdict of a scored question; NaN if there is none
        pct_any_div, ..._low, ..._high   float in [0, 1], questions_any / questions_scored, with Wilson's 95 % interval for other
                                         questions put to these handbooks; NaN where there is no scored question

    Raises AuditError for another scope. Source: arXiv:2605.29084, section 6.2.
    """
    scope = scope or default_scope(con)
    require_one_of(scope, SCOPES, "Scope")
    return with_wilson(frame(con, SQL, {"scope": scope}), "pct_any_div", "questions_any", "questions_scored")
