"""*Centers* and *Coverage*: disagreement compared with that expected from the answered questions, as funnel and table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.funnel import funnel
from audit.metrics import Metric
from audit.store.runs import Run
from audit.terms import fill
from pages._shared.explore import RowFilter, clickable_rates
from pages._shared.widgets import counts, footer, say, table

TITLE = "More or less disagreement than expected"
MEANING = (
    "Answering many disputed {questions} leads to many disagreements. Each dot is one {one}: its number of "
    "disagreeing pairs, divided by the number expected if it disagreed as often as the others do on the same {questions}. If all "
    "were equal, nearly all dots would lie between the lines. Click a dot to read its disagreements."
)
FOUND = (
    "More different from the others than chance allows: {n} of {total} {many}. In a run where none differs, one is marked "
    "one time in twenty."
)
NONE = "No {one} differs from the others more than chance allows, so none of the {total} has a rank."
SHOWN = ("disagreeing", "expected", "alone", "ratio", "shrunken", "rank", "flag")
RANKING = ("rank", "flag")
"""Left out where nothing stands out: an order that is not known is not drawn."""


def case_mix_section(run: Run, metric: Metric[...], frame: pd.DataFrame, names: pd.Series, rows: RowFilter, word: str) -> None:
    """The funnel, what stands out in a sentence, and the table.

    frame  that of `metric` with a column of the ids that `rows` opens; names  what a reader calls its rows
    word   handbook or center
    """
    if frame["ratio"].notna().sum() < 2:
        return
    own = frame.assign(name=names)
    one, many = run.term(word), run.term(word, 2)
    st.header(fill(run, TITLE), anchor=False)
    counts(run, MEANING, one=one)
    figure = funnel(own, "name", opens=rows.column)
    alt = f"Observed over expected disagreements of each {one}, by how many are expected, with the lines of a funnel."
    clickable_rates(run, figure, f"{metric.name}_funnel", alt, rows)
    n, total = int((own["flag"] != "").sum()), len(own)
    st.markdown(say(run, FOUND if n else NONE, n=n, total=total, one=one, many=many))
    columns = [column for column in metric.table.pick(run) if column.name in SHOWN and (n or column.name not in RANKING)]
    with st.expander("As a table"):
        name = metric.table.pick(run, rows.column)[0]
        table(own.assign(**{rows.column: own["name"]}), f"{metric.name}_table", [name, *columns])
    footer(frame, metric.name.replace("_", "-"), run, metric.name)
