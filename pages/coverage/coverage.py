"""Coverage: the share of each organ's questions that each handbook does not address. A click on a row opens the handbook."""

import streamlit as st

from audit.charts.coverage import ORDERS, coverage_figure, coverage_rows
from audit.charts.style import handbook_names
from audit.metrics.case_mix import handbook_case_mix
from audit.metrics.coverage import coverage
from audit.metrics.handbooks import handbooks
from audit.terms import fill
from pages._blinded.option_labels import distinct_labels
from pages._shared.case_mix import case_mix_section
from pages._shared.explore import RowFilter
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, pick_many
from pages._shared.widgets import clicked_point, counts, footer, go_to, say

LEAD = "The percentage of questions that {a_handbook} does not address; darker means more. Click a row to open the {handbook}."
ALT = "Percentage of questions not addressed, per {handbook} and {organ} of the question."
ORDER_LABELS = {"organ": "{organ}", "absence": "not addressed", "center": "{center}", "name": "name"}

with page("Coverage", LEAD) as run:
    cells, overall = load(coverage, run), load(handbooks, run)
    several_organs = overall["organ"].nunique() > 1
    left, right = st.columns([3, 2])
    with left:
        order = choose(
            "Order by", ORDERS if several_organs else ORDERS[1:], "order", format_func=lambda name: fill(run, ORDER_LABELS[name])
        )
    with right:
        organs = sorted(overall["organ"].unique())
        chosen_organs = pick_many(fill(run, "{Handbooks} of {organ}"), organs, "of_organ") if several_organs else []
    selected = overall[overall["organ"].isin(chosen_organs)] if chosen_organs else overall
    rows = coverage_rows(selected, order)
    figure = coverage_figure(rows, cells, run.term("handbook"))
    names = handbook_names(rows)

    # A chart cannot be clicked with the keyboard, so the handbooks can be opened from a list as well.
    to_open = st.selectbox(
        say(run, "Open {a_handbook} (or click its row)"),
        sorted(names, key=names.__getitem__),
        index=None,
        format_func=distinct_labels(names, names.__getitem__),
        key="to_open",
        placeholder=fill(run, "Choose {a_handbook}"),
    )
    clicked = clicked_point(figure, "coverage", fill(run, ALT))
    if opened := to_open or clicked:
        go_to("handbook", run, handbook=str(opened))
    if several_organs:
        counts(run, "Grey: {questions} about another {organ}, which {a_handbook} need not answer. Hatched: not asked.")
    counts(
        run,
        "{n} {handbooks}. Of {asked} questions asked of them, {absent} are not addressed.",
        n=len(rows),
        absent=f"{rows['absent'].sum():,}",
        asked=f"{rows['asked'].sum():,}",
    )
    footer(cells[cells["handbook_id"].isin(rows["handbook_id"])], "coverage", run, "coverage", "handbooks")
    mix = load(handbook_case_mix, run)
    opens = RowFilter("handbook_id", "handbook")
    case_mix_section(run, handbook_case_mix, mix, mix["handbook_id"].map(handbook_names(overall)), opens, "handbook")
