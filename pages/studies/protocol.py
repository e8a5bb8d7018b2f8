"""Protocol: how items are labelled, word for word as the project keeps it."""

from pathlib import Path

import streamlit as st

import annotation
from annotation.accounts import Role
from pages._basis.frame import study_page

PROTOCOL = Path(annotation.__file__).with_name("PROTOCOL.md")

with study_page("Protocol", "", Role.ANNOTATOR, Role.ADJUDICATOR, Role.PI), st.container(width=900):
    st.markdown(PROTOCOL.read_text(encoding="utf-8").partition("\n")[2])
