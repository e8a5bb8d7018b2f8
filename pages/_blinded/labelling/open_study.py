"""The study that an annotator labels now, for the pages that show its items."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import streamlit as st

from annotation.label_store.assignments import OPEN_STATES
from annotation.label_store.studies import Study, StudyState, list_studies, study_progress
from pages._blinded.access import label_store
from pages._blinded.option_labels import distinct_labels

NO_STUDY = "There is no study for you to label now. The investigator who runs your study will tell you when there is."
PARAM, ITEM = "study", "item"
"""Parameters of the address: the study, and the item to open on the labelling board."""


def open_study(annotator: str) -> Study | None:
    """The only open study of an annotator, or the chosen one; None where there is none.

    At first it is the one in the address, else the one to go on with: a new study does not push itself before one half done.
    """
    studies = {study.study_id: study for study in list_studies(label_store(), annotator) if study.state in OPEN_STATES}
    if len(studies) < 2:
        return next(iter(studies.values()), None)
    linked = st.query_params.get(PARAM)
    named = next((study_id for study_id in studies if opaque_id(study_id) == linked), None)
    first = list(studies).index(named or _study_to_go_on(list(studies.values()), annotator))
    titled = distinct_labels(studies, lambda name: studies[name].title, numbered=True)
    chosen = st.selectbox("Study", list(studies), first, titled, key=f"study_to_label {linked}")
    return studies[chosen]


def opaque_id(study_id: str) -> str:
    """A study's id for the browser of an annotator: PIs choose ids such as `divergent-overused`, which say what is expected."""
    return sha256(study_id.encode()).hexdigest()[:12]


def _study_to_go_on(newest_first: Sequence[Study], annotator: str) -> str:
    """One that is begun and not finished, else one to begin, the oldest of several."""
    return min(reversed(newest_first), key=lambda study: _rank(study, annotator)).study_id


def _rank(study: Study, annotator: str) -> int:
    calibrating = study.state is StudyState.CALIBRATION
    rounds = study_progress(label_store(), study.study_id)
    own = next((part for part in rounds if part.annotator == annotator and part.calibration == calibrating), None)
    if own is None or not own.rated:
        return 1
    return 0 if own.rated < own.assignments else 2
