"""Who may set a judge to work, and the ways that lead there."""

from __future__ import annotations

import streamlit as st

from audit.errors import AuditError
from audit.store.runs import Run
from pages._blinded.access import current_account, may_rejudge
from pages._shared.widgets import link

FILTERS = ("words", "label", "organ", "topic", "subtopic", "significance", "center", "handbook", "phase")
"""The parameters in which the list of disagreements keeps its filters."""


def only_for_the_owner() -> None:
    """Raise AuditError where this session may not set a judge to work: its sign-in has ended."""
    if not may_rejudge(current_account()):
        raise AuditError("Only an investigator may put pairs to a judge. Nothing was done. Sign in again.")


def link_for_a_pair(run: Run, question_id: str, a: str, b: str) -> None:
    """The way from an opened pair, for those who may go it."""
    if may_rejudge(current_account()):
        link("rejudge", "Ask a judge anew", run, icon=":material/gavel:", question=question_id, a=a, b=b)


def link_for_all(run: Run) -> None:
    """The way from the list of disagreements, with its filters, for those who may go it."""
    if may_rejudge(current_account()):
        chosen = {name: st.query_params.get_all(name) for name in FILTERS if name in st.query_params}
        link("rejudge", "Put all of them to a judge anew", run, icon=":material/gavel:", **chosen)
