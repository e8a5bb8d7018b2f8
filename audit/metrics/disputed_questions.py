"""The questions on which handbooks disagree, the gravest first: the pairs that match filters, counted by question."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import ANY_DISPUTE, rate_columns
from audit.metrics.disagreements import EVERY_STEP, ORDERS, Filters, paged
from audit.metrics.position_groups import ANSWERS, GROUPS_SQL, NOT_ADDRESSED, NOT_ASKED, UNREAD
from audit.queries.concerned import concerned
from audit.queries.lookup import LABEL_CODE, SIGNIFICANCE_CODE, question_number, require_one_of
from audit.queries.pair_counts import BY_QUESTION_IN_SCOPE, SCOPES, default_scope
from audit.stats.intervals import with_wilson
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.terms import ALL, RATE_MEANINGS
from audit.vocabulary import LABELS, SIGNIFICANCES

# The label and the significance of a row are those of one pair, the first in the order: a question with a divergence of high
# and a contradiction of low significance has no contradiction of high significance.
GROUPED = f"""
tallied as (
    select question, count(*) as pairs, max({{first}} * 8 + {{second}}) as gravest from matched group by question
),
involved as (
    select question, handbook_a as handbook from matched union select question, handbook_b from matched
),
sizes as (
    select question, count(*) as handbooks from involved group by question
),
counted as (
    select *, ({[str(word) for word in SIGNIFICANCES]})[gravest {{significance}} 8] as significance,
           ({[str(word) for word in LABELS]})[gravest {{label}} 8] as label
    from tallied join sizes using (question)
),
total as (
    select count(*)::bigint as total, coalesce(sum(pairs), 0)::bigint as total_pairs from counted
),
page as (
    from counted order by {{order}} limit $limit offset $offset
)
select total, total_pairs, q.question_id, q.text as question_text, q.organ, label, significance, pairs, handbooks
from total
left join page on true
left join questions q using (question)
order by {{order}}
"""
KEYS = {"handbooks": "handbooks desc, gravest desc, question", "release": "question"}
TABLE = TableSpec(
    "Disputed {questions}, the gravest first",
    (
        Column.count("rank", "Rank"), Column.text("question_text", "{Question}"), Column.named("organ", "{Organ}"),
        Column.text("label", "Label", words={label.value: label.value.lower() for label in LABELS}),
        Column.text("significance", "Significance"), Column.count("pairs", "Pairs"), Column.count("handbooks", "{Handbooks}"),
    ),
    ("Label and significance are those of the gravest pair of {a_question}.",),
    printed_rows=30,
)  # fmt: skip
GLOSSARY = {"disputed {question}": "{A_question} with at least one pair whose answers are divergent or contradictory."}


def grouped(order: str) -> str:
    """The end of a statement that lists the questions of the matched pairs in an order of ORDERS."""
    by_label = order == "label"
    first, second = (LABEL_CODE, SIGNIFICANCE_CODE) if by_label else (SIGNIFICANCE_CODE, LABEL_CODE)
    return ",\n" + GROUPED.format(
        first=first,
        second=second,
        significance="%" if by_label else "//",
        label="//" if by_label else "%",
        order=KEYS.get(order, "gravest desc, handbooks desc, question"),
    ).lstrip("\n")


DISPUTED = Filters()
SQL = EVERY_STEP + grouped("significance")


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def disputed_questions(
    con: Connection, filters: Filters = DISPUTED, limit: int = 100, offset: int = 0, order: str = "significance"
) -> pd.DataFrame:
    """The questions to read first: the highest clinical significance first, then the worst label, then the most handbooks.

    A question is listed when at least one of its pairs matches the filters (by default: is divergent or contradictory). Its
    label and significance are those of its gravest matching pair; an unstated significance goes after low, an unscored pair
    after every label.

    `order` is 'significance' (then label), 'label' (then significance), 'handbooks' (the most in dispute first) or 'release'.
    One row per question, `limit` of them from `offset` on; where that is past the end, the last page:
        total, total_pairs             int, questions and pairs that match, the same in every row
        rank                           int from 1
        question_id, question_text, organ  str
        label, significance            str; missing where the judge gave none
        pairs, handbooks               int, matching pairs of the question, and handbooks that are in one of them

    No row when nothing matches. Raises AuditError for another order.
    """
    require_one_of(order, tuple(ORDERS), "Order")
    return paged(con, *filters.statement(grouped(order)), limit, offset)


COUNTED = f"""
with states as ({GROUPS_SQL.strip()}),
labelled as (
    select count(*) filter (present) as present, count(*) filter (label is null) as unscored,
           count(*) filter (disagrees) as disagreeing
    from judged_pairs where question = $question
)
select count(*) filter (state <> '{NOT_ASKED}') as asked, count(*) filter (state = '{ANSWERS}') as answering,
       count(*) filter (state = '{NOT_ADDRESSED}' and {concerned("q", "states")}) as not_addressing,
       count(*) filter (state = '{NOT_ADDRESSED}' and not {concerned("q", "states")}) as elsewhere,
       count(*) filter (state = '{UNREAD}') as unread,
       any_value(present) as present, any_value(disagreeing) as disagreeing, any_value(unscored) as unscored
from states cross join labelled join questions q on q.question = $question
"""


def counts_on(con: Connection, question_id: str) -> dict[str, int]:
    """Handbooks asked, answering, not_addressing and unread on one question; its pairs present, disagreeing and unscored.

    Those that do not address it and need not, being of another organ, are `elsewhere`: asked = answering + not_addressing +
    elsewhere + unread. No rate has an interval here: one question is not a sample of anything.
    Raises NotInRunError when the question is not in the run.
    """
    (row,) = frame(con, COUNTED, {"question": question_number(con, question_id)}).to_dict("records")
    return {str(name): int(count) for name, count in row.items()}


# -- The share of questions with any disagreement, by organ, topic and source --------------------------------


DISPUTED_SHARES_SQL = f"""
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
DISPUTED_SHARES_TABLE = TableSpec(
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
            Population.QUESTIONS_TO_THESE.as_judged, "{questions} are the units (Wilson 1927)",
            "No interval can generalise to other {handbooks}: with more of them, more {questions} show some disagreement.",
        ),
    ),
    printed_rows=40,
)  # fmt: skip
DISPUTED_SHARES_GLOSSARY = {"disputed {questions} (pct_any_div)": RATE_MEANINGS["pct_any_div"]}


@metric(sql=DISPUTED_SHARES_SQL, table=DISPUTED_SHARES_TABLE, glossary=DISPUTED_SHARES_GLOSSARY)
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
    return with_wilson(frame(con, DISPUTED_SHARES_SQL, {"scope": scope}), "pct_any_div", "questions_any", "questions_scored")
