"""Building the themes of a run from the dashboard: the button for investigators, its progress in words, and what others see."""

from __future__ import annotations

import streamlit as st

from audit.errors import AuditError
from audit.jobs.processes import cancel_job
from audit.jobs.table import Job
from audit.jobs.theming import methods_installed, start_themes, themes_job
from audit.queries.themes import disagreement_topics
from audit.release.taxonomy import AVERAGE, HDBSCAN, LEXICAL, Taxonomy
from audit.store.runs import Run
from pages._blinded.access import current_account, current_settings, may_rejudge
from pages._blinded.frame import escaped
from pages._shared.loaders import load
from pages._shared.pickers import named_by
from pages._shared.widgets import counts, link, say

NOTHING_TO_GROUP = "No two {handbooks} of this run disagree about anything that the judge put into words, so there are no themes."
NOT_GROUPED = (
    "The disagreements of this run are not grouped into themes yet. An investigator can do that on this page. Until then, "
    "*Disagreements* lists every one of them."
)
NOT_GROUPED_OWNER = (
    "The {n} disagreements of this run are not grouped into themes yet. Grouping takes from a few seconds to some minutes and "
    "continues when you leave this page."
)
STEPS = {
    "starting": "Starting", "embed": "Reading what the disagreements are about",
    "cluster": "Grouping what is about the same thing", "map": "Drawing the map",
}  # fmt: skip
BY_WORDS = (
    "Disagreements are grouped by the words that they share, because no language model for sentences is installed: two that say "
    "the same in other words may be in two themes."
)
BY_MEANING = "Disagreements are grouped by meaning, with the sentence model {model}."
FROM_RELEASE = "These themes came with the run."
ONLY_DISAGREEMENTS = "Only pairs that disagree are grouped. Names are quoted from what the judge wrote."
METHODS = {AVERAGE: "Average linkage", HDBSCAN: "UMAP and HDBSCAN"}
METHOD_HELP = (
    "Average linkage merges the most similar disagreements first, up to a fixed distance. UMAP and HDBSCAN find dense groups, "
    "whatever their width, and leave more disagreements without a theme; the same data may give slightly other themes on another "
    "machine."
)
BY_HDBSCAN = "The method is UMAP and HDBSCAN."
COARSE = (
    "More than a fifth of the disagreements had no theme, so {n} themes also take those that only share a word or the topic of "
    "their {question}, after which some are named."
)


def explain_no_themes(run: Run) -> None:
    """What a run without themes shows: why there are none, and the button for those who may build them."""
    disagreeing = sum(load(disagreement_topics, run)[0].values())
    if not disagreeing:
        st.info(say(run, NOTHING_TO_GROUP))
    elif may_build():
        st.info(say(run, NOT_GROUPED_OWNER, n=f"{disagreeing:,}"))
        build_button(run, "Group into themes")
    else:
        st.info(say(run, NOT_GROUPED))
    link("disagreements", "See the disagreements", run, icon=":material/call_split:")


def how_made(run: Run, built: Taxonomy) -> None:
    """By what the themes were grouped; for those who may, a button that groups them again."""
    model = built.built.get("model")
    words = FROM_RELEASE if model is None else BY_WORDS if model == LEXICAL else BY_MEANING
    method = f" {BY_HDBSCAN}" if built.built.get("method") == HDBSCAN else ""
    counts(run, f"{words}{method} {ONLY_DISAGREEMENTS}" if model else words, model=str(model))
    if coarse := built.counts.get("coarse_themes"):
        counts(run, COARSE, n=f"{coarse:,}")
    # A release's own themes are shown whatever is built.
    if may_build() and built.sha256 != run.digest and model is not None:
        build_button(run, "Group again")


def may_build() -> bool:
    """Whether this visitor may start a job: an investigator, or the owner of an installation without accounts."""
    return may_rejudge(current_account())


def build_button(run: Run, label: str) -> None:
    """The button, or the progress of the job that it started."""
    job = themes_job(current_settings(), run)
    if job is not None and job.active:
        _watch(run)
        return
    if job is not None and job.message:
        st.error(escaped(job.message))
    methods = methods_installed()
    method: str = AVERAGE
    if len(methods) > 1:
        method = st.radio("Method", methods, format_func=named_by(METHODS), horizontal=True, key="theme_method", help=METHOD_HELP)
    if st.button(label, icon=":material/workspaces:", key="build_themes"):
        account = current_account()
        start_themes(current_settings(), run, account.name if account else "", method)
        st.rerun()


@st.fragment(run_every=1.0)
def _watch(run: Run) -> None:
    """The progress, every second; when the process has ended, the whole page is drawn again."""
    # A fragment runs without the page around it, so the sign-in is checked in each run.
    job = themes_job(current_settings(), run) if may_build() else None
    if job is None or not job.active:
        st.rerun()
    st.progress(_share(job), progress_text(job))
    if st.button("Cancel", key="cancel_themes", icon=":material/stop_circle:"):
        try:
            cancel_job(current_settings(), job)
        except AuditError as error:  # it ended in the meantime
            st.warning(escaped(str(error)))


def progress_text(job: Job) -> str:
    """`Grouping what is about the same thing: 40 of 55`."""
    step, total = STEPS.get(str(job.progress.get("phase")), STEPS["starting"]), int(job.progress.get("total", 0))
    return f"{step}: {int(job.progress['done']):,} of {total:,}" if total else f"{step} ..."


def _share(job: Job) -> float:
    total = int(job.progress.get("total", 0))
    return min(1.0, int(job.progress["done"]) / total) if total else 0.0
