"""A study's ratings and its report, computed again only when a rating or a decision has come in."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from annotation.agreement.report import Report, agreement_report, report_without_judge
from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import ledger_heads
from annotation.label_store.studies import Study, list_annotators, list_studies
from annotation.prevalence import prevalence
from annotation.prevalence_checks import INVERSION, PPI, checks
from annotation.ratings import JUDGE, Ratings
from annotation.studies.study_tables import repeats_table, study_ratings
from audit.errors import AuditError
from pages._blinded.access import label_store
from pages._blinded.text import escaped

Stand = tuple[tuple[str, int, str], ...]


def pick_study() -> Study | None:
    """The study to look at, newest first; None where there is none."""
    studies = {study.study_id: study for study in list_studies(label_store())}
    if not studies:
        return None
    chosen = st.selectbox("Study", list(studies), format_func=lambda name: f"{studies[name].title} ({name})", key="study_seen")
    return studies[chosen]


def stand(study_id: str) -> Stand:
    """Where a study's ledgers end: it changes with every rating and every decision, and with nothing else."""
    return tuple((name, entries, digest) for name, (entries, digest) in sorted(ledger_heads(label_store(), study_id).items()))


@st.cache_data(show_spinner=False, max_entries=20)
def ratings_of(url: str, study_id: str, seen: Stand, _store: LabelStore) -> Ratings:
    """The study as a table of ratings, as far as it is rated."""
    return study_ratings(_store, study_id)


@st.cache_data(show_spinner=False, max_entries=20)
def report_of(url: str, study_id: str, seen: Stand, judged: bool, _ratings: Ratings, _store: LabelStore) -> Report:
    """Every figure of the study, or those without the judge."""
    return (agreement_report if judged else report_without_judge)(_ratings, repeats_table(_store, study_id))


def current_ratings(study_id: str) -> Ratings:
    """The study's ratings as they stand. Raises AuditError where a study has no items that count."""
    store = label_store()
    return ratings_of(str(store.engine.url), study_id, stand(study_id), store)


def current_report(study_id: str, *, judged: bool = True) -> Report:
    """The study's report as it stands; without anything that comes from a verdict where not `judged`."""
    store = label_store()
    return report_of(str(store.engine.url), study_id, stand(study_id), judged, current_ratings(study_id), store)


def seat_names(study_id: str) -> dict[str, str]:
    """Seat -> whom a reader knows by it: `annotator_a` -> `A (ana)`."""
    people = list_annotators(label_store(), study_id)
    named = {f"annotator_{letter}": letter.upper() for letter in "ab"}
    if len(people) == len(named):
        named = {seat: f"{letter} ({name})" for (seat, letter), name in zip(named.items(), people, strict=True)}
    return {**named, JUDGE: "the judge"}


def current_shares(study_id: str, human: str) -> pd.DataFrame:
    """How common each label is in the run, as it stands, by the ways that need no optional package.

    Raises AuditError while nothing is rated.
    """
    return with_ends(prevalence(current_ratings(study_id), human))


def checked_shares(study_id: str, human: str) -> tuple[pd.DataFrame, str]:
    """The same by the ways that check it; and what is missing for one of them, in a sentence, or nothing."""
    store = label_store()
    return _checked(str(store.engine.url), study_id, stand(study_id), human, current_ratings(study_id))


@st.cache_data(show_spinner="Checking ...", max_entries=20)
def _checked(url: str, study_id: str, seen: Stand, human: str, _ratings: Ratings) -> tuple[pd.DataFrame, str]:
    inverted = with_ends(checks(_ratings, human, [INVERSION]))
    try:
        return pd.concat([with_ends(checks(_ratings, human, [PPI])), inverted], ignore_index=True), ""
    except AuditError as error:
        return inverted, escaped(error)


def with_ends(shares: pd.DataFrame) -> pd.DataFrame:
    """The ends of the interval under the names that tables and charts look for."""
    return shares.rename(columns={"low": "value_low", "high": "value_high"})
