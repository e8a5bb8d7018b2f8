"""The study that an annotator labels now, for the pages that show its items."""

from __future__ import annotations

import streamlit as st

from annotation.label_store.assignments import OPEN_STATES
from annotation.label_store.studies import Study, list_studies
from pages._blinded.access import label_store

NO_STUDY = "There is no study for you to label now. The investigator who runs your study will tell you when there is."
PARAM, ITEM = "study", "item"
"""Parameters of the address: the study, and the item to open on the labelling board."""


def open_study(annotator: str) -> Study | None:
    """The only open study of an annotator, or the chosen one, at first the one in the address; None where there is none."""
    studies = {study.study_id: study for study in list_studies(label_store(), annotator) if study.state in OPEN_STATES}
    if len(studies) < 2:
        return next(iter(studies.values()), None)
    linked = st.query_params.get(PARAM)
    first = list(studies).index(linked) if linked in studies else 0
    chosen = st.selectbox("Study", list(studies), first, lambda name: studies[name].title, key=f"study_to_label {linked}")
    return studies[chosen]
