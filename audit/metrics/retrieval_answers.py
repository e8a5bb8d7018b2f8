"""Whether the run's answers rest on the section that holds them."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from audit.metrics.question_shares import share_columns
from audit.store.connection import Connection, frame

SQL = """
with known as (
    select question, handbook, any_value(gold) as gold from trials where len(gold) > 0 group by question, handbook
)
select question, absent, unread_reason is not null as unread, gold, retrieval::varchar as retrieval
from known join answers using (question, handbook)
order by question, handbook
"""
FROM_GOLD, FROM_OTHER, NOTHING = "from gold", "from elsewhere", "cites nothing"
STATES = (FROM_GOLD, FROM_OTHER, NOTHING, "absent", "unread")


def retrieval_answers(con: Connection) -> pd.DataFrame:
    """What became of the questions whose answer is known to stand in the handbook: the share answered from the gold section.

    Over the pairs of question and handbook of which some trial knows the gold sections. from gold: the answer cites a passage of
    a gold section; from elsewhere: it cites others only; cites nothing: no citation of it is known; absent: it says that the
    handbook does not address the question, although it does; unread: the generator's reply could not be read.

    One row per kind of answer:
        answer                 str
        count, of              int, answers, and all answers with known gold
        value                  float in [0, 1], count / of; NaN where of is 0
        value_low, value_high  95 % interval, questions resampled, each with all its handbooks
        interval               str, how the interval was made

    A question that was not put to the handbook counts nowhere.
    """
    table = frame(con, SQL)
    states = pd.Series([_state(row) for row in table.to_dict("records")], dtype=object, index=table.index)
    counts = table.assign(pairs=1)
    everything = pd.Series(True, index=table.index)
    return pd.DataFrame([{"answer": name, **share_columns(counts, states == name, everything)} for name in STATES])


def _state(row: dict[Any, Any]) -> str:
    if row["unread"]:
        return "unread"
    if row["absent"]:
        return "absent"
    cited = _cited(row["retrieval"])
    return NOTHING if not cited else FROM_GOLD if cited & set(row["gold"]) else FROM_OTHER


def _cited(retrieval: Any) -> set[str]:
    """The sections that an answer cites and was given."""
    told = json.loads(retrieval) if isinstance(retrieval, str) else {}
    listed = told.get("citations") if isinstance(told, dict) else None
    records = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return {str(each["section_id"]) for each in records if each.get("known") is not False and each.get("section_id")}
