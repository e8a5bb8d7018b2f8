"""Studies: draw a sample, watch its progress, move it on, hand packets out and take them in, export it. For the PI."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from annotation.label_store.assignments import release_assignments
from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import verify_study
from annotation.label_store.studies import (
    RATINGS_PER_ITEM,
    STUDY_STATES,
    ItemKind,
    Study,
    StudyState,
    advance_study,
    list_annotators,
    list_studies,
    study_progress,
)
from annotation.studies.accounts import Role, list_accounts
from annotation.studies.adjudication import close_study, list_disputes
from annotation.studies.packets import import_packet, packet_csv, packet_xlsx
from annotation.studies.sampling import SECOND_CRITERIA, SamplePlan, draw_sample, draw_study
from annotation.studies.study_tables import codebook, ratings_table
from annotation.studies.verdict_store import list_strata
from audit.errors import AuditError
from audit.exports.tables import csv_bytes
from audit.vocabulary import LABELS
from pages._blinded.access import browsing_is_open, label_store, now
from pages._blinded.frame import escaped, explain, study_page, synthetic_notice
from pages._shared.loaders import loaded_runs
from pages._shared.tables import table

LEAD = "Draw a sample from a run, give it to two annotators, watch them finish, and take the tables out."
OPEN = (
    "Runs can be browsed here without signing in, by annotators too, which unblinds them. "
    "Set AUDIT_BROWSING=signed-in before people label in earnest."
)
FOLLOWING = {
    StudyState.CALIBRATION: "Start labelling",
    StudyState.LABELLING: "Start adjudication",
    StudyState.ADJUDICATION: "Close the study",
}
HELD = (
    "A few items ahead wait in the browser of each annotator, so that nobody waits for the next. Of somebody who does not come "
    "back, open them again for the others. What was rated stays."
)
MEANS = {
    StudyState.CALIBRATION: "Everybody rates the calibration items, which count in no figure, and then talks them through. Nobody has "
    "seen an item of the study itself.",
    StudyState.LABELLING: "Annotators rate the items of the study, blind to the judge and to each other. Ratings can be revised.",
    StudyState.ADJUDICATION: "Nothing can be rated any more. Where two labels differ, a third person decides.",
    StudyState.CLOSED: "Nothing changes any more. Tables and figures are final.",
}
MOVES = {
    StudyState.CALIBRATION: "**Start labelling** ends the calibration round for good and opens the items of the study.",
    StudyState.LABELLING: "**Start adjudication** ends rating for good, of items without a rating too, and gives what differs to the "
    "adjudicator.",
    StudyState.ADJUDICATION: "**Close the study** makes the decisions final. It waits until every difference is decided.",
}
SNAPSHOT = (
    "A study keeps its own copy of questions, answers and verdicts: loading the run again, or deleting it, changes nothing."
)
STRATA = {"stratum": "Stratum (judge's label)", "population": "Pairs in the run", "sampled": "Study items", "weight": "Weight"}
PROGRESS = {"annotator": "Annotator", "round": "Round", "rated": "Rated", "seats": "Items", "share": "Done"}
DONE = "said after the next run"


def done(words: str) -> None:
    """Say `words` once the page has been drawn anew."""
    st.session_state[DONE] = words
    st.rerun()


def progress_section(store: LabelStore, study: Study) -> None:
    """How far everybody is; counts only."""
    rows = [
        {
            "annotator": each.annotator, "round": "calibration" if each.calibration else "study",
            "rated": each.rated, "seats": each.assignments, "share": each.rated / each.assignments if each.assignments else 0.0,
        }
        for each in study_progress(store, study.study_id)
    ]  # fmt: skip
    table(pd.DataFrame(rows, columns=list(PROGRESS)), "progress", PROGRESS, shares=("share",), digits=0)


def seats_section(store: LabelStore, study: Study) -> None:
    """With open seats, give back what somebody who stays away has taken."""
    people = list_annotators(store, study.study_id)
    if len(people) <= RATINGS_PER_ITEM or study.state is not StudyState.LABELLING:
        return
    with st.expander("Seats that somebody has taken and not rated"):
        st.markdown(HELD)
        annotator = st.selectbox("Annotator", people, key="held_by")
        if st.button("Open them again", key="release"):
            done(f"{release_assignments(store, study.study_id, annotator)} seats are open again.")


def next_state(store: LabelStore, study: Study) -> None:
    """The button that moves the study on; a study only moves forward."""
    if study.state not in FOLLOWING:
        return
    deciding, incomplete = study.state is StudyState.ADJUDICATION, False
    if deciding:
        st.caption(f"{len(list_disputes(store, study.study_id))} differences are still to be decided.")
    else:
        incomplete = st.checkbox("Although ratings are missing", key="incomplete")
    if st.button(FOLLOWING[study.state], type="primary", key="advance"):
        if deciding:
            close_study(store, study.study_id)
        else:
            move_on(store, study, incomplete=incomplete)
        done("The study has moved on.")


def where_it_stands(study: Study) -> None:
    """The four states with this one marked, what it means, and what the next move does."""
    way = " → ".join(f"**{state}**" if state is study.state else f":gray[{state}]" for state in STUDY_STATES)
    st.markdown(f"{way} · made {study.created_at[:10]} · {escaped(study.study_id)}")
    st.markdown(MEANS[study.state])
    if study.state in MOVES:
        st.caption(f"{MOVES[study.state]} A study only moves forward.")


def move_on(store: LabelStore, study: Study, *, incomplete: bool) -> None:
    """Calibration to labelling, or labelling to adjudication."""
    with store.begin() as tx:
        advance_study(tx, study.study_id, study.state, incomplete=incomplete)


def strata_section(store: LabelStore, study: Study) -> None:
    """What was drawn from what."""
    rows = [
        {"stratum": layer.stratum, "population": layer.population, "sampled": layer.sampled, "weight": layer.weight}
        for layer in list_strata(store, study.study_id)
    ]
    table(pd.DataFrame(rows, columns=list(STRATA)), "strata", STRATA)


def packets_section(store: LabelStore, study: Study) -> None:
    """Packets out and in, for one annotator at a time."""
    annotator = st.selectbox("Annotator", list_annotators(store, study.study_id), key="packet_of")
    name = f"{study.study_id}_{annotator}"
    with st.container(horizontal=True):
        st.download_button("Packet as CSV", lambda: packet_csv(store, study.study_id, annotator), f"{name}.csv", "text/csv",
                           on_click="ignore", key="packet_csv")  # fmt: skip
        st.download_button("Packet as XLSX", lambda: packet_xlsx(store, study.study_id, annotator), f"{name}.xlsx",
                           on_click="ignore", key="packet_xlsx")  # fmt: skip
    file = st.file_uploader("A filled packet", type=["csv", "xlsx"], key="packet_in")
    if file is not None and st.button("Store its ratings", key="import"):
        found = import_packet(store, study.study_id, annotator, file.name, file.getvalue(), now())
        done(f"{found.stored} ratings stored, {found.unchanged} were there already, {found.empty} rows are empty.")


def export_section(store: LabelStore, study: Study) -> None:
    """Everything that figures are computed from. It names annotators and holds the judge's labels."""
    with st.container(horizontal=True):
        st.download_button("Ratings as CSV", lambda: csv_bytes(ratings_table(store, study.study_id)),
                           f"{study.study_id}_ratings.csv", "text/csv", on_click="ignore", key="ratings")  # fmt: skip
        st.download_button("Codebook as CSV", lambda: csv_bytes(codebook()), "codebook.csv", "text/csv",
                           on_click="ignore", key="codebook")  # fmt: skip
        if st.button("Check the ledger", key="verify"):
            faults = verify_study(store, study.study_id)
            st.toast(
                "Every entry is as it was written."
                if not faults
                else escaped(f"Not as it was written ({len(faults)} in all): {faults[0]}")
            )


