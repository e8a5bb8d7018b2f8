"""How well a study is blinded: what the style of its answers gives away, and what raters answered to the exit question."""

from __future__ import annotations

import streamlit as st

from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study
from annotation.studies.exit_answers import TABLE as EXIT_TABLE
from annotation.studies.exit_answers import exit_answers, exit_sentence
from annotation.studies.leakage import NOT_MEASURED, TABLE, leakage_of_study, record_leakage, recorded_leakage
from annotation.studies.verdict_store import sample_digest
from pages._blinded.access import now
from pages._blinded.frame import escaped
from pages._shared.loaders import loaded_runs
from pages._shared.widgets import csv_button, table
from pages.studies.study.forms import rerun_with_message

MEASURING = "Training a classifier on answers to other questions"


def blinding_section(store: LabelStore, study: Study) -> None:
    """Both figures, with their tables, and the button that measures the first; nothing where names are shown on purpose."""
    if study.names_shown:
        st.caption("Raters see whose the answers are, so nothing is blinded.")
        return
    measured = recorded_leakage(store, study.study_id)
    st.markdown(escaped(measured.sentence() if measured else NOT_MEASURED))
    digest = sample_digest(store, study.study_id)
    if digest is not None and st.button("Measure what style gives away", key="leakage"):
        with st.spinner(MEASURING):
            run = next((run for run in loaded_runs() if run.digest == digest), None)
            record_leakage(store, study.study_id, leakage_of_study(store, study, run), now())
        rerun_with_message("What style gives away was measured, and is kept in the study's ledger.")
    if measured:
        table(measured.frame(), "leakage_table", TABLE.columns)
        st.caption(escaped(" ".join(TABLE.notes)))
        csv_button(measured.frame(), "leakage_table", f"{study.study_id}_leakage.csv")
    st.markdown(escaped(exit_sentence(store, study.study_id)))
    answers = exit_answers(store, study.study_id)
    if len(answers):
        table(answers, "exit_answers", EXIT_TABLE.columns)
        st.caption(escaped(" ".join(EXIT_TABLE.notes)))
        csv_button(answers, "exit_answers", f"{study.study_id}_exit_answers.csv")
