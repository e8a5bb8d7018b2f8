"""How the pairs of each question were labelled, and the four rates of questions grouped by organ, topic or subtopic."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DISAGREEING, ORGAN, OTHER_HANDBOOKS, PAIRS, PRESENT, QUESTIONS, rate_columns, rate_notes
from audit.metrics.severity import SEVERITY_NOTE, WEIGHT
from audit.queries.lookup import question_number_or_all, require_one_of
from audit.queries.pair_counts import (
    ALL_HANDBOOKS,
    BY_QUESTION,
    BY_QUESTION_IN_SCOPE,
    COUNTS,
    GROUP_COLUMNS,
    GROUP_COUNTS,
    SCOPES,
    SIGNIFICANCE_COUNTS,
    default_scope,
    read_pairs,
    with_rate_intervals,
)
from audit.stats.intervals import with_interval
from audit.stats.pair_table import EACH_QUESTION, rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.terms import RATE_MEANINGS

QUESTIONS_SQL = f"""
with {BY_QUESTION},
severities as (
    select question,
{SIGNIFICANCE_COUNTS}
    from judged_pairs
    where disagrees
    group by question
),
topic_lists as (
    select question, string_agg(distinct topic, ', ' order by topic) as topics from topics group by question
),
subtopic_lists as (
    select question, string_agg(distinct subtopic, ', ' order by subtopic) as subtopics from subtopics group by question
),
answered as (
    select question, count(absent) as answers, count(*) filter (not absent) as answering,
           count(*) filter (not absent and found = 'perhaps') as perhaps
    from answers
    group by question
),
counted as (
    select question, question_id, text, organ, coalesce(topics, '') as topics, coalesce(subtopics, '') as subtopics,
           case when has_answers then coalesce(answers, 0) end as asked,
           case when has_answers then coalesce(answering, 0) end as answering,
           case when has_answers then coalesce(perhaps, 0) end as perhaps,
           {", ".join(f"coalesce({count}, 0) as {count}" for count in COUNTS)},
           {", ".join(f"coalesce({count}, 0) as {count}" for count in ("low", "medium", "high", "unstated"))}
    from questions
    left join topic_lists using (question) left join subtopic_lists using (question)
    left join tallies using (question) left join severities using (question) left join answered using (question)
    cross join run
)
select question, question_id, text, organ, topics, subtopics, asked, answering, perhaps, {", ".join(COUNTS)},
       absent / nullif(scored, 0)         as r_abs,
       disagreeing / nullif(present, 0)   as r_div,
       consistent / nullif(present, 0)    as r_con,
       low, medium, high, unstated,
       ({WEIGHT}) / nullif(present, 0) as severity
