"""Disagreements: the clinician's workbench. A ranked list of pairs, and next to it the pair that is open."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.style import handbook_names
from audit.metrics.disagreements import disagreements
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pair_list import (
    PARAMS,
    PER_PAGE,
    close_when_changed,
    link_for_a_pair,
    link_for_all,
    opened_pair,
    page_number,
    page_picker,
    pair_list,
    pick_filters,
    step_buttons,
)
from pages._shared.side_by_side import side_by_side
from pages._shared.widgets import counts, footer, link, say

LEAD = "Where {handbooks} disagree, the most serious first. Click a row to read both answers side by side."


def pair_view(run: Run, table: pd.DataFrame, names: dict[str, str]) -> None:
    """The open pair: previous and next, links, and both answers."""
    question_id, a, b = opened_pair(table)
    judged = load(pair, run, question_id=question_id, handbook_a=a, handbook_b=b)
    with st.container(horizontal=True, vertical_alignment="center"):
        step_buttons(table, (question_id, a, b))
        link("question", "See all {handbooks} on this question", run, icon=":material/grid_on:", question=question_id)
        link_for_a_pair(run, question_id, a, b)
    side_by_side(run, judged, names)


with page("Disagreements", LEAD) as run:
    names = handbook_names(load(handbook_list, run))
    filters = pick_filters(run, names)
    close_when_changed("filters", filters, (*PARAMS, "page"))
    table = load(disagreements, run, filters=filters, limit=PER_PAGE, offset=(page_number() - 1) * PER_PAGE)
    if table.empty:
        st.info(say(run, "No pair matches these filters. Remove a filter, or choose more labels."))
        st.stop()
    left, right = st.container(key="workbench").columns([4, 7], gap="medium")
    with left:
        total = int(table["total"].iloc[0])
        counts(
            run,
            "**{total}** pairs match; {first} to {last} are shown.",
            total=f"{total:,}",
            first=table["rank"].iloc[0],
            last=table["rank"].iloc[-1],
        )
        pair_list(run, table, names)
        page_picker(total)
        link_for_all(run)
        footer(table.drop(columns="total"), "disagreements", run, "disagreements")
    with right:
        pair_view(run, table, names)
