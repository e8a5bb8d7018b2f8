"""Studies: draw a sample, watch its progress, advance it, export and import packets, export the ratings. For PIs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import pandas as pd
import streamlit as st

from annotation.label_store.assignments import release_assignments
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import (
    STUDY_STATES,
    Study,
    StudyState,
    advance_study,
    answers_shown,
    count_ratings,
    list_annotators,
    list_studies,
    neutral_titles,
    study_progress,
)
from annotation.schemes import HEAD_TO_HEAD, Scheme
from annotation.studies.accounts import Role
from annotation.studies.adjudication import close_study, list_disputes
from annotation.studies.calibration import CalibrationItem, CalibrationRating, calibration_of
from annotation.studies.head_to_head import preferences_jsonl
from annotation.studies.masking_preview import masked_text, names_left_in_study, names_left_text
from annotation.studies.packets import import_packet, packet_csv, packet_xlsx
from annotation.studies.repeated_round import repeat_round
from annotation.studies.study_tables import SAMPLE_TABLES, codebook, ratings_table, strata_frame
from annotation.studies.verdict_store import find_origin, list_strata, sample_digest
from annotation.studies.verification import verify_study
from audit.exports.text_writers import csv_bytes
from pages._blinded.access import browsing_is_open, label_store, now
from pages._blinded.file_widgets import download_button, upload_field
from pages._blinded.frame import escaped, guarded, study_page, synthetic_notice
from pages._shared.loaders import loaded_runs
from pages._shared.study_figures import NEW_STUDY_OPEN, pick_study, preference_tables, registered, remember_study
from pages._shared.widgets import csv_button, table
from pages.studies.study.blinding import blinding_section
from pages.studies.study.forms import new_study, rerun_with_message, show_message

LEAD = (
    "Draw a sample from a run, of pairs of handbooks or of two systems' answers, assign it to annotators, watch their "
    "progress, and export the results."
)
OPEN_BROWSING = (
    "Anybody can browse runs here without signing in. Annotators could see verdicts, which unblinds them. "
    "Before a real study begins, let only people who are signed in browse: *People*, tab *Settings*."
)
RELEASE = (
    "Each annotator's browser reserves a few items ahead, so that nobody waits for the next one. If an annotator does not "
    "return, release their items so that others can take them. Ratings are kept."
)
MEANINGS = {
    StudyState.CALIBRATION: "All annotators rate the calibration items, which count in no figure, and then discuss them. Nobody "
    "has seen an item of the study itself.",
    StudyState.LABELLING: "Annotators rate the items of the study, blind to the judge and to each other, and in a head-to-head "
    "study to the systems. Ratings can be revised.",
    StudyState.ADJUDICATION: "Rating has ended. Somebody else decides the items on which no label has a majority.",
    StudyState.CLOSED: "The study has ended. Tables and figures are final.",
}
SNAPSHOT = "A study keeps its own copy of questions, answers and verdicts, so reloading or deleting the run does not change it."
RUN_GONE = (
    "Names of institutions that masking left in the answers cannot be listed: the run of the sample is no longer loaded. "
    "Load its release again to see them."
)
PROGRESS = {"annotator": "Annotator", "round": "Round", "rated": "Rated", "seats": "Items", "share": "Done"}
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def progress_section(store: LabelStore, study: Study) -> None:
    """How far each annotator is; counts only."""
    rows = [
        {
            "annotator": part.annotator,
            "round": "calibration" if part.calibration else "study",
            "rated": part.rated,
            "seats": part.assignments,
            "share": part.rated / part.assignments if part.assignments else 0.0,
        }
        for part in study_progress(store, study.study_id)
    ]
    progress = pd.DataFrame(rows, columns=list(PROGRESS))
    table(progress, "progress", PROGRESS, shares=("share",), digits=0)
    csv_button(progress, "progress", f"{study.study_id}_progress.csv")


def sample_section(store: LabelStore, study: Study) -> None:
    """The strata that the sample was drawn from, and the names that masking left in its answers."""
    st.caption(SNAPSHOT)
    strata = strata_frame(list_strata(store, study.study_id))
    table(strata, "strata", SAMPLE_TABLES[study.scheme].columns)
    csv_button(strata, "strata", f"{study.study_id}_strata.csv")
    st.caption(escaped(f"{_masked(store, study)} {_names_left(store, study)}"))


def _masked(store: LabelStore, study: Study) -> str:
    """What is masked in the answers; "" where names are shown or the study was not drawn from a run."""
    if study.names_shown or sample_digest(store, study.study_id) is None:
        return ""
    answers = (text for _, *texts in answers_shown(store, study.study_id) for text in texts)
    return masked_text(answers, find_origin(store, study.study_id).plan.get("masked_words", ()))


def _names_left(store: LabelStore, study: Study) -> str:
    """What masking left of institutions' names; "" where names are shown, the study has ended or was not drawn from a run."""
    if study.names_shown or study.state is StudyState.CLOSED:
        return ""
    digest = sample_digest(store, study.study_id)
    run = next((run for run in loaded_runs() if run.digest == digest), None)
    if run is None:
        return "" if digest is None else RUN_GONE
    return names_left_text(names_left_in_study(store, study, run), names_shown=False)


