"""What people preferred in a head-to-head study, as tables of a page. It names the systems, so it is for PIs."""

from __future__ import annotations

import streamlit as st

from annotation.label_store.engine import LabelStore
from annotation.studies.head_to_head import (
    COUPLES_TABLE,
    STRENGTHS_TABLE,
    comparisons_of,
    couples_frame,
    side_sentence,
    strengths_frame,
    system_names,
)
from audit.exports.table_model import with_population_column
from pages._blinded.frame import escaped
from pages._shared.widgets import csv_button, table


def preference_tables(store: LabelStore, study_id: str) -> None:
    """Who was preferred to whom, the strengths of the systems, and whether the side of the screen mattered."""
    comparisons = comparisons_of(store, study_id)
    if comparisons.empty:
        st.caption("No item of the study has been rated yet.")
        return
    names = system_names(store, study_id)
    for key, spec, frame in (
        ("couples", COUPLES_TABLE, couples_frame(comparisons, names)),
        ("strengths", STRENGTHS_TABLE, strengths_frame(comparisons, names)),
    ):
        table(frame, key, spec.columns, decimals=2)
        st.caption(escaped(" ".join(spec.notes)))
        csv_button(with_population_column(frame, spec.population), key, f"{study_id}_{key}.csv")
    st.caption(escaped(side_sentence(comparisons)))
