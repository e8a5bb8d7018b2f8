"""Who may start a judge, and the links that lead to it."""

from __future__ import annotations

import streamlit as st

from audit.errors import AuditError
from audit.store.runs import Run
from pages._blinded.access import current_account, may_rejudge
from pages._shared.widgets import link

FILTERS = ("words", "label", "organ", "topic", "subtopic", "significance", "center", "handbook", "phase")
"""The parameters in which the list of disagreements keeps its filters."""


def only_for_the_owner() -> None:
    """Raise AuditError where this session may not start a judge, for instance because its sign-in has ended."""
    if not may_rejudge(current_account()):
        raise AuditError("Only an investigator may have pairs judged again. Nothing was done. Sign in as an investigator.")


def link_for_a_pair(run: Run, question_id: str, a: str, b: str) -> None:
    """The link from an opened pair, for those who may use it."""
    if may_rejudge(current_account()):
        link("rejudge", "Re-judge this pair", run, icon=":material/gavel:", question=question_id, a=a, b=b)


def link_for_all(run: Run) -> None:
    """The link from the list of disagreements, with its filters, for those who may use it."""
    if may_rejudge(current_account()):
        filters = {name: st.query_params.get_all(name) for name in FILTERS if name in st.query_params}
        link("rejudge", "Re-judge all of them", run, icon=":material/gavel:", **filters)
