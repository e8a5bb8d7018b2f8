"""The frame of the pages around studies: heading, and a failure said in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from annotation.accounts import Account, Role
from annotation.label_store.studies import Study
from audit.errors import AuditError
from pages._basis.people import required
from pages._basis.text import escaped

STYLE = """<style>
.stMainBlockContainer { padding: 2.2rem 2.5rem 4rem; max-width: 1500px; }
[data-testid="stMetricValue"] { font-size: 1.9rem; }
</style>"""
"""Streamlit's wide layout leaves 5 rem at each side, which a narrow screen cannot spare."""


SYNTHETIC = (
    ":orange-badge[Synthetic data] Made by a simulator: no real {handbook}, {center} or patient stands behind it. "
    "Not for clinical use."
)


def notice(study: Study) -> None:
    """Say that a study's texts are made up, where they are. It is true of all of its items alike, and so tells of none."""
    if study.synthetic:
        words = {word: escaped(study.terms.get(word, word)) for word in ("handbook", "center")}
        st.caption(SYNTHETIC.format(**words))


def explain(error: AuditError) -> None:
    """Show a problem as the sentence it is."""
    st.error(escaped(error))


@contextmanager
def study_page(title: str, lead: str, *roles: Role) -> Iterator[Account]:
    """Draw the frame and hand the account of this session to the body; an AuditError in the body is explained, not traced."""
    st.html(STYLE)
    st.title(title, anchor=False)
    if lead:
        st.markdown(lead)
    try:
        yield required(*roles)
    except AuditError as error:
        explain(error)
