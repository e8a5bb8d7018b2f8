"""Tab *Within one handbook*: where handbooks contradict themselves, one row for each finding."""

from __future__ import annotations

import streamlit as st

from audit.metrics.within_handbook import within_handbook
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.self_disagreements import draw_self_disagreements, within_line
from pages._shared.widgets import footer


def within_one(run: Run, names: dict[str, str]) -> None:
    """What was checked, in a sentence, and every finding with its quotes; each page number opens the source."""
    st.markdown(within_line(run))
    frame = load(within_handbook, run)
    draw_self_disagreements(run, frame, names)
    footer(frame, "within-handbook", run, "within_handbook", "within_handbook_counts")