from counted
where $question is null or question = $question
order by question
"""
QUESTIONS_TABLE = TableSpec(
    "How the pairs of each {question} were labelled",
    (
        Column.text("text", "{Question}"), Column.named("organ", "{Organ}"), Column.named("topics", "{Topics}"),
        Column.count("asked", "Asked", "{handbooks}"), Column.count("answering", "Answering", "{handbooks}"), PAIRS, PRESENT,
        DISAGREEING, *rate_columns("r_abs", "r_div", "r_con"), Column.decimal("severity", "Severity", "score"),
    ),
    (*rate_notes("r_abs", "r_div", "r_con", intervals=OTHER_HANDBOOKS),
     SEVERITY_NOTE),
    printed_rows=30,
)  # fmt: skip
QUESTIONS_GLOSSARY = {
    "{question}": "A question that {a_patient} asks; it belongs to one {organ}, or is general, and to some {topics}."
}


@metric(sql=QUESTIONS_SQL, table=QUESTIONS_TABLE, glossary=QUESTIONS_GLOSSARY)
def questions(con: Connection, question_id: str | None = None) -> pd.DataFrame:
    """Every question: which handbooks answer it, how its pairs were labelled, how often and how gravely they disagree.

    r_abs: of the pairs with a verdict, the share in which at least one handbook does not address the question. r_div: of
    the pairs in which both do (present pairs), the share that the judge found divergent or contradictory; r_con: found
    consistent. severity: as r_div, but a disagreement counts 1 when its clinical significance is low or unstated, 2 when
    medium, 3 when high; so it runs from 0 to 3. Unscored pairs (no readable verdict) enter no rate.

    One row per question, in release order; of one question only with `question_id`:
        question                     int, number; question_id, text, organ  str
        topics, subtopics            str, joined by ', '; may be empty
        asked, answering             Int64, handbooks asked, handbooks that address it; <NA> in a release without answers
        perhaps                      Int64, those of answering of which a search says that they may; 0 where a model answered
        pairs, scored, unscored      int, pairs; pairs = scored + unscored
        prescreened, absent_judged   int, pairs; absent = prescreened + absent_judged
        present                      int, pairs; consistent + complementary + divergent + contradictory
        disagreeing                  int, pairs; divergent + contradictory = low + medium + high + unstated
        r_abs, r_div, r_con          float in [0, 1]; NaN where the denominator is 0
        r_div_low, r_div_high        95 % interval for other handbooks, the question being fixed; where none or all pairs
                                     disagree, Wilson's with half as many trials as handbooks; NaN where fewer than four
                                     handbooks answer. With four to six, a rough guide only
        low, medium, high, unstated  int, disagreeing pairs by clinical significance
        severity                     float in [0, 3]; NaN where present is 0

    Raises NotInRunError for another question. Source: r_div as in arXiv:2605.29084, section 6.2; interval: audit.stats.clustered.
    """
    question = question_number_or_all(con, question_id)
    table = frame(con, QUESTIONS_SQL, {"question": question}).astype(dict.fromkeys(("asked", "answering", "perhaps"), "Int64"))
    pairs = read_pairs(con, question)
    low, high = rate_intervals(pairs, EACH_QUESTION)["r_div"]
    # A question without pairs has no interval.
    ends = pd.DataFrame({"low": low, "high": high}, index=pairs.questions).reindex(table["question"])
    return with_interval(table, "r_div", ends["low"], ends["high"])


RATES_BY_GROUP = f"""
with {{tallies}},
{{memberships}},
counted as (
    select {{name}}, is_last,
{GROUP_COUNTS}
    from memberships left join tallies using (question)
    group by {{name}}, is_last
)
select {{name}}, {GROUP_COLUMNS}
from counted
order by {{order}}
"""
"""The four rates of questions in groups, by `memberships` (question, the group's `name`, is_last)."""
GROUP_RATES = (
    PAIRS,
    PRESENT,
    *rate_columns("r_abs", "r_div", "r_con"),
    # Unlike the others its interval applies to these handbooks only: it is in the table of disputed_shares.
    replace(*rate_columns("pct_any_div"), alone=True),
    Column.count("disagreeing", "Disagreeing", "pairs"),
    Column.count("unscored", "Unscored", "pairs"),
)
ORGAN_MEMBERSHIPS = """memberships as (
    select question, organ, false as is_last from questions
    union all
    select question, '(all)', true from questions
)"""
ORGANS_SQL = RATES_BY_GROUP.format(
    tallies=BY_QUESTION_IN_SCOPE, memberships=ORGAN_MEMBERSHIPS, name="organ", order="is_last, organ = 'general', organ"
)
SCOPE_NOTE = (
    "{Handbooks} of the same {organ}: pairs of those of the {question}'s {organ}; all pairs for general {questions}, and among "
    "general {handbooks}. All {handbooks}: pairs of any two, even if one is about another {organ} and unlikely to answer."
)
ORGANS_TABLE = TableSpec(
    "The four rates by {organ} of the {question}",
    (ORGAN, Column.text("compared", "{Handbooks} compared"), QUESTIONS, *GROUP_RATES),
    (SCOPE_NOTE, *rate_notes()),
)
RATES_GLOSSARY = {
    "not addressed (r_abs)": RATE_MEANINGS["r_abs"],
    "disagreement (R_div)": RATE_MEANINGS["r_div"],
    "same advice (R_con)": RATE_MEANINGS["r_con"],
}


@metric(sql=ORGANS_SQL, table=ORGANS_TABLE, glossary=RATES_GLOSSARY)
def organs(con: Connection, scope: str | None = None) -> pd.DataFrame:
    """How often handbooks do not address a question, disagree and agree, by the organ that the question is about.

    r_abs: of the pairs with a verdict, the share in which at least one handbook does not address the question. r_div: of
    the pairs in which both do (present pairs), the share that the judge found divergent or contradictory. r_con: of the
    present pairs, the share found consistent. pct_any_div: of the questions with a verdict on any pair, the share with at
    least one disagreeing pair. Unscored pairs (no readable verdict) enter no rate: a missing verdict is not agreement.

    `scope` is 'matching' (pairs of the handbooks of the question's organ) or 'all' (pairs of any two handbooks); None: matching
    where the manifest says that questions go to the handbooks of their organ (`asked: organ`), else all. One row per question
    organ, by name, 'general' after the others, then a row '(all)':
        organ, compared                  str; the scope
        questions                        int, questions of the organ
        pairs, scored, unscored          int, pairs; pairs = scored + unscored
        prescreened, absent_judged       int, pairs; absent = prescreened + absent_judged
        present                          int, pairs; consistent + complementary + divergent + contradictory
        disagreeing                      int, pairs; divergent + contradictory
        r_abs                            float in [0, 1], absent / scored
        r_div, r_con                     float in [0, 1], disagreeing / present, consistent / present
        questions_scored, questions_any  int, questions with a scored pair, with a disagreeing pair
        pct_any_div                      float in [0, 1], questions_any / questions_scored
        ..._low, ..._high                95 % intervals: of r_abs, r_div, r_con for other questions and other handbooks
                                         (audit.stats.clustered); of pct_any_div Wilson's, for other questions put to these
                                         handbooks, which tables show by itself: see `disputed_shares`

    A rate is NaN where its denominator is 0; an interval is NaN too where fewer than two questions or four handbooks are
    in the denominator. Raises AuditError for another scope. Source: rates as in arXiv:2605.29084, section 6.2.
    """
    scope = scope or default_scope(con)
    require_one_of(scope, SCOPES, "Scope")
    memberships = frame(con, f"with {ORGAN_MEMBERSHIPS} select question, organ from memberships")
    table = frame(con, ORGANS_SQL, {"scope": scope})
    table.insert(1, "compared", scope)
    return with_rate_intervals(con, table, "organ", memberships, scope)


TOPIC_LEVELS = ("topic", "subtopic")
# `union` without `all`: a question that lists a topic twice counts once.
TOPIC_MEMBERSHIPS = """named as (
    select question, topic from topics where $level = 'topic'
    union
    select question, subtopic from subtopics where $level = 'subtopic'
),
memberships as (
    select question, coalesce(topic, '(none)') as topic, topic is null as is_last
    from questions left join named using (question)
)"""
TOPICS_SQL = RATES_BY_GROUP.format(
    tallies=BY_QUESTION_IN_SCOPE, memberships=TOPIC_MEMBERSHIPS, name="topic", order="is_last, topic"
)
TOPICS_TABLE = TableSpec(
    "The rates by {topic}",
    (Column.named("topic", "{Topic}"), QUESTIONS, *GROUP_RATES),
    ("{A_question} on two {topics} counts in both, so the rows add up to more than the run.", *rate_notes()),
)
TOPICS_GLOSSARY = {"topic": "What {a_question} is about, such as diet; {a_question} on two {topics} counts under both."}


@metric(sql=TOPICS_SQL, table=TOPICS_TABLE, glossary=TOPICS_GLOSSARY)
def topics(con: Connection, level: str = "topic", scope: str = ALL_HANDBOOKS) -> pd.DataFrame:
    """How often handbooks do not address a question, disagree and agree, by its topic (or subtopic).

    The counts, rates and intervals are those of `organs`. A question with two topics counts in both, so the rows add up to more
    than the run.

    `level` is 'topic' or 'subtopic'; `scope` as in `organs`, but 'all' where it is left out. One row per topic, by name, and a
    last row '(none)' when a question has none:
        topic      str, topic or subtopic
        questions  int, questions on the topic; the other columns as in `organs`

    Raises AuditError for another level or scope. Source: as `organs`.
    """
    require_one_of(level, TOPIC_LEVELS, "Level")
    require_one_of(scope, SCOPES, "Scope")
    memberships = frame(con, f"with {TOPIC_MEMBERSHIPS} select question, topic from memberships", {"level": level})
    table = frame(con, TOPICS_SQL, {"level": level, "scope": scope})
    return with_rate_intervals(con, table, "topic", memberships, scope)
