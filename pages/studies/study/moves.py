"""The next state of a study: what it means, what it still lacks, and a confirmation with the counts."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study, StudyState, advance_study, count_ratings
from annotation.studies.adjudication import close_study, list_disputes
from annotation.studies.calibration import calibration_of
from pages._blinded.access import now
from pages._blinded.frame import escaped
from pages.studies.study.forms import rerun_with_message

MOVES = {
    StudyState.CALIBRATION: ("Start labelling", "End calibration and start labelling"),
    StudyState.LABELLING: ("Start adjudication", "End rating and start adjudication"),
    StudyState.ADJUDICATION: ("Close the study", "Make the decisions final"),
}
"""State -> the button that opens the confirmation, and the one that moves the study on."""
EFFECTS = {
    StudyState.CALIBRATION: "**Start labelling** ends the calibration round for good and opens the items of the study.",
    StudyState.LABELLING: "**Start adjudication** ends rating for good, even for items without a rating, and gives items with "
    "different labels to the adjudicator.",
    StudyState.ADJUDICATION: "**Close the study** makes the decisions final. It is possible when every dispute is decided.",
}


@dataclass(frozen=True)
class Readiness:
    """What speaks for and against the next move.

    counts   what is there, in a sentence
    against  what is missing, one sentence each
    allowed  whether the study can be moved on all the same
    """

    counts: str
    against: list[str] = field(default_factory=list)
    allowed: bool = True


def readiness(store: LabelStore, study: Study) -> Readiness:
    """Whether a study has what its next move should wait for."""
    if study.state is StudyState.ADJUDICATION:
        every, undecided = (len(list_disputes(store, study.study_id, open_only=only)) for only in (False, True))
        counts = f"{every - undecided:,} of {every:,} disputes are decided."
        return Readiness(counts, [f"{undecided:,} disputes are undecided."] if undecided else [], not undecided)
    with store.read() as con:
        missing, total = count_ratings(con, study.study_id, study.state)
    against = [f"{missing:,} of {total:,} ratings are missing; after this step nobody can add them."] if missing else []
    if study.state is StudyState.CALIBRATION and (calibration := calibration_of(store, study.study_id)) and not calibration.met:
        against.append(calibration.sentence())
    return Readiness(f"{total - missing:,} of {total:,} ratings are there.", against)


def advance_section(store: LabelStore, study: Study) -> None:
    """The button that opens the confirmation; it is the filled one only when nothing speaks against the move."""
    if study.state not in MOVES:
        return
    label, confirmation = MOVES[study.state]
    ready = readiness(store, study)
    with st.popover(label, type="secondary" if ready.against else "primary", key=f"move_{study.study_id}_{study.state}"):
        st.markdown(f"{EFFECTS[study.state]} This cannot be undone.")
        st.markdown(escaped(ready.counts))
        for sentence in ready.against:
            st.warning(escaped(sentence))
        agreed = not ready.against
        if ready.against and ready.allowed:
            agreed = st.checkbox("Continue all the same", key=f"incomplete_{study.study_id}_{study.state}")
        if st.button(confirmation, type="primary", key="advance", disabled=not agreed):
            _advance(store, study, incomplete=bool(ready.against))
    if ready.against:
        st.caption(escaped(" ".join(ready.against)))


def _advance(store: LabelStore, study: Study, *, incomplete: bool) -> None:
    if study.state is StudyState.ADJUDICATION:
        close_study(store, study.study_id, now())
    else:
        with store.begin() as tx:
            advance_study(tx, study.study_id, study.state, now(), incomplete=incomplete)
    rerun_with_message("The study was advanced to its next state.")
