"""The menu: which pages there are, in which group, under the run's own words."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages._shared.pickers import current_run
from pages._shared.words import title_of

MENU_SEEN = "the menu was drawn"
PAGES = {
    "Start": [("overview", "Overview"), ("runs", "Runs"), ("glossary", "Glossary")],
    "Disagreement": [
        ("disagreements", "Disagreements"),
        ("question", "Question"),
        ("organs", "organs"),
        ("topics", "Topics"),
        ("centers", "centers"),
    ],
    "Coverage": [("coverage", "Coverage"), ("handbook", "handbook")],
}


def menu() -> dict[str, list[StreamlitPage]]:
    """Every page by group. A small-lettered title is a word that the run may have renamed."""
    st.session_state[MENU_SEEN] = True
    return {
        group: [st.Page(f"pages/{script}.py", title=_title(title), default=script == "overview") for script, title in scripts]
        for group, scripts in PAGES.items()
    }


def _title(title: str) -> str:
    if title[0].isupper():
        return title
    run = current_run()
    return title_of(run, title) if run else title.capitalize()
