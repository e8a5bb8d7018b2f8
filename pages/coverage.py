"""Coverage: how much of each organ's questions each handbook leaves out. A click on a row opens the handbook."""

import streamlit as st

from audit.charts.coverage import ORDERS, coverage_figure, coverage_rows
from audit.charts.style import handbook_names
from audit.metrics.coverage import coverage
from audit.metrics.handbooks import handbooks
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, pick_many
from pages._shared.terms import fill, say
from pages._shared.widgets import clicked_point, counts, footer, go_to

LEAD = (
    "Each number is the percentage of questions that {a_handbook} does not address. "
    "The stronger the blue, the more it answers; hatched, it was not asked."
)
ALT = "Percentage of questions left out, per {handbook} and {organ} of the question."
WORDS = {"organ": "{organ}, then silence", "absence": "silence", "center": "{center}", "name": "name"}

with page("Coverage", LEAD) as run:
    cells, overall = load(coverage, run), load(handbooks, run)
    several = overall["organ"].nunique() > 1
    left, right = st.columns([3, 2])
    with left:
        order = choose("Order by", ORDERS if several else ORDERS[1:], "order", format_func=lambda name: fill(run, WORDS[name]))
    with right:
        organs = sorted(overall["organ"].unique())
        only = pick_many(fill(run, "{Handbooks} of {organ}"), organs, "of_organ") if several else []
    picked = overall[overall["organ"].isin(only)] if only else overall
    rows = coverage_rows(picked, order)
    figure = coverage_figure(rows, cells, run.term("handbook"))
    names = handbook_names(rows)

    to_open = st.selectbox(
        say(run, "Open {a_handbook} (or click its row)"), sorted(names, key=names.__getitem__), index=None,
        format_func=names.__getitem__, key="to_open",
        placeholder=fill(run, "Choose {a_handbook}"),
    )  # fmt: skip
    clicked = clicked_point(figure, "coverage", fill(run, ALT))
    if opened := to_open or clicked:
        go_to("handbook", run, handbook=str(opened))
    counts(
        run, "{n} {handbooks}; {absent} of {asked} answers do not address their question.",
        n=len(rows), absent=f"{rows['absent'].sum():,}", asked=f"{rows['asked'].sum():,}",
    )  # fmt: skip
    footer(cells[cells["handbook_id"].isin(rows["handbook_id"])], "coverage", run, "coverage", "handbooks")
