"""A study's ratings and its report, computed again only when a rating or a decision has come in."""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd
import streamlit as st

from annotation.agreement.comparisons import MAJORITY
from annotation.agreement.floor import Rival, beside
from annotation.agreement.report import HEADLINE, Report, agreement_report, report_without_judge
from annotation.agreement.text import SPOKEN
from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import ledger_heads
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import Study, list_annotators, list_studies
from annotation.prevalence import prevalence
from annotation.prevalence_checks import INVERSION, PPI, checks
from annotation.ratings import GOLD, JUDGE, Ratings
from annotation.studies.baseline_judge import baseline_of_study
from annotation.studies.study_tables import repeats_table, study_ratings
from audit.errors import AuditError
from audit.judging.baseline import NAME
from audit.number_format import fixed, signed
from pages._blinded.access import label_store
from pages._blinded.frame import escaped
from pages._shared.tables import table

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


TITLE = "The judge beside plain rules"
WHY = (
    f"The {NAME} reads the same two answers and looks for opposite advice, amounts that differ, and statements that only one of "
    "them makes. A model is worth its price where it agrees with people better than this. In brackets: 95 % intervals; that of "
    "the difference comes from drawing the same items anew for both, 2,000 times."
)
SIMULATED = (
    "The labels here are simulated, and so are the texts: they are put together from a few wordings, which rules read almost "
    "without fault, while the simulated judge errs as often as a real one was found to. On the texts of the NIH institutes, "
    "which people wrote, it is the other way round."
)
HEADINGS = {
    "figure": "Figure", "difference": "Judge minus baseline", "judge": "Judge", "other": "Baseline", "n": "Items", "note": "Note",
}  # fmt: skip


@st.cache_data(show_spinner=False, max_entries=20)
def baseline_of(url: str, study_id: str, items: tuple[str, ...], _store: LabelStore) -> Rival:
    """What the baseline judge says of a study's items: their texts never change, so it is asked once."""
    return baseline_of_study(_store, study_id, items)


@st.cache_data(show_spinner=False, max_entries=20)
def floor_of(url: str, study_id: str, seen: Stand, _ratings: Ratings, _rival: Rival) -> pd.DataFrame:
    """The table of `annotation.agreement.floor.beside`, as the ratings stand."""
    return beside(_ratings, _rival)


def floor(study_id: str, by: str, scope: str, names: dict[str, str]) -> None:
    """How much better than the baseline the judge agrees with `by`; with gold or the majority, where `by` is no yardstick."""
    store, ratings = label_store(), current_ratings(study_id)
    url = str(store.engine.url)
    rival = baseline_of(url, study_id, tuple(map(str, ratings.items)), store)
    found = floor_of(url, study_id, stand(study_id), ratings, rival)
    known = set(found["by"])
    yardstick = next(name for name in (by, GOLD, MAJORITY) if name in known)
    rows = found[(found["by"] == yardstick) & (found["scope"] == scope)]
    st.header(TITLE, anchor=False)
    st.markdown(escaped(in_words(rows, names.get(yardstick, yardstick))))
    table(readable(rows), "floor", HEADINGS)
    st.caption(escaped(WHY))
    if any(row["source"] == "simulated" for row in assignment_rows(store, study_id)):
        st.caption(escaped(SIMULATED))


def in_words(rows: pd.DataFrame, yardstick: str) -> str:
    """Whether the judge is better than the baseline, as far as the items tell."""
    (row,) = rows[rows["name"] == HEADLINE].to_dict("records")
    if row["note"] or math.isnan(row["difference_low"]):
        return f"Measured by {yardstick}, nothing can be said yet: {row['note'] or 'too few items'}."
    better = "agrees better than" if row["difference_low"] > 0 else "agrees less well than" if row["difference_high"] < 0 else ""
    said = f"the judge {better or 'cannot be told apart from'} the {NAME}"
    value, low, high = (signed(row[f"difference{end}"], 2) for end in ("", "_low", "_high"))
    return f"Measured by {yardstick}, {said}: weighted kappa {value} (95 % interval {low} to {high}), {row['n']} items."


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """The figures as text, each with its 95 % interval in brackets."""
    shown = {"figure": [SPOKEN[name] for name in rows["name"]], "n": rows["n"].tolist(), "note": rows["note"].tolist()}
    for name, write in (("judge", fixed), ("other", fixed), ("difference", signed)):
        columns = zip(rows[name], rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
        shown[name] = [_cell(value, low, high, write) for value, low, high in columns]
    return pd.DataFrame(shown)


def _cell(value: float, low: float, high: float, write: Callable[[float, int], str]) -> str:
    if math.isnan(value):
        return "undefined"
    return write(value, 2) + ("" if math.isnan(low) else f" ({write(low, 2)} to {write(high, 2)})")
