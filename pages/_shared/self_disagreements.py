"""Where handbooks disagree with themselves: what was checked, in a sentence, and each disagreement with its places."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from audit.charts.style import PLAIN_LABELS
from audit.metrics.within_handbook import was_read, within_handbook_counts
from audit.store.runs import Run
from audit.terms import counted
from pages._blinded.frame import escaped
from pages._blinded.scripts import script_path
from pages._shared.loaders import load
from pages._shared.widgets import listed, say

# More positions than this would be columns too narrow to read.
MAX_COLUMNS = 4
MAX_SHOWN = 50
NOBODY_CHECKED = (
    "Not checked: no model has compared passages within one {handbook}, so whether any {handbook} contradicts itself is unknown."
)
NOT_CHECKED = (
    "Not checked: no model has compared passages of this {handbook} with each other, so whether any of them contradict is "
    "unknown."
)
CHECKED = "{judge} compared passages of {some} of {all} with passages of the same {handbook}"
NONE_DIFFERS = CHECKED + ": of {pairs} pairs, none differs."
SOME_DIFFER = CHECKED + ". **{number}** of them {contradict} themselves, on {findings} {subjects}."


def within_line(run: Run) -> str:
    """How many handbooks of the run contradict themselves, or that nobody has checked: Markdown, one sentence or two."""
    counts = load(within_handbook_counts, run)
    read = counts[was_read(counts)]
    if read.empty:
        return say(run, NOBODY_CHECKED)
    number, findings = int((read["findings"] > 0).sum()), int(read["findings"].sum())
    return say(
        run,
        SOME_DIFFER if findings else NONE_DIFFERS,
        judge=listed(dict.fromkeys(read["judge"].dropna())) or "An unnamed judge",
        some=f"{len(read):,}", all=counted(run, "handbook", len(counts)), pairs=f"{read['compared'].sum():,}",
        number=f"{number:,}", contradict="contradicts" if number == 1 else "contradict", findings=f"{findings:,}",
        subjects="subject" if findings == 1 else "subjects",
    )  # fmt: skip


def draw_self_disagreements(run: Run, places: pd.DataFrame, names: Mapping[str, str] | None = None) -> None:
    """Draw the disagreements of a frame of `within_handbook`, at most MAX_SHOWN; `names`: say which handbook each is of."""
    groups = list(places.groupby("number", sort=False))
    for _, group in groups[:MAX_SHOWN]:
        with st.container(border=True):
            if names is not None:
                handbook_id = group["handbook_id"].iloc[0]
                st.page_link(
                    script_path("handbook"), label=escaped(names[handbook_id]), icon=":material/menu_book:",
                    query_params={"run": run.key, "handbook": handbook_id},
                )  # fmt: skip
            _disagreement(run, group)
    if len(groups) > MAX_SHOWN:
        st.caption(f"The first {MAX_SHOWN} of {len(groups):,} are shown; the CSV file has all.")


def _disagreement(run: Run, group: pd.DataFrame) -> None:
    first = group.iloc[0]
    significance = f" · {escaped(first['significance'])} significance" if pd.notna(first["significance"]) else ""
    about = first["divergence_topic"] if pd.notna(first["divergence_topic"]) else "One thing, stated in several ways"
    st.markdown(f"**{escaped(about)}** · {escaped(PLAIN_LABELS[first['label']])}{significance}")
    positions = list(group.groupby("position"))
    # A judge was shown two passages by these names, and may use them in its reasons
    called = ("Passage A", "Passage B") if len(group) == len(positions) == 2 else ()
    for start in range(0, len(positions), MAX_COLUMNS):
        row = positions[start : start + MAX_COLUMNS]
        for column, (position, same) in zip(st.columns(len(row)), row, strict=True):
            with column:
                if called:
                    st.caption(called[position == positions[1][0]])
                _position(run, same)
    judge = f"Compared by {first['judge']}." if pd.notna(first["judge"]) else "Who compared them is not stated."
    reason = f" {first['reasoning']}" if pd.notna(first["reasoning"]) else ""
    st.caption(escaped(f"{judge}{reason}"))


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