def one_study(store: LabelStore, study: Study) -> None:
    """A study as it stands, and what can be done with it."""
    st.header(escaped(study.title), anchor=False)
    synthetic_notice(study)
    state, moving = st.columns([3, 2])
    with state:
        where_it_stands(study)
    with moving:
        next_state(store, study)
    progress_section(store, study)
    seats_section(store, study)
    with st.expander("Sample"):
        st.caption(SNAPSHOT)
        strata_section(store, study)
    with st.expander("Packets, for work without the dashboard"):
        packets_section(store, study)
    export_section(store, study)


def plan_fields() -> SamplePlan:
    """What to draw, as filled in."""
    columns = st.columns(len(LABELS))
    per_label = {
        str(label): int(column.number_input(label.capitalize(), 0, 1000, 40, key=f"items_{label}"))
        for label, column in zip(LABELS, columns, strict=True)
    }
    one, two, three, four = st.columns(4)
    return SamplePlan(
        seed=int(one.number_input("Seed", 0, 2**31 - 1, 1, key="seed")),
        per_label=per_label,
        second=two.selectbox("Second criterion", SECOND_CRITERIA, index=None, placeholder="None", key="second"),
        calibration=int(three.number_input("Calibration items", 0, 100, SamplePlan.calibration, key="calibration")),
        repeats=int(four.number_input("Silent repeats", 0, 100, SamplePlan.repeats, key="repeats")),
        names_shown=st.checkbox("Let annotators see whose answer it is", key="names_shown"),
    )


