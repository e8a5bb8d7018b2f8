"""Protocol: how items are labelled; the text of annotation/PROTOCOL.md."""

import streamlit as st

from annotation.studies.accounts import Role
from pages._blinded.frame import study_page
from pages._blinded.labelling import protocol_text

with study_page("Protocol", "", Role.ANNOTATOR, Role.ADJUDICATOR, Role.PI), st.container(width=900):
    st.markdown(protocol_text())
