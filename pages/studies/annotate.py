"""Annotate: label a study's items by keyboard, blind to the judge and to the other annotator."""

import streamlit as st

from annotation.label_store.assignments import OPEN_STATES
from annotation.label_store.studies import Study, StudyState, list_studies
from annotation.studies.accounts import Role
from audit.errors import AuditError
from pages._blinded.access import label_store, require_role
from pages._blinded.frame import escaped, explain, synthetic_notice
from pages._blinded.labelling.session import LabellingSession
from pages._blinded.labelling.widget import labelling_widget, pending_events
from pages._blinded.theme import STYLE
from pages._blinded.tour import tour

CLOSE = """<style>
.stMainBlockContainer { padding: 1rem 2rem 1rem; }
[data-testid="stHeader"] { background: transparent; }
</style>"""
"""The page begins beside the menu of Streamlit's header, not below it: the keys have to stay in sight."""
NOTHING = "There is no study for you to label now. The investigator who runs yours tells you when there is."
OVER = {
    StudyState.CALIBRATION: "The calibration round is done. Thank you. Talk it through with the others; the study itself opens when "
    "the investigator moves it on. Then reload this page.",
    StudyState.LABELLING: "All your items are done. Thank you. Until the study is closed you may go back to any of them with U.",
}


def picked_study(annotator: str) -> Study | None:
    """The study to label: the only one, or the one chosen."""
    found = {study.study_id: study for study in list_studies(label_store(), annotator) if study.state in OPEN_STATES}
    if len(found) < 2:
        return next(iter(found.values()), None)
    chosen = st.selectbox("Study", list(found), format_func=lambda name: found[name].title, key="study_to_label")
    return found[chosen]


def desk_of(study: Study, annotator: str) -> LabellingSession:
    """This sitting's desk; a new one where the study has moved on since it was laid out."""
    name = f"desk {study.study_id} {study.state} {annotator}"
    if name not in st.session_state:
        desk = LabellingSession(study.study_id, annotator)
        desk.look(label_store())
        st.session_state[name] = desk
    found: LabellingSession = st.session_state[name]
    return found


@st.fragment
def labelling(study: Study) -> None:
    """Do what the keys said, and draw what comes next."""
    try:
        account = require_role(Role.ANNOTATOR)
        desk, events = desk_of(study, account.username), pending_events()
        desk.take(label_store(), events)
        labelling_widget({**desk.view(events), "title": study.title, "over": OVER[study.state]})
    except AuditError as error:
        explain(error)


st.html(STYLE + CLOSE)
try:
    account = require_role(Role.ANNOTATOR)
    tour(account, {})
    study = picked_study(account.username)
except AuditError as error:
    explain(error)
    st.stop()
if study is None:
    st.title("Annotate", anchor=False)
    st.info(escaped(NOTHING))
else:
    synthetic_notice(study)
    labelling(study)
