"""Themes that rise or fall from this run to another one."""

from __future__ import annotations

import streamlit as st

from audit.metrics.themes_moved import themes_moved
from audit.store.runs import Run
from audit.terms import display_name
from audit.themes.taxonomy import Taxonomy
from pages._shared.loaders import built_taxonomy, load_two, runs
from pages._shared.pickers import pick_one
from pages._shared.tables import table
from pages._shared.widgets import counts, footer

HEADINGS = {
    "name": "Theme", "moves": "There it", "questions": "Questions", "first": "Disagreeing here", "second": "Disagreeing there",
    "share_first": "Of all disagreement here", "share_second": "Of all there", "change": "Change",
}  # fmt: skip
SHARES = ("share_first", "share_second", "change")


def moved_section(run: Run, taxonomy: Taxonomy) -> None:
    """What rises and falls, where another run shares themes with this one; nothing where none does."""
    ids = {theme.theme_id for theme in taxonomy.themes}
    others = {other.key: other for other in runs() if other.key != run.key and _shares(other, ids)}
    if not others:
        return
    st.header("Rising or falling in another run", anchor=False)
    key = pick_one(
        "Compare with", list(others), "against", format_func=lambda name: f"{others[name].title} ({name})", placeholder="A run"
    )
    if key is None:
        return
    other = others[key]
    frame = load_two(themes_moved, run, other, taxonomy=taxonomy, against=built_taxonomy(other))
    if frame.empty:
        counts(run, "The two runs have no disagreeing pair in common.")
        return
    table(frame.assign(name=frame["name"].map(display_name)), "moved_table", HEADINGS, SHARES)
    counts(run, "Only pairs that both runs have. A theme rises or falls where the 95 % interval of its change leaves out 0.")
    footer(frame, "themes-moved", run, "themes_moved")


def _shares(other: Run, ids: set[str]) -> bool:
    taxonomy = built_taxonomy(other)
    return taxonomy is not None and any(theme.theme_id in ids for theme in taxonomy.themes)
