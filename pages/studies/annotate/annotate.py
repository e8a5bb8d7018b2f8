"""Annotate: label a study's items by keyboard, blind to the judge or the systems, and to the other annotator."""

import streamlit as st

from annotation.label_store.studies import Study, StudyState
from annotation.studies.accounts import Role
from audit.errors import AuditError
from pages._blinded.access import label_store, require_role
from pages._blinded.frame import STYLE, escaped, explain, guarded, synthetic_notice
from pages._blinded.labelling.open_study import ITEM, NO_STUDY, PARAM, opaque_id, open_study
from pages._blinded.labelling.widget import labelling_widget, pending_events
from pages._blinded.scripts import script_path
from pages._blinded.tour import tour
from pages.studies.annotate.exit_question import exit_question
from pages.studies.annotate.session import LabellingSession

# The page starts next to Streamlit's header instead of below it, so that the label buttons stay in sight.
COMPACT = """<style>
.stMainBlockContainer { padding: 1rem 2rem 1rem; }
[data-testid="stHeader"] { background: transparent; }
</style>"""
MY_ITEMS = script_path("studies/my_items")
DONE = {
    StudyState.CALIBRATION: "The calibration round is done. Thank you. Discuss it with the other annotators. The study opens "
    "when the investigator starts it; then reload this page.",
    StudyState.LABELLING: "All your items are done. Thank you. Until the study is closed you can go back to any of them with U.",
}


def labelling_session(study: Study, annotator: str) -> LabellingSession:
    """The browser tab's labelling session; a new one when the study has moved to another state."""
    key = f"labelling session {study.study_id} {study.state} {annotator}"
    if key not in st.session_state:
        session = LabellingSession(study.study_id, annotator)
        session.refresh(label_store())
        st.session_state[key] = session
    current: LabellingSession = st.session_state[key]
    return current


def open_requested(study: Study, annotator: str) -> None:
    """Open the item in the address, which leaves it: a reload goes on where the annotator is."""
    requested = st.query_params.pop(ITEM, None)
    if requested is None:
        return
    # Of an old link the board goes on with the next item
    guarded(lambda: labelling_session(study, annotator).open_item(label_store(), requested))


@st.fragment
def labelling(study: Study) -> None:
    """Handle the key presses, and draw the next item."""
    try:
        # Checked for each key press: a fragment runs without the page around it, and the session may have ended.
        account = require_role(Role.ANNOTATOR)
        session, events = labelling_session(study, account.username), pending_events()
        session.handle(label_store(), events)
        data = {**session.view(events), "title": study.title, "done": DONE[study.state]}
        if labelling_widget(study.scheme, data):
            st.switch_page(MY_ITEMS, query_params={PARAM: opaque_id(study.study_id)})
        if session.next is None and study.state is StudyState.LABELLING:
            exit_question(study, account.username)
    except AuditError as error:
        explain(error)


st.html(STYLE + COMPACT)
try:
    account = require_role(Role.ANNOTATOR)
    tour(account, {})
    study = open_study(account.username)
    if study is not None:
        open_requested(study, account.username)
except AuditError as error:
    explain(error)
    st.stop()
if study is None:
    st.title("Label", anchor=False)
    st.info(escaped(NO_STUDY))
else:
    synthetic_notice(study)
    labelling(study)
