"""The frame of the pages around studies: heading, and a failure said in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from annotation.label_store.studies import Study
from annotation.studies.accounts import Account, Role
from audit.errors import AuditError
from pages._blinded.access import require_role
from pages._blinded.text import escaped
from pages._blinded.theme import rerun_on_theme_change

STYLE = """<style>
.stMainBlockContainer { padding: 2.2rem 2.5rem 4rem; max-width: 1500px; }
[data-testid="stMetricValue"] { font-size: 1.9rem; }
.stApp [data-testid="stCaptionContainer"], .stApp [data-has-shortcut] kbd { color: var(--quiet); opacity: 1; }
.stApp h2 { padding-top: 0.5rem; }
.stApp a:focus-visible { outline: 2px solid light-dark(#0b4f6c, #5cb6dd); outline-offset: 1px; }
.stApp button[kind^="primary"]:enabled, .stApp button[kind^="primary"]:enabled * { color: light-dark(#fff, #12151a); }
.stApp { --letters: light-dark(#31333f, #e6e8ec); --quiet: light-dark(#5b6270, #a3aab5); --line: light-dark(#dfe2e6, #343a43);
  --edge: light-dark(#c9ced4, #4a515c); --sheet: light-dark(#fff, #181c23); }
</style>"""
"""Streamlit's wide layout leaves 5 rem at each side, which a narrow screen cannot spare.

Its captions and the names of its keys are too faint to be read by everybody (3.7 to 1; letters need 4.5), and the link that
the keyboard has reached is marked by a grey that stands out 1.1 to 1. A heading of the second rank keeps the room of the third.
The colours of our own HTML, on a light ground and on a dark one: Streamlit tells the browser which it is.
"""


SYNTHETIC = (
    ":orange-badge[Synthetic data] Made up: no real {handbook}, {center} or {patient} stands behind it. Not for clinical use."
)


def synthetic_notice(study: Study) -> None:
    """Say that a study's texts are made up, where they are. It is true of all of its items alike, and so tells of none."""
    if study.synthetic:
        words = {word: escaped(study.terms.get(word, word)) for word in ("handbook", "center", "patient")}
        st.caption(SYNTHETIC.format(**words))


def explain(error: AuditError) -> None:
    """Show a problem as the sentence it is."""
    st.error(escaped(error))


@contextmanager
def study_page(title: str, lead: str, *roles: Role) -> Iterator[Account]:
    """Draw the frame and hand the account of this session to the body; an AuditError in the body is explained, not traced."""
    st.html(STYLE)
    rerun_on_theme_change()
    st.title(title, anchor=False)
    if lead:
        st.markdown(lead)
    try:
        yield require_role(*roles)
    except AuditError as error:
        explain(error)
