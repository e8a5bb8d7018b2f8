"""One row per question: how its pairs were labelled, how often its answers disagree, how much that matters."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DISAGREEING, PAIRS, PRESENT, rate_columns, rate_notes
from audit.metrics.severity import SEVERITY_NOTE, WEIGHT
from audit.queries.pair_counts import BY_QUESTION, COUNTS, read_pairs
from audit.stats.bootstrap import rate_intervals
from audit.stats.intervals import with_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

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
    select question, count(absent) as answers, count(*) filter (not absent) as answering
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
       absent / nullif(scored, 0)         as r_abs,
       disagreeing / nullif(present, 0)   as r_div,
       consistent / nullif(present, 0)    as r_con,
       low, medium, high, unstated,
       ({WEIGHT}) / nullif(present, 0) as severity
from counted
order by question
"""
TABLE = TableSpec(
    "How the pairs of each {question} were labelled",
    (
        Column.text("text", "{Question}"), Column.named("organ", "{Organ}"), Column.named("topics", "{Topics}"),
        Column.count("asked", "Asked", "{handbooks}"), Column.count("answering", "Answering", "{handbooks}"), PAIRS, PRESENT,
        DISAGREEING, *rate_columns("r_abs", "r_div", "r_con"), Column.decimal("severity", "Severity", "score"),
    ),
    (*rate_notes("r_abs", "r_div", "r_con", intervals="In brackets: 95 % intervals, {handbooks} resampled. A dash: not known."),
     SEVERITY_NOTE),
    printed_rows=30,
)  # fmt: skip
GLOSSARY = {"{question}": "A question that {a_patient} asks; it belongs to one {organ}, or is general, and to some {topics}."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def questions(con: Connection) -> pd.DataFrame:
    """Every question: which handbooks answer it, how its pairs were labelled, how often and how gravely they disagree.

    r_abs: of the pairs with a verdict, the share in which at least one handbook does not address the question. r_div: of
    the pairs in which both do (present pairs), the share that the judge found divergent or contradictory; r_con: found
    consistent. severity: as r_div, but a disagreement counts 1 when its clinical significance is low or unstated, 2 when
    medium, 3 when high; so it runs from 0 to 3. Unscored pairs (no readable verdict) enter no rate.

    One row per question, in release order:
        question                     int, number; question_id, text, organ  str
        topics, subtopics            str, joined by ', '; empty where there are none
        asked, answering             Int64, handbooks asked, handbooks that address it; <NA> in a release without answers
        pairs, scored, unscored      int, pairs; pairs = scored + unscored
        prescreened, absent_judged   int, pairs; absent = prescreened + absent_judged
        present                      int, pairs; consistent + complementary + divergent + contradictory
        disagreeing                  int, pairs; divergent + contradictory = low + medium + high + unstated
        r_abs, r_div, r_con          float in [0, 1]; NaN where the denominator is 0
        r_div_low, r_div_high        95 % interval with the handbooks resampled (the question is fixed); where none or all pairs
                                     disagree, Wilson's with half as many trials as handbooks; NaN where fewer than three
                                     handbooks answer. Three to six are few: read it as a rough guide
        low, medium, high, unstated  int, disagreeing pairs by clinical significance
        severity                     float in [0, 3]; NaN where present is 0

    Source: r_div as in arXiv:2605.29084; interval: the handbook half of Owen's (2007) two-way cluster bootstrap.
    """
    table, pairs = frame(con, SQL).astype({"asked": "Int64", "answering": "Int64"}), read_pairs(con)
    low, high = rate_intervals(pairs)["r_div"]
    # A question without pairs was not resampled: its interval is unknown.
    ends = pd.DataFrame({"low": low, "high": high}, index=pairs.questions).reindex(table["question"])
    return with_interval(table, "r_div", ends["low"], ends["high"])