def new_study(store: LabelStore) -> None:
    """The form that draws a sample and makes a study of it."""
    by_key = {run.key: run for run in loaded_runs()}
    people = [account.username for account in list_accounts(store) if account.role is Role.ANNOTATOR]
    if not by_key or len(people) < 2:
        st.info("A study needs a loaded run (`audit load PATH`) and two annotators (`audit account add NAME --role annotator`).")
        return
    with st.form("new_study", border=False):
        left, right = st.columns(2)
        study_id = left.text_input("Id (letters, digits, . _ and -)", key="study_id", placeholder="validation-1", max_chars=64)
        title = right.text_input("Title", key="study_title", max_chars=120)
        key = left.selectbox("Run", list(by_key), format_func=lambda name: f"{by_key[name].title} ({name})", key="study_run")
        chosen = right.multiselect(
            "Annotators (two have named seats; more share open ones)", people, people[:2], key="annotators"
        )
        st.markdown("Items per label of the judge")
        plan = plan_fields()
        look, make = st.form_submit_button("Show the strata"), st.form_submit_button("Draw and make the study", type="primary")
    if look:
        drawn = draw_sample(by_key[key], plan, study_id)
        rows = [
            {"stratum": s.stratum, "population": s.population, "sampled": s.sampled, "weight": s.weight} for s in drawn.strata
        ]
        table(pd.DataFrame(rows), "would_be", STRATA)
        kinds = [item.kind for item in drawn.items]
        st.caption(
            f"{kinds.count(ItemKind.STUDY)} study items, {kinds.count(ItemKind.REPEAT)} repeats, {kinds.count(ItemKind.CALIBRATION)} "
            f"calibration items. {drawn.origin.unscored:,} unscored pairs are in no stratum. Nothing was made."
        )
    if make:
        draw_study(store, by_key[key], plan, study_id=study_id, title=title or study_id, annotators=chosen, now=now())
        done("The study is made; its annotators see it now.")


def guarded(section: object, *arguments: object) -> None:
    """Draw a section; what goes wrong in it is said there and leaves the rest of the page standing."""
    try:
        section(*arguments)  # type: ignore[operator]
    except AuditError as error:
        explain(error)


with study_page("Studies", LEAD, Role.PI):
    if words := st.session_state.pop(DONE, None):
        st.success(escaped(words))
    if browsing_is_open():
        st.warning(OPEN)
    studies = {study.study_id: study for study in list_studies(label_store())}
    if studies:
        picked = st.selectbox("Study", list(studies), format_func=lambda name: f"{studies[name].title} ({name})", key="study")
        guarded(one_study, label_store(), studies[picked])
    st.header("A new study", anchor=False)
    with st.expander("Draw a sample", expanded=not studies):
        guarded(new_study, label_store())
