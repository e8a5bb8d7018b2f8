"""Rubric for those who label, and the whole protocol for a PI: the text of annotation/PROTOCOL.md."""

import streamlit as st

from annotation.label_store.assignments import OPEN_STATES
from annotation.label_store.studies import list_studies
from annotation.schemes import SCHEMES
from annotation.studies.accounts import Role
from pages._blinded.access import current_account, label_store
from pages._blinded.frame import study_page
from pages._blinded.labelling import annotators_text, protocol_text

account = current_account()
is_pi = account is not None and account.role is Role.PI
with (
    study_page("Protocol" if is_pi else "Rubric", "", Role.ANNOTATOR, Role.ADJUDICATOR, Role.PI) as reader,
    st.container(width=900),
):
    own = [study for study in list_studies(label_store(), reader.username) if study.state in OPEN_STATES]
    schemes = {study.scheme for study in own} or SCHEMES.values()
    st.markdown(protocol_text() if reader.role is Role.PI else annotators_text(schemes))
