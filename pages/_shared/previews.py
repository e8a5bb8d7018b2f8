"""The banner of a run that rules made in place of a model, and the notice that its charts and files carry."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from audit.previews import preview_notice
from audit.store.runs import Run
from pages._blinded.frame import escaped

NOTICE = "notice of the runs on this page"
"""In the session, because a fragment and a download are drawn without the page around them."""


def preview_banner(place: DeltaGenerator, run: Run) -> None:
    """Say at the top of a page what rules did in place of a model; charts and files of the page will say it too."""
    notice = st.session_state[NOTICE] = preview_notice(run.manifest)
    if notice:
        place.warning(f"**{escaped(notice)}.**", icon=":material/rule:")


def banner_of_other_run(run: Run, other: Run) -> None:
    """The same for a second run that the page compares the first with."""
    st.session_state[NOTICE] = preview_notice(run.manifest, other.manifest)
    if notice := preview_notice(other.manifest):
        st.warning(f"{escaped(other.title)} ({escaped(other.key)}): **{escaped(notice)}.**", icon=":material/rule:")


def banner_of_rules(generator: str, judge: str) -> None:
    """The same for what the page itself has rules do, whatever made the run: `generator` and `judge` as a manifest names them."""
    notice = preview_notice({"generator": generator, "judge": judge})
    if st.session_state.get(NOTICE) != notice:  # the banner of the run may say it already
        st.warning(f"**{escaped(notice)}.**", icon=":material/rule:")
    st.session_state[NOTICE] = notice


def no_banner() -> None:
    """The page is about no run that rules made: its charts and files carry no notice of a page seen before."""
    st.session_state[NOTICE] = ""


def current_notice() -> str:
    """The notice of the page that is being drawn; empty where there is none."""
    return str(st.session_state.get(NOTICE, ""))
