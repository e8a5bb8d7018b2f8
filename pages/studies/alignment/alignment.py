"""Alignment: versions of the judge's prompt that learn from one part of a study and are proved on the other. For PIs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from annotation.agreement.versions import VERSIONS_TABLE
from annotation.label_store.studies import Study
from annotation.schemes import PAIRS
from annotation.studies.accounts import Account, Role
from annotation.studies.alignment import add_version, begin, proof_figures, proof_sentence
from annotation.studies.learnt import Split, judged_by, left_out_note, split_of, versions_of
from audit.jobs.aligning import Step, alignment_job, proposal_of, start_alignment
from audit.jobs.processes import cancel_job
from audit.store.runs import LABEL_FIRST, LABEL_ONLY, STRUCTURED
from pages._blinded.access import current_account, current_settings, label_store, may_rejudge, now
from pages._blinded.frame import escaped, guarded, study_page
from pages._shared.study_figures import pick_study_or_stop
from pages._shared.widgets import csv_button, table

LEAD = (
    "Improve the judge's prompt from what people decided, and see whether that helped: on labels of questions that no version "
    "has learnt from."
)
DIVIDE = (
    "A third of the questions is to learn from, the others are to prove on. The division is drawn once and sealed in the study's "
    "ledger. Labels of the part to learn from then leave *Agreement* and *Prevalence*, as soon as a version has learnt from them."
)
EDIT = (
    "Whatever is written here is what the judge will read. Keep {question}, {answer_a} and {answer_b}. A line {example:ID} "
    "stands for an item of the part to learn from, followed by why its label is right."
)
PROTOCOLS = {
    STRUCTURED: "Reasons, then the label", LABEL_FIRST: "The label, then its reasons",
    LABEL_ONLY: "The label alone, and the topic in a second call",
}  # fmt: skip
VERSIONS = {"name": "Version", "prompt": "Prompt", "examples": "Examples", "learnt": "Has learnt from", "judged": "Judged by"}


def division(study: Study, account: Account) -> Split:
    """The parts of a study, or the button that divides it."""
    split = split_of(label_store(), study.study_id)
    if split is None:
        st.markdown(DIVIDE)
        if st.button("Divide the questions", type="primary", key="divide"):
            begin(label_store(), study.study_id, None, account.username, now())
            st.rerun()
        st.stop()
    parts = f"{len(split.learn)} questions to learn from, {len(split.prove)} to prove on (seed {split.seed}, sealed)."
    st.caption(escaped(f"{parts} {left_out_note(label_store(), [study.study_id])}"))
    return split


def figures(study: Study) -> None:
    """How the versions do on the part to prove on."""
    judged = judged_by(label_store(), study.study_id)
    if not judged:
        st.info("No version has judged this study yet.")
        return
    frame = proof_figures(label_store(), study.study_id)
    st.markdown(escaped(proof_sentence(frame, next(iter(judged.values())).model)))
    table(frame, "versions", VERSIONS_TABLE.columns)
    for note in VERSIONS_TABLE.notes:
        st.caption(escaped(note))
    csv_button(frame, "versions", f"{study.study_id}_versions.csv")


def listed_versions(study: Study) -> None:
    """The versions, each with its text in full."""
    versions, judged = versions_of(label_store(), study.study_id), judged_by(label_store(), study.study_id)
    rows = [
        {
            "name": version.name, "prompt": version.prompt, "examples": len(version.examples),
            "learnt": f"{len(version.learnt)} questions" if version.learnt else "nothing",
            "judged": judged[version.digest].model if version.digest in judged else "nobody yet",
        }
        for version in versions
    ]  # fmt: skip
    table(pd.DataFrame(rows), "listed", VERSIONS)
    for version in versions:
        with st.expander(escaped(f"Read {version.name}")):
            st.code(version.text, language=None, wrap_lines=True)
    if waiting := len(versions) - len(judged):
        step_button(study, "judge", "Judge with 1 version" if waiting == 1 else f"Judge with {waiting} versions")


def new_version(study: Study, account: Account) -> None:
    """A proposal, edited by a person and sealed as a version."""
    protocol = st.selectbox("What the judge is asked for", list(PROTOCOLS), format_func=PROTOCOLS.__getitem__)
    step_button(study, "propose", "Propose a prompt", protocol)
    proposed = proposal_of(alignment_job(current_settings(), study.study_id, "propose"))
    if not proposed:
        st.caption("A proposal has examples of what people decided, and rules of a model where one is set on *People*.")
        return
    with st.form("version", border=False):
        st.caption(escaped(EDIT))
        text = st.text_area("Prompt", proposed, height=500)
        name = st.text_input("Name of the version", max_chars=40)
        sealed = st.form_submit_button("Seal this version", type="primary")
    if sealed:
        add_version(label_store(), study.study_id, name, text, account.username, now())
        st.rerun()


def step_button(study: Study, step: Step, label: str, protocol: str = STRUCTURED) -> None:
    """The button that starts a step in the background, or its progress."""
    job = alignment_job(current_settings(), study.study_id, step)
    if job is not None and job.active:
        _watch(study, step)
        return
    if job is not None and job.message:
        st.error(escaped(job.message))
    account = current_account()
    if may_rejudge(account) and st.button(label, key=step):
        start_alignment(current_settings(), study.study_id, step, account.name if account else "", protocol)
        st.rerun()


@st.fragment(run_every=1.0)
def _watch(study: Study, step: Step) -> None:
    """The progress, every second; when the process has ended, the whole page is drawn again."""
    # A fragment runs without the page around it, so the sign-in is checked in each run.
    job = alignment_job(current_settings(), study.study_id, step) if may_rejudge(current_account()) else None
    if job is None or not job.active:
        st.rerun()
    done, calls = (int(job.progress.get(name, 0)) for name in ("done", "calls"))
    st.progress(min(1.0, done / max(1, calls)), f"{done:,} of {calls:,} calls" if calls else "Starting ...")
    if st.button("Cancel", key=f"cancel_{step}", icon=":material/stop_circle:"):
        cancel_job(current_settings(), job)


with study_page("Alignment", LEAD, Role.PI) as account:
    study = pick_study_or_stop(PAIRS)
    division(study, account)
    figures(study)
    st.header("Versions", anchor=False)
    listed_versions(study)
    st.header("A new version", anchor=False)
    guarded(new_version, study, account)
