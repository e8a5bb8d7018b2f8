"""Where a handbook disagrees with itself: each disagreement with its places side by side, one column a position."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.style import LABEL_WORDS
from audit.store.runs import Run
from pages._blinded.frame import escaped
from pages._blinded.scripts import script_path
from pages._shared.widgets import say

# More positions than this would be columns too narrow to read.
MAX_COLUMNS = 4
MAX_SHOWN = 50


def draw_self_disagreements(run: Run, places: pd.DataFrame) -> None:
    """Draw the disagreements of a frame of `within_handbook`, at most MAX_SHOWN; says so where there is none, or more."""
    groups = list(places.groupby("number", sort=False))
    if not groups:
        st.info(say(run, "None was found. Only statements that seem to be about the same thing were compared."))
    for _, group in groups[:MAX_SHOWN]:
        with st.container(border=True):
            _disagreement(run, group)
    if len(groups) > MAX_SHOWN:
        st.caption(f"The first {MAX_SHOWN} of {len(groups):,} are shown; the CSV file has all.")


def _disagreement(run: Run, group: pd.DataFrame) -> None:
    first = group.iloc[0]
    significance = f" · {escaped(first['significance'])} significance" if pd.notna(first["significance"]) else ""
    about = first["divergence_topic"] if pd.notna(first["divergence_topic"]) else "One thing, stated in several ways"
    st.markdown(f"**{escaped(about)}** · {escaped(LABEL_WORDS[first['label']])}{significance}")
    positions = list(group.groupby("position"))
    for start in range(0, len(positions), MAX_COLUMNS):
        row = positions[start : start + MAX_COLUMNS]
        for column, (_, same) in zip(st.columns(len(row)), row, strict=True):
            with column:
                _position(run, same)
    judge = f"Compared by {first['judge']}." if pd.notna(first["judge"]) else "Who compared them is not stated."
    st.caption(escaped(judge))


def _position(run: Run, same: pd.DataFrame) -> None:
    """The places that say the same: the value, then each quotation with its page."""
    if values := list(dict.fromkeys(same["value"].dropna())):
        st.markdown(f"**{escaped(values[0])}**")
    for _, statement in same.iterrows():
        st.text(f"“{statement['text']}”")
        page = f"Page {statement['page']}" if pd.notna(statement["page"]) else "Page not known"
        section = f", {statement['section']}" if pd.notna(statement["section"]) else ""
        if pd.isna(statement["section_id"]):
            st.caption(escaped(f"{page}{section}"))
        else:
            address = {"run": run.key, **_address(statement)}
            st.page_link(
                script_path("source"), label=escaped(f"{page}{section}"), icon=":material/description:", query_params=address
            )


def _address(statement: pd.Series) -> dict[str, str]:
    """The parameters with which the page *Source* opens at a place and marks it."""
    names = {"handbook": "handbook_id", "section": "section_id", "start": "start", "end": "end", "pdf_page": "page"}
    return {name: str(statement[column]) for name, column in names.items() if pd.notna(statement[column])}
