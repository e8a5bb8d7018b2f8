"""Adjudicate: decide where annotators differ, on the labelling board, without names and without the judge."""

from __future__ import annotations

import streamlit as st

from annotation.label_store.studies import Study, StudyState
from annotation.studies.accounts import Account, Role
from annotation.studies.adjudication import studies_of_adjudicator
from audit.errors import AuditError
from pages._blinded.access import label_store, require_role
from pages._blinded.frame import explain, study_page, synthetic_notice
from pages._blinded.labelling.widget import labelling_widget, pending_events
from pages._blinded.option_labels import distinct_labels
from pages._blinded.tour import tour
from pages.studies.adjudicate.adjudication import Adjudication

LEAD = (
    "Decide the items on which no label was chosen by more than half of the annotators. Their names, the judge's verdict "
    "and, where systems are compared, the systems are hidden."
)
EMPTY = "There is nothing to decide now: no study is in adjudication."


def adjudication(study: Study, account: Account) -> Adjudication:
    """The browser tab's adjudication of a study."""
    work: Adjudication = st.session_state.setdefault(
        f"adjudication {study.study_id} {account.username}", Adjudication(study, account.username)
    )
    return work


@st.fragment
def deciding(study: Study) -> None:
    """Handle the key presses, and draw the next dispute."""
    try:
        # Checked for each key press: a fragment runs without the page around it, and the session may have ended.
        work, events = adjudication(study, require_role(Role.ADJUDICATOR, Role.PI)), pending_events()
        work.handle(events)
        labelling_widget(study.scheme, work.view(events), deciding=True)
    except AuditError as error:
        explain(error)


with study_page("Adjudicate", LEAD, Role.ADJUDICATOR, Role.PI) as account:
    if account.role is Role.ADJUDICATOR:  # the start page of a PI is another one, and has its own tour
        tour(account, {})
    own = studies_of_adjudicator(label_store(), account.username)
    open_studies = {study.study_id: study for study in own if study.state is StudyState.ADJUDICATION}
    if not open_studies:
        st.info(EMPTY)
    else:
        chosen = next(iter(open_studies))
        if len(open_studies) > 1:
            titled = distinct_labels(open_studies, lambda name: open_studies[name].title, numbered=True)
            chosen = st.selectbox("Study", list(open_studies), format_func=titled, key="adjudicated")
        synthetic_notice(open_studies[chosen])
        deciding(open_studies[chosen])
