"""The forms that draw a sample from a run and create a study of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import ItemKind
from annotation.schemes import HEAD_TO_HEAD, PAIRS, SCHEMES, Scheme
from annotation.studies.accounts import Role, list_accounts
from annotation.studies.head_to_head import (
    QUESTIONS_PER_COUPLE,
    HeadToHeadPlan,
    draw_head_to_head,
    draw_head_to_head_study,
    systems_in,
)
from annotation.studies.sample_plan import SECOND_CRITERIA, SamplePlan
from annotation.studies.sampling import DrawnSample, draw_sample, draw_study
from annotation.studies.study_tables import SAMPLE_TABLES, strata_frame
from audit.store.runs import Run
from audit.vocabulary import LABELS
from pages._blinded.access import now
from pages._blinded.frame import escaped
from pages._shared.loaders import loaded_runs
from pages._shared.widgets import table

NEEDED = "A study needs a loaded run (`audit load PATH`) and two annotators (`audit account add NAME --role annotator`)."
ASKED = {
    PAIRS.name: "How two handbooks' answers relate",
    HEAD_TO_HEAD.name: "Which system's answer is better (head-to-head)",
}
DRAWS: dict[Scheme, tuple[Callable[..., DrawnSample], Callable[..., DrawnSample]]] = {
    PAIRS: (draw_sample, draw_study),
    HEAD_TO_HEAD: (draw_head_to_head, draw_head_to_head_study),
}
SUCCESS = "success message for the next run of the page"


def rerun_with_message(message: str) -> None:
    """Rerun the page, so that it shows the new state, and show the message on it."""
    # A message that is drawn before a rerun disappears with it.
    st.session_state[SUCCESS] = message
    st.rerun()


def show_message() -> None:
    """Show the message of `rerun_with_message`, if there is one."""
    if message := st.session_state.pop(SUCCESS, None):
        st.success(escaped(message))


def new_study(store: LabelStore) -> None:
    """The form for a study of pairs or, where a run has answering systems, for a head-to-head study."""
    people = [account.username for account in list_accounts(store) if account.role is Role.ANNOTATOR]
    runs = loaded_runs()
    possible = {PAIRS: [run for run in runs if run.has_pairs], HEAD_TO_HEAD: [run for run in runs if run.has_systems]}
    names = [scheme.name for scheme, own in possible.items() if own]
    if not names or len(people) < 2:
        st.info(NEEDED)
        return
    chosen = names[0]
    if len(names) > 1:
        chosen = st.selectbox("What annotators are asked", names, key="scheme", format_func=ASKED.__getitem__)
    scheme = SCHEMES[chosen]
    _study_form(store, scheme, possible[scheme], people)


def _study_form(store: LabelStore, scheme: Scheme, runs: Sequence[Run], people: Sequence[str]) -> None:
    by_key = {run.key: run for run in runs}
    # Outside the form, because the systems to choose from are those of the run.
    key = st.selectbox("Run", list(by_key), format_func=lambda name: f"{by_key[name].title} ({name})", key="study_run")
    with st.form("new_study", border=False):
        left, right = st.columns(2)
        study_id = left.text_input("Id (letters, digits, . _ and -)", key="study_id", placeholder="validation-1", max_chars=64)
        title = right.text_input("Title", key="study_title", max_chars=120)
        chosen = st.multiselect(
            "Annotators (two both rate every item; more share the items)", people, people[:2], key="annotators"
        )
        plan = pair_fields() if scheme is PAIRS else head_to_head_fields(by_key[key])
        preview = st.form_submit_button("Preview strata")
        create = st.form_submit_button("Draw sample and create study", type="primary")
    draw, draw_and_create = DRAWS[scheme]
    if preview:
        _preview(draw(by_key[key], plan, study_id), scheme)
    if create:
        drawn = draw_and_create(
            store, by_key[key], plan, study_id=study_id, title=title or study_id, annotators=chosen, now=now()
        )
        rerun_with_message(f"The study was created; its annotators can see it now. {drawn.names_left_text()}")


def pair_fields() -> SamplePlan:
    """The sample plan of a study of pairs, as filled in."""
    st.markdown("Items per label of the judge")
    columns = st.columns(len(LABELS))
    per_label = {
        str(label): int(column.number_input(label.capitalize(), 0, 1000, 40, key=f"items_{label}"))
        for label, column in zip(LABELS, columns, strict=True)
    }
    seed, second, calibration, repeats = st.columns(4)
    return SamplePlan(
        seed=int(seed.number_input("Seed", 0, 2**31 - 1, 1, key="seed")),
        per_label=per_label,
        second=second.selectbox("Second criterion", SECOND_CRITERIA, index=None, placeholder="None", key="second"),
        calibration=int(calibration.number_input("Calibration items", 0, 100, SamplePlan.calibration, key="calibration")),
        repeats=int(repeats.number_input("Silent repeats", 0, 100, SamplePlan.repeats, key="repeats")),
        names_shown=st.checkbox("Show annotators which handbook an answer is from", key="names_shown"),
    )


def head_to_head_fields(run: Run) -> HeadToHeadPlan:
    """The sample plan of a head-to-head study, as filled in."""
    systems = systems_in(run)
    chosen = st.multiselect(
        "Systems (each two of them are compared)", list(systems), list(systems)[:2], key=f"systems_{run.key}",
        format_func=systems.__getitem__,
    )  # fmt: skip
    questions, seed, calibration, repeats = st.columns(4)
    return HeadToHeadPlan(
        systems=tuple(chosen),
        questions=int(questions.number_input("Questions for each two", 1, 1000, QUESTIONS_PER_COUPLE, key="questions")),
        seed=int(seed.number_input("Seed", 0, 2**31 - 1, 1, key="seed")),
        calibration=int(calibration.number_input("Calibration items", 0, 100, HeadToHeadPlan.calibration, key="calibration")),
        repeats=int(repeats.number_input("Silent repeats", 0, 100, HeadToHeadPlan.repeats, key="repeats")),
    )


def _preview(drawn: DrawnSample, scheme: Scheme) -> None:
    table(strata_frame(drawn.strata), "would_be", SAMPLE_TABLES[scheme].columns)
    kinds = [item.kind for item in drawn.items]
    st.caption(
        f"{kinds.count(ItemKind.STUDY)} study items, {kinds.count(ItemKind.REPEAT)} repeats, "
        f"{kinds.count(ItemKind.CALIBRATION)} calibration items. {drawn.not_drawn_text()} Nothing was created."
    )
    st.caption(escaped(drawn.names_left_text()))
