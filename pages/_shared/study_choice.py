"""The study that the pages about studies show: chosen once, named in the address, and kept from page to page."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from annotation.label_store.studies import Study
from pages._blinded.frame import escaped
from pages._blinded.labelling.open_study import PARAM

LAST_STUDY = "last study seen"
WIDGET = "study_chosen"
NEW_STUDY_OPEN = "the fields of a new study are open"


def pick_study(studies: Mapping[str, Study]) -> Study:
    """The study in the address, else the one seen last, else the newest; `studies`: those that the page has, newest first.

    Where the page cannot show the study of the session, it shows the newest and keeps the session's for other pages.
    """
    linked = st.query_params.get(PARAM)
    wanted: str | None = linked or st.session_state.get(LAST_STUDY)
    shown = wanted if wanted is not None and wanted in studies else next(iter(studies))
    if linked and linked not in studies:
        st.warning(f"The address names the study {escaped(linked)}, which this page does not have. It shows another one.")
    elif wanted in (None, shown):
        remember_study(shown)
    st.session_state[WIDGET] = shown
    st.selectbox("Study", list(studies), format_func=lambda key: f"{studies[key].title} ({key})", key=WIDGET, on_change=_chosen)
    return studies[shown]


def remember_study(study_id: str) -> None:
    """Show this study from now on, on every page about studies."""
    st.session_state[LAST_STUDY] = study_id
    if st.query_params.get(PARAM) != study_id:
        st.query_params[PARAM] = study_id


def _chosen() -> None:
    remember_study(st.session_state[WIDGET])
