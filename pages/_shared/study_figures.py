"""A study's ratings and agreement report, recomputed only when a rating or a decision has been added."""

from __future__ import annotations

import math
from string import ascii_uppercase

import pandas as pd
import streamlit as st

from annotation.agreement.baseline_comparison import Comparator, compare_with_baseline
from annotation.agreement.report import HEADLINE, AgreementReport, agreement_report, report_without_judge
from annotation.agreement.tables import BASELINE_TABLE
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import ledger_heads
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import Study, StudyState, find_study, list_annotators, list_studies
from annotation.ratings.gold import MAJORITY
from annotation.ratings.table import GOLD, JUDGE, Ratings
from annotation.schemes import PAIRS, Scheme
from annotation.studies.accounts import Role
from annotation.studies.adjudication import list_disputes
from annotation.studies.baseline_judge import baseline_of_study
from annotation.studies.earlier_studies import pooled_ratings
from annotation.studies.registration import Registration, registration_of
from annotation.studies.study_tables import repeats_table, study_ratings
from annotation.studies.verdict_store import find_origin
from audit.errors import AuditError
from audit.formatting import signed
from audit.vocabulary import RULES_JUDGE as NAME
from pages._blinded.access import current_account, label_store
from pages._blinded.frame import escaped, synthetic_notice
from pages._shared.loaders import loaded_runs
from pages._shared.previews import no_banner, preview_banner
from pages._shared.study_choice import pick_study
from pages._shared.widgets import table

LedgerHeads = tuple[tuple[str, int, str], ...]


def pick_study_or_stop(*schemes: Scheme) -> Study:
    """The study of one of these schemes to look at, kept from page to page; without any, the page says so and stops."""
    studies = {study.study_id: study for study in list_studies(label_store()) if study.scheme in schemes}
    if not studies:
        st.info("There is no study yet." if len(schemes) > 1 else "There is no study of pairs yet.")
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
    """Where a study's ledgers end: changes with every rating, decision and change of state, and with nothing else."""
    return tuple((name, entries, digest) for name, (entries, digest) in sorted(ledger_heads(label_store(), study_id).items()))


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
    """Rater column -> name for a reader: `annotator_a` -> `A (ana)`."""
    people, study = list_annotators(label_store(), study_id), find_study(label_store(), study_id)
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


BASELINE_TITLE = "The judge compared with plain rules"
BASELINE_NOTE = (
    f"The {NAME} reads the same two answers and looks for opposite advice, different amounts, and statements that only one of "
    "them makes. A model is worth its price only if it agrees with people better than these rules do. Brackets give 95 % "
    "intervals; the interval of the difference comes from resampling the same items for both, 2,000 times."
)
SIMULATED_NOTE = (
    "Both the labels and the texts of this study are simulated. The texts are built from a few wordings, which rules read almost "
    "without error, while the simulated judge errs as often as a real one. On the texts of the NIH institutes, which people "
    "wrote, the opposite is true."
)


@st.cache_data(show_spinner=False, max_entries=20)
def _cached_baseline(url: str, study_id: str, items: tuple[str, ...], _store: LabelStore) -> Comparator:
    # No ledger in the key: the texts of a study's items never change, so the baseline runs once.
    return baseline_of_study(_store, study_id, items)


@st.cache_data(show_spinner=False, max_entries=20)
def _cached_comparison(url: str, study_id: str, heads: LedgerHeads, _ratings: Ratings, _comparator: Comparator) -> pd.DataFrame:
    return compare_with_baseline(_ratings, _comparator)


def baseline_section(study_id: str, by: str, scope: str, names: dict[str, str]) -> None:
    """How much better than the baseline the judge agrees with the reference labels `by`, else with gold or the majority."""
    store, ratings = label_store(), current_ratings(study_id)
    url = str(store.engine.url)
    try:
        comparator = _cached_baseline(url, study_id, tuple(map(str, ratings.items)), store)
    except AuditError as error:  # an installation without the pipeline has no rules to compare with
        st.info(escaped(str(error)))
        return
    comparison = _cached_comparison(url, study_id, study_heads(study_id), ratings, comparator)
    available = set(comparison["by"])
    reference = next(name for name in (by, GOLD, MAJORITY) if name in available)
    rows = comparison[(comparison["by"] == reference) & (comparison["scope"] == scope)]
    st.header(BASELINE_TITLE, anchor=False)
    st.markdown(escaped(comparison_sentence(rows, names.get(reference, reference))))
    table(rows, "baseline", BASELINE_TABLE.named("name", "difference", "judge", "other", "n", "note"))
    st.caption(escaped(BASELINE_NOTE))
    if any(row["source"] == "simulated" for row in assignment_rows(store, study_id)):
        st.caption(escaped(SIMULATED_NOTE))


def comparison_sentence(rows: pd.DataFrame, reference: str) -> str:
    """Whether the judge agrees with the reference labels better than the baseline does, in one sentence."""
    (row,) = rows[rows["name"] == HEADLINE].to_dict("records")
    if row["note"] or math.isnan(row["difference_low"]):
        return f"Compared with {reference}, no conclusion is possible yet: {row['note'] or 'too few items'}."
    better = "agrees better than" if row["difference_low"] > 0 else "agrees less well than" if row["difference_high"] < 0 else ""
    finding = f"the judge {better or 'cannot be distinguished from'} the {NAME}"
    value, low, high = (signed(row[f"difference{end}"], 2) for end in ("", "_low", "_high"))
    return f"Compared with {reference}, {finding}: weighted kappa {value} (95 % interval {low} to {high}), {row['n']} items."
