"""The notice in charts and files of a page that no model has read what the run shows, and their source."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from audit.previews import preview_notice
from audit.store.runs import Run
from pages._blinded.frame import escaped

NOTICE = "notice of the runs on this page"
"""In the session, because a fragment and a download are drawn without the page around them."""

SOURCE = "source of the figures on this page"
COUNTED = ("handbook", "question", "pair")


def preview_banner(container: DeltaGenerator, run: Run) -> None:
    """The notice at the top of a page that no model has read what it shows; charts and files of the page repeat it."""
    notice = st.session_state[NOTICE] = preview_notice(run.manifest)
    st.session_state[SOURCE] = source_of(run)
    if notice:
        container.warning(f"**{escaped(notice)}.**", icon=":material/rule:")


def banner_of_other_run(run: Run, other: Run) -> None:
    """The same for a second run that the page compares the first with."""
    st.session_state[NOTICE] = preview_notice(run.manifest, other.manifest)
    st.session_state[SOURCE] = f"{source_of(run)} Compared with {source_of(other)}"
    if notice := preview_notice(other.manifest):
        st.warning(f"{escaped(other.title)} ({escaped(other.key)}): **{escaped(notice)}.**", icon=":material/rule:")


def no_banner() -> None:
    """Clear the notice and source of the previous page, for a page without such a run."""
    st.session_state[NOTICE] = st.session_state[SOURCE] = ""


def current_notice() -> str:
    """The notice of the page that is being drawn; empty where there is none."""
    return str(st.session_state.get(NOTICE, ""))


def source_of(run: Run) -> str:
    """The counts of a run when it was loaded, and its name: the source line of a saved figure."""
    totals = run.report.get("totals", {})
    counts = {word: int(totals.get(word, {}).get("loaded", 0)) for word in COUNTED}
    n = ", ".join(f"{count:,} {run.term(word, count)}" for word, count in counts.items() if count)
    made = " Synthetic data, not for use in practice." if run.synthetic else ""
    return (f"Run of {n}. " if n else "") + f"Source: {run.title} ({run.key}).{made}"


def current_source() -> str:
    """The source of what the page that is being drawn shows."""
    return str(st.session_state.get(SOURCE, ""))
