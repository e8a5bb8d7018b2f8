"""The questions and handbooks that only one of two runs has, so that a comparison says what it leaves out."""

from __future__ import annotations

import pandas as pd

from audit.store.connection import Connection, frame

COMPARES = True
SQL = """
with alone as (
    select 'question' as what, 'first' as run, question as place, question_id as id, text as name, organ from this.questions
    where question_id not in (select question_id from other.questions)
    union all
    select 'question', 'second', question, question_id, text, organ from other.questions
    where question_id not in (select question_id from this.questions)
    union all
    select 'handbook', 'first', handbook, handbook_id, center || ', ' || phase, organ from this.handbooks
    where handbook_id not in (select handbook_id from other.handbooks)
    union all
    select 'handbook', 'second', handbook, handbook_id, center || ', ' || phase, organ from other.handbooks
    where handbook_id not in (select handbook_id from this.handbooks)
)
select what, run, id, name, organ from alone order by what, run, place
"""


def left_out(con: Connection) -> pd.DataFrame:
    """Which questions and handbooks stand in only one of two runs: a comparison of the two says nothing of them.

    They are the same when their ids are. `shared` has the numbers, of pairs too.

    One row per question or handbook, handbooks before questions, the first run before the second, in release order:
        what   str, 'handbook' or 'question'
        run    str, 'first' or 'second': the one that has it
        id     str
        name   str, the question's text; the handbook's center and phase
        organ  str

    No row where both runs have all. Takes a connection to both runs (audit.store.connection.open_two).
    """
    return frame(con, SQL)