def release_section(store: LabelStore, study: Study) -> None:
    """Where annotators share the items, release those of somebody who does not return."""
    people = list_annotators(store, study.study_id)
    # With as many annotators as ratings of an item, everybody rates every item, so nobody reserves any.
    if len(people) <= study.ratings_per_item or study.state is not StudyState.LABELLING:
        return
    with st.expander("Release items that an annotator has reserved and not rated"):
        st.markdown(RELEASE)
        annotator = st.selectbox("Annotator", people, key="held_by")
        if st.button("Release items", key="release"):
            released = release_assignments(store, study.study_id, annotator)
            rerun_with_message(f"{released} {'item' if released == 1 else 'items'} released.")


def state_section(study: Study) -> None:
    """The four states with the current one marked, what it means, and what the next one brings."""
    path = " → ".join(f"**{state}**" if state is study.state else f":gray[{state}]" for state in STUDY_STATES)
    about = f"{escaped(study.study_id)} · {study.scheme.name} · {study.ratings_per_item} ratings per item"
    st.markdown(f"{path} · created {study.created_at[:10]} · {about}")
    st.markdown(MEANINGS[study.state])
    if study.state in EFFECTS:
        st.caption(f"{EFFECTS[study.state]} A study only moves forward, and cannot be deleted.")
    if registration := registered(study.study_id):
        st.caption(escaped(registration.sentence(study.created_at)))
    titles = neutral_titles(list_studies(label_store()))
    st.caption(escaped(f"Annotators see it as {titles[study.study_id]}."))


def packets_section(store: LabelStore, study: Study) -> None:
    """Export and import packets, for one annotator at a time."""
    annotator = st.selectbox("Annotator", list_annotators(store, study.study_id), key="packet_of")
    # Annotators get the file, and the id of a study may say what is expected of them
    shown = neutral_titles(list_studies(store))[study.study_id].partition(" (")[0]
    name = f"{shown.lower().replace(' ', '_')}_{annotator}"
    with st.container(horizontal=True):
        for kind, packet, mime in (("csv", packet_csv, "text/csv"), ("xlsx", packet_xlsx, XLSX_TYPE)):
            make = partial(packet, store, study.study_id, annotator)
            download_button(f"Packet as {kind.upper()}", make, f"{name}.{kind}", mime, f"packet_{kind}")
    # Imported on a click and not with the upload, because every rerun of the page has the uploaded file again.
    file = upload_field("Completed packet", ["csv", "xlsx"], key="packet_in")
    if file is not None and st.button("Import ratings", key="import"):
        result = import_packet(store, study.study_id, annotator, file.name, file.getvalue(), now())
        rerun_with_message(
            f"{result.rows} rows in the file: {result.stored} ratings stored, {result.unchanged} already stored, "
            f"{result.empty} without a label."
        )


def export_section(store: LabelStore, study: Study) -> None:
    """Everything that figures are computed from. It names annotators, and contains the judge's labels or the systems."""
    with st.container(horizontal=True):
        ratings = f"{study.study_id}_ratings.csv"
        download_button("Ratings as CSV", lambda: csv_bytes(ratings_table(store, study.study_id)), ratings, "text/csv", "ratings")
        download_button("Codebook as CSV", lambda: csv_bytes(codebook(study.scheme)), "codebook.csv", "text/csv", "codebook")
        if study.scheme is HEAD_TO_HEAD:
            download_button(
                "Choices as preferences.jsonl",
                lambda: preferences_jsonl(store, study.study_id),
                "preferences.jsonl",
                "application/jsonl",
                "preferences",
            )
        asked = st.button("Check that nothing was altered", key="verify")
    if asked and (faults := verify_study(store, study.study_id)):
        st.error(escaped(f"This study was altered. {faults[0]}" + (f" (and {len(faults) - 1} more)" if faults[1:] else "")))
    elif asked:
        st.success("Nothing in this study was altered: its sample, ratings and decisions are as they were stored.")


