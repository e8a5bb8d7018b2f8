"""Organs: label shares and the four rates, by the organ of the question."""

import streamlit as st

from audit.charts.label_shares import share_heatmap
from audit.charts.rates import AUDIT_RATES, rate_dots
from audit.metrics.organs import organs
from audit.terms import display_name
from audit.vocabulary import LABELS, Label
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.tables import table
from pages._shared.terms import fill
from pages._shared.widgets import chart, counts, footer

ALL = "(all)"
BASES: dict[str, tuple[str, list[Label]]] = {
    "present": ("pairs in which both answer", [label for label in LABELS if label is not Label.ABSENT]),
    "scored": ("all pairs with a verdict", list(LABELS)),
}

with page("By {organ}", "Does advice differ more in one {organ} than in another? Rows are the {organ} of the question.") as run:
    frame = load(organs, run)
    everything = f"all {run.term('organ', 2)}"
    shown_frame = frame.assign(organ=frame["organ"].replace(ALL, everything).map(display_name))

    st.header("How often they disagree", anchor=False)
    figure = rate_dots(shown_frame, "organ", AUDIT_RATES, overall=everything)
    chart(figure, "organ_rates", fill(run, "The four rates per {organ}, with 95 % intervals."))
    counts(run, "Dots are shares, lines their 95 % intervals, the dashed line the whole run. Each panel has its own scale.")

    st.header("What the judge said", anchor=False)
    base = choose("Shares of", list(BASES), "shares_of", format_func=lambda name: BASES[name][0])
    words, shown_labels = BASES[base]
    chart(share_heatmap(shown_frame, "organ", shown_labels, words), "organ_labels", fill(run, "Share of each label per {organ}."))
    counts(
        run,
        "{present} pairs in which both {handbooks} answer, of {scored} with a verdict; {unscored} unscored pairs count nowhere.",
        **{name: f"{frame[name].iloc[-1]:,}" for name in ("present", "scored", "unscored")},
    )  # fmt: skip

    table(frame, "organ_table", organs.table.pick(run), rows=20)
    footer(frame, "organs", run, "organs")
