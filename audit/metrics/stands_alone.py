"""The questions on which a handbook disagrees with most of the others that answer."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.queries.lookup import handbook_number
from audit.stats.intervals import with_wilson
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec

LEAST = 2
"""With fewer others compared there is no majority to stand alone against."""
SQL = f"""
with own as (
    select question, disagrees from judged_pairs join handbooks h on h.handbook_id = $handbook_id
    where present and h.handbook in (handbook_a, handbook_b)
)
select question, question_id, text, organ,
       (select coalesce(string_agg(topic, ', ' order by topic), '') from topics where topics.question = q.question) as topics,
       count(*)::integer as compared, (count(*) filter (disagrees))::integer as disagreeing,
       disagreeing / compared as share
from own join questions q using (question)
group by all
having compared >= {LEAST} and 2 * disagreeing > compared
"""
TABLE = TableSpec(
    "{Questions} on which one {handbook} disagrees with most others",
    (
        Column.text("text", "{Question}"), Column.text("topics", "{Topics}"),
        Column.count("disagreeing", "Others that it disagrees with", "{handbooks}"),
        Column.count("compared", "Others that answer", "{handbooks}"), Column.share("share", "Share"),
    ),
    (
        f"Only {{questions}} on which at least {LEAST} others answer and were compared with it; most is more than half of them.",
        IntervalNote(Population.HANDBOOKS.as_judged),
    ),
)  # fmt: skip


@metric(
    sql=SQL,
    table=TABLE,
    glossary={"stands alone": "A {handbook} whose answer to {a_question} disagrees with those of most others that answer it."},
)
def stands_alone(con: Connection, handbook_id: str) -> pd.DataFrame:
    """Questions on which a handbook disagrees with more than half of the others that answer and were compared with it.

    One row per such question, the most certain first (the lower end of the interval, then release order):
        question                int, number; question_id, text, organ, topics (joined by commas)  str
        compared, disagreeing   int, other handbooks; at least LEAST were compared
        share                   float in (0.5, 1], disagreeing / compared
        share_low, share_high   95 % Wilson over these handbooks

    Raises NotInRunError when the handbook is unknown.
    """
    handbook_number(con, handbook_id)
    table = with_wilson(frame(con, SQL, {"handbook_id": handbook_id}), "share", "disagreeing", "compared")
    return table.sort_values(["share_low", "question"], ascending=[False, True], ignore_index=True)
