"""Which records enter the figures: the loader's report, and the records that two runs share or only one has."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.queries.aligned_runs import ALIGNED
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

# False sorts before true: quarantined records first, then repairs, then notes.
FINDINGS_SQL = """
select outcome, code, file, position, message, record
from findings
order by outcome = 'noted', outcome = 'repaired', file, position
"""
OUTCOMES = {"quarantined": "set aside", "repaired": "repaired", "noted": "kept unchanged"}
FINDINGS_TABLE = TableSpec(
    "What the loader reported",
    (
        Column.text("outcome", "Outcome", words=OUTCOMES),
        Column.text("file", "File"),
        Column.text("position", "Position"),
        Column.text("message", "Finding"),
        Column.text("code", "Kind"),
        Column.text("record", "Record"),
    ),
    ("Records that were set aside count in no figure.",),
    printed_rows=30,
)
FINDINGS_GLOSSARY = {
    "quarantined": "A record that could not be used and was set aside. It is in no figure; the page Runs lists it with the "
    "reason."
}


@metric(sql=FINDINGS_SQL, table=FINDINGS_TABLE, glossary=FINDINGS_GLOSSARY)
def findings(con: Connection) -> pd.DataFrame:
    """Every finding of the loader: records set aside, records repaired, and oddities kept as they are.

    One row per finding, those set aside first:
        outcome         str: 'quarantined' (set aside, counted nowhere), 'repaired' or 'noted'
        code            str, the kind of finding
        file, position  str, where it is in the release
        message         str, what was found, what is allowed, what happened to the record
        record          str, the quarantined record, cut at 2,000 characters; NaN for the others
    """
    return frame(con, FINDINGS_SQL)


SHARED_SQL = f"""
with {ALIGNED},
pairs_shared as (
    select count(*) as pairs from both_runs where first <> 'NOT IN THE RUN' and second <> 'NOT IN THE RUN'
),
counted as (
    select 0 as sort_key, 'questions' as what,
           (select count(*) from asked) as in_both,
           (select count(*) from this.questions) as first, (select count(*) from other.questions) as second
    union all
    select 1, 'handbooks', (select count(*) from books),
           (select count(*) from this.handbooks), (select count(*) from other.handbooks)
    union all
    select 2, 'pairs', (select pairs from pairs_shared), (select count(*) from this.pairs), (select count(*) from other.pairs)
)
select what, in_both, first - in_both as only_first, second - in_both as only_second
from counted
order by sort_key
"""
LEFT_OUT_SQL = f"""
with {ALIGNED},
alone as (
    select 'question' as what, 'first' as run, question as sort_key, question_id as id, text as name, organ from this.questions
    where question_id not in (select question_id from other.questions)
    union all
    select 'question', 'second', question, question_id, text, organ from other.questions
    where question_id not in (select question_id from this.questions)
    union all
    select 'handbook', 'first', handbook, handbook_id, center || ', ' || phase, organ from this.handbooks
    where handbook not in (select own from books)
    union all
    select 'handbook', 'second', handbook, handbook_id, center || ', ' || phase, organ from other.handbooks
    where handbook not in (select their from books)
)
select what, run, id, name, organ from alone order by what, run, sort_key
"""
SHARED_TABLE = TableSpec(
    "What the two runs have in common",
    (
        Column.text("what", "Records", words={"questions": "{questions}", "handbooks": "{handbooks}", "pairs": "pairs"}),
        Column.count("in_both", "In both"),
        Column.count("only_first", "Only in the first"),
        Column.count("only_second", "Only in the second"),
    ),
)
LEFT_OUT_TABLE = TableSpec(
    "What only one of the two runs has",
    (
        Column.text("what", "Kind", words={"question": "{Question}", "handbook": "{Handbook}"}),
        Column.text("run", "Only in", words={"first": "the first run", "second": "the second run"}),
        Column.text("id", "Id"),
        Column.text("name", "Text or name"),
        Column.named("organ", "{Organ}"),
    ),
    (
        "Items found in only one run are excluded. Two items are the same when their ids are; {handbooks} also when each is the "
        "only edition of one {handbook} in its run.",
    ),
    printed_rows=30,
)


@metric(
    sql=SHARED_SQL,
    table=SHARED_TABLE,
    glossary={"in both runs": "The same {question}, {handbook} or pair by its ids in two runs; only these are compared."},
    compares=True,
)
def shared(con: Connection) -> pd.DataFrame:
    """How many questions, handbooks and pairs two runs have in common, and how many only one of them has.

    Questions and handbooks are the same when their ids are. A pair is in both when its question and both its handbooks are,
    and each run has a record of it. Every comparison of two runs is limited to what is in both.

    Three rows, with `what` 'questions', 'handbooks' and 'pairs':
        what                     str
        in_both                  int
        only_first, only_second  int

    Takes a connection to both runs (audit.store.connection.open_two).
    """
    return frame(con, SHARED_SQL)


@metric(
    sql=LEFT_OUT_SQL,
    table=LEFT_OUT_TABLE,
    glossary={"excluded from a comparison": "{Questions} and {handbooks} that only one of the two runs has."},
    compares=True,
)
def left_out(con: Connection) -> pd.DataFrame:
    """Which questions and handbooks are in only one of two runs, and so are excluded from every comparison of the two.

    They are the same when their ids are. `shared` has the numbers, of pairs too.

    One row per question or handbook, handbooks before questions, the first run before the second, in release order:
        what   str, 'handbook' or 'question'
        run    str, 'first' or 'second': the one that has it
        id     str
        name   str, the question's text; the handbook's center and phase
        organ  str

    No row if neither run lacks anything. Takes a connection to both runs (audit.store.connection.open_two).
    """
    return frame(con, LEFT_OUT_SQL)
