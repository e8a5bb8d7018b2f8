"""A study's ratings and agreement report, recomputed only when a rating or a decision has been added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

import streamlit as st

from annotation.agreement.report import AgreementReport, agreement_report, report_without_judge
from annotation.agreement.sentences import INTERVALS_IN_WORDS
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import ledger_heads
from annotation.label_store.schema import study_events
from annotation.label_store.seals import record_look
from annotation.label_store.studies import Study, StudyState, find_study, list_annotators, list_studies
from annotation.ratings.table import JUDGE, Ratings
from annotation.schemes import PAIRS, Scheme
from annotation.studies.accounts import Role
from annotation.studies.adjudication import list_disputes, studies_of_adjudicator
from annotation.studies.earlier_studies import pooled_ratings
from annotation.studies.head_to_head import (
    COUPLES_TABLE,
    STRENGTHS_TABLE,
    comparisons_of,
    couples_frame,
    side_sentence,
    strengths_frame,
    system_names,
)
from annotation.studies.learnt import learnt_from, left_out_note
from annotation.studies.registration import Registration, registration_of
from annotation.studies.study_tables import repeats_table, study_ratings
from annotation.studies.verdict_store import find_origin
from audit.exports.table_model import with_population_column
from audit.tables import IntervalKind
from pages._blinded.access import current_account, label_store, now
from pages._blinded.frame import escaped, synthetic_notice
from pages._blinded.labelling.open_study import PARAM
from pages._shared.loaders import loaded_runs
from pages._shared.previews import no_banner, preview_banner
from pages._shared.widgets import csv_button, table

LedgerHeads = tuple[tuple[str, int, str], ...]


NOTHING_TO_ADJUDICATE = "No study waits for your decisions, and you have decided in none. Agreement appears here when one does."


def pick_study_or_stop(*schemes: Scheme) -> Study:
    """The study of one of these schemes to look at, kept from page to page; without any, the page says so and stops.

    An adjudicator has those that wait for her decisions, or in which she has decided.
    """
    account = current_account()
    adjudicates = account is not None and account.role is Role.ADJUDICATOR
    listed = studies_of_adjudicator(label_store(), account.username) if account and adjudicates else list_studies(label_store())
    studies = {study.study_id: study for study in listed if study.scheme in schemes}
    if not studies:
        missing = "There is no study yet." if len(schemes) > 1 else "There is no study of pairs yet."
        st.info(NOTHING_TO_ADJUDICATE if adjudicates else f"{missing} A new one is drawn on *Progress*.")
        st.stop()
    chosen = pick_study(studies)
    synthetic_notice(chosen)
    _preview_banner_of(chosen.study_id)
    return chosen


def _preview_banner_of(study_id: str) -> None:
    """The banner of the run that a study was drawn from, only for a PI, because it reveals the judge."""
    no_banner()
    account = current_account()
    if account is None or account.role is not Role.PI:
        return
    try:
        digest = find_origin(label_store(), study_id).digest
    except StudyError:  # the study was imported without its run, so what its judge was is unknown
        return
    for run in loaded_runs():
        if run.digest == digest:
            preview_banner(st.container(), run)


def judge_is_known(study: Study) -> bool:
    """Whether figures with the judge in them can influence nobody any more: the study is closed, or every dispute is decided."""
    decided = study.state is StudyState.ADJUDICATION and not list_disputes(label_store(), study.study_id)
    return study.state is StudyState.CLOSED or decided


def study_heads(study_id: str) -> LedgerHeads:
    """What a study's figures depend on: changes with every rating, decision and change of state, and with nothing else."""
    ends = sorted(ledger_heads(label_store(), study_id).items())
    # The ledger of events grows by looks at the figures too
    counted = tuple((name, entries, digest) for name, (entries, digest) in ends if name != study_events.name)
    learnt = sorted(learnt_from(label_store(), study_id))
    return (*counted, (find_study(label_store(), study_id).state.value, 0, ""), ("learnt", len(learnt), " ".join(learnt)))


def looked_at(study_id: str, ratings: Ratings, pooled: Sequence[str] = ()) -> str:
    """Which intervals the figures have, in words; a look before the study is complete enters its ledger."""
    account = current_account()
    if ratings.live and account is not None:
        record_look(label_store(), study_id, account.username, now())
    return f"{INTERVALS_IN_WORDS[ratings.live]} {left_out_note(label_store(), pooled or [study_id])}".strip()


# In the functions below, arguments with an underscore are not part of the cache key: the address of the database, the study and
# the ends of its ledgers stand for everything in them.
@st.cache_data(show_spinner=False, max_entries=20)
def _cached_ratings(url: str, study_id: str, heads: LedgerHeads, _store: LabelStore) -> Ratings:
    return study_ratings(_store, study_id)


