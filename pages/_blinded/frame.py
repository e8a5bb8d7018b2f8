"""The frame of the study pages: heading, safe text, and errors shown as sentences."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from annotation.label_store.studies import Study
from annotation.studies.accounts import Account, Role
from audit.errors import AuditError
from pages._blinded.access import require_role
from pages._blinded.theme import STYLE, rerun_on_theme_change

PUNCTUATION = re.compile(f"([{re.escape(string.punctuation)}])")
SYNTHETIC = ":orange-badge[Synthetic data] No real {handbook}, {center} or {patient}. Not for clinical use."


def escaped(text: object) -> str:
    """Untrusted text on one line, escaped so that Streamlit shows every character and interprets none as Markdown."""
    return PUNCTUATION.sub(r"\\\1", " ".join(str(text).split()))


def synthetic_notice(study: Study) -> None:
    """Say that a study's texts are synthetic, where they are. It applies to every item, so it reveals nothing about any one."""
    if study.synthetic:
        words = {word: escaped(study.terms.get(word, word)) for word in ("handbook", "center", "patient")}
        st.caption(SYNTHETIC.format(**words))


def explain(error: AuditError) -> None:
    """Show an error as a sentence."""
    st.error(escaped(error))


@contextmanager
def study_page(title: str, lead: str, *roles: Role) -> Iterator[Account]:
    """Draw the frame and pass the session's account to the body; an AuditError in the body is shown as a sentence."""
    st.html(STYLE)
    rerun_on_theme_change()
    st.title(title, anchor=False)
    if lead:
        st.markdown(lead)
    try:
        yield require_role(*roles)
    except AuditError as error:
        explain(error)