def one_study(store: LabelStore, study: Study) -> None:
    """A study's current state, and what can be done with it."""
    st.header(escaped(study.title), anchor=False)
    synthetic_notice(study)
    state, moving = st.columns([3, 2])
    with state:
        state_section(study)
    with moving:
        advance_section(store, study)
    progress_section(store, study)
    if study.state is StudyState.CALIBRATION:
        guarded(calibration_section, store, study)
    release_section(store, study)
    if study.scheme is HEAD_TO_HEAD:
        with st.expander("What the annotators preferred"):
            preference_tables(store, study.study_id)
    with st.expander("Sample"):
        sample_section(store, study)
    with st.expander("Blinding: what style gives away, and the exit question"):
        guarded(blinding_section, store, study)
    if study.state is not StudyState.CALIBRATION:
        calibration_section(store, study)
    with st.expander("Packets, for offline work"):
        packets_section(store, study)
    export_section(store, study)


# -- The calibration round for the PI ------------------------------------------------------------------------


HOW_TO = (
    "Read these items together with the annotators, with the rubric at hand, and write down in one sentence each what to do in "
    "such a case. The judge's label is not shown here, so that the page can be shared."
)


REPEAT = (
    "Discuss the items that differ first. Then this draws a study of the same plan and people from another sample, whose round "
    "begins anew; nobody reads a calibration item again. The present study stays as it is: tell its annotators to leave it."
)


def calibration_section(store: LabelStore, study: Study) -> None:
    """Agreement on the calibration items, and those that differ; nothing for a study without such a round."""
    calibration = calibration_of(store, study.study_id)
    if calibration is None:
        return
    st.header("Calibration", anchor=False)
    show = {None: st.info, True: st.success, False: st.warning}[calibration.met]
    show(escaped(calibration.sentence()))
    if calibration.met is False and study.state is StudyState.CALIBRATION:
        _repeat_button(store, study)
    differing = calibration.differing
    if not differing:
        st.caption("No calibration item has different labels.")
        return
    count = f"{len(differing)} of {len(calibration.items)}"
    with st.expander(f"Talk through the items that differ ({count})", expanded=False):
        st.markdown(HOW_TO)
        number = st.pagination(len(differing), key=f"talk_{study.study_id}") if len(differing) > 1 else 1
        _talk_item(differing[min(number, len(differing)) - 1], calibration.scheme)


def _repeat_button(store: LabelStore, study: Study) -> None:
    """The button that draws the same study from another sample, beginning with another round."""
    with st.popover("Repeat the round with another sample", icon=":material/replay:"):
        st.markdown(REPEAT)
        if st.button("Draw the new sample", type="primary", key=f"repeat_{study.study_id}"):
            again = repeat_round(store, study.study_id, loaded_runs(), now())
            remember_study(again)
            rerun_with_message(f"Study {again} was drawn. Its annotators begin with its calibration round.")


def _talk_item(item: CalibrationItem, scheme: Scheme) -> None:
    st.text(item.question)
    for column, text, name in zip(st.columns(2), (item.answer_a, item.answer_b), "AB", strict=True):
        with column.container(border=True):
            st.caption(f"Answer {name}")
            st.text(text)
    for rating in item.ratings:
        st.text(_in_words(rating, scheme))


def _in_words(rating: CalibrationRating, scheme: Scheme) -> str:
    if rating.label is None:
        return f"{rating.annotator}: not rated"
    label = scheme.names[rating.label]
    preferred = " (answer preferred)" if scheme is HEAD_TO_HEAD and rating.label in scheme.mirrored else ""
    parts = [f"{rating.annotator}: {label}{preferred}", rating.significance or "", rating.comment]
    return ", ".join(part for part in parts if part)


# -- The next state of a study: what it means, what it still lacks, and a confirmation with the counts -------


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


with study_page("Studies", LEAD, Role.PI):
    show_message()
    if browsing_is_open():
        st.warning(OPEN_BROWSING)
    studies = {study.study_id: study for study in list_studies(label_store())}
    if studies:
        guarded(one_study, label_store(), pick_study(studies))
    st.header("New study", anchor=False)
    with st.expander("Draw a sample", expanded=not studies or st.session_state.get(NEW_STUDY_OPEN, False)):
        guarded(new_study, label_store())