@st.cache_data(show_spinner=False, max_entries=20)
def _cached_report(
    url: str, study_id: str, heads: LedgerHeads, judged: bool, _ratings: Ratings, _store: LabelStore
) -> AgreementReport:
    judged = judged and _ratings.scheme is PAIRS  # nothing judges a preference here
    return (agreement_report if judged else report_without_judge)(_ratings, repeats_table(_store, study_id))


def current_ratings(study_id: str) -> Ratings:
    """The study's current ratings. Raises AuditError where a study has no items that count."""
    store = label_store()
    return _cached_ratings(str(store.engine.url), study_id, study_heads(study_id), store)


def current_report(study_id: str, *, judged: bool = True) -> AgreementReport:
    """The study's current report; without anything that comes from a verdict where not `judged`."""
    store = label_store()
    return _cached_report(str(store.engine.url), study_id, study_heads(study_id), judged, current_ratings(study_id), store)


def registered(study_id: str) -> Registration | None:
    """What was registered before the study opened; None where nothing was, or the study was not drawn from a run."""
    try:
        return registration_of(find_origin(label_store(), study_id).plan)
    except StudyError:
        return None


def rater_names(study_id: str) -> dict[str, str]:
    """Rater column -> name for a reader: `annotator_a` -> `A (ana)`; without names for those who adjudicate without them."""
    account, study = current_account(), find_study(label_store(), study_id)
    named_here = account is not None and account.role is Role.PI
    people = list_annotators(label_store(), study_id) if named_here else []
    lettered = study.scheme is PAIRS  # elsewhere A and B are systems
    named = {f"annotator_{letter.lower()}": letter for letter in ascii_uppercase[: study.ratings_per_item]}
    if len(people) == len(named):
        named = {
            rater: f"{letter} ({name})" if lettered else name for (rater, letter), name in zip(named.items(), people, strict=True)
        }
    return {**named, JUDGE: "the judge"}


def current_pooled(study_ids: tuple[str, ...]) -> Ratings:
    """The current ratings of several studies of one run. Raises AuditError as `current_ratings`, and where they do not fit."""
    store = label_store()
    heads = tuple(head for study_id in study_ids for head in study_heads(study_id))
    return _cached_pooled(str(store.engine.url), study_ids, heads, store)


@st.cache_data(show_spinner=False, max_entries=20)
def _cached_pooled(url: str, study_ids: tuple[str, ...], heads: LedgerHeads, _store: LabelStore) -> Ratings:
    return pooled_ratings(_store, study_ids)


# -- The study that the pages about studies show: chosen once, named in the address, and kept from page to page


LAST_STUDY = "last study seen"
WIDGET = "study_chosen"
NEW_STUDY_OPEN = "the fields of a new study are open"


def pick_study(studies: Mapping[str, Study]) -> Study:
    """The study in the address, else the one seen last, else the newest that is at work, else the newest.

    `studies`: those that the page has, newest first. Where it lacks the study of the session, other pages still show that one.
    """
    linked = st.query_params.get(PARAM)
    wanted: str | None = linked or st.session_state.get(LAST_STUDY)
    at_work = (key for key, study in studies.items() if study.state is not StudyState.CLOSED)
    shown = wanted if wanted is not None and wanted in studies else next(at_work, next(iter(studies)))
    if linked and linked not in studies:
        st.warning(f"The address names the study {escaped(linked)}, which this page does not have. It shows another one.")
    elif wanted in (None, shown):
        remember_study(shown)
    st.session_state[WIDGET] = shown
    st.selectbox("Study", list(studies), format_func=lambda key: f"{studies[key].title} ({key})", key=WIDGET, on_change=_chosen)
    return studies[shown]


def remember_study(study_id: str) -> None:
    """Show this study from now on, on every page about studies."""
    st.session_state[LAST_STUDY] = study_id
    if st.query_params.get(PARAM) != study_id:
        st.query_params[PARAM] = study_id


def _chosen() -> None:
    remember_study(st.session_state[WIDGET])


# -- What people preferred in a head-to-head study -----------------------------------------------------------


def preference_tables(store: LabelStore, study_id: str) -> None:
    """Who was preferred to whom, the strengths of the systems, and whether the side of the screen mattered."""
    comparisons = comparisons_of(store, study_id)
    if comparisons.empty:
        st.caption("No item of the study has been rated yet.")
        return
    names = system_names(store, study_id)
    for key, spec, frame in (
        ("couples", COUPLES_TABLE, couples_frame(comparisons, names)),
        ("strengths", STRENGTHS_TABLE, strengths_frame(comparisons, names)),
    ):
        table(frame, key, spec.columns, decimals=2)
        st.caption(escaped(" ".join(spec.notes)))
        csv_button(with_population_column(frame, spec.population, IntervalKind.FIXED), key, f"{study_id}_{key}.csv")
    st.caption(escaped(side_sentence(comparisons)))
