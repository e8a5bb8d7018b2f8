"""How far annotators marked the same sentences, on the Agreement page."""

from __future__ import annotations

import streamlit as st

from annotation.agreement.rationale_overlap import OVERLAP_TABLE
from annotation.label_store.engine import LabelStore
from annotation.studies.marked_items import overlap_of_study
from pages._blinded.frame import escaped
from pages._shared.widgets import csv_button, table


def marked_sentences(store: LabelStore, study_id: str) -> None:
    """The overlap of the sentences that annotators marked, with its definition; nothing where nobody marked any."""
    overlap = overlap_of_study(store, study_id)
    if not overlap[["one", "n"]].to_numpy().any():
        return
    with st.expander(OVERLAP_TABLE.title):
        renamed = overlap.rename(columns={"low": "value_low", "high": "value_high"})
        table(renamed, "marked_sentences", OVERLAP_TABLE.columns)
        st.caption(escaped(" ".join(OVERLAP_TABLE.notes)))
        csv_button(overlap, "marked_sentences", f"{study_id}_marked_sentences.csv")
