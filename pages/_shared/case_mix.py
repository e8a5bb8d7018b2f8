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
FOUND = "Clearly different from the others: {n} of {total} {many}. About one in twenty of those named here is named by chance."
NONE = "None of the {total} {many} differs clearly from the others: chance alone could explain the order of the rates above."
ALIKE = "The differences between the {many} are no larger than chance, so each of them could have any rank."
SHOWN = ("disagreeing", "expected", "ratio", "shrunken", "rank", "flag")


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
    st.markdown(say(run, FOUND if n else NONE, n=n, total=total, many=many))
    if own["shrunken"].dropna().nunique() == 1:
        counts(run, ALIKE, many=many)
    columns = [column for column in metric.table.pick(run) if column.name in SHOWN]
    with st.expander("As a table"):
        name = metric.table.pick(run, rows.column)[0]
        table(own.assign(**{rows.column: own["name"]}), f"{metric.name}_table", [name, *columns])
    footer(frame, metric.name.replace("_", "-"), run, metric.name)
