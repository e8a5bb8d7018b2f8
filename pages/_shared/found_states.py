"""What a search found, in three states: the sentences on it, and the figure and table of *Coverage* and *Start*."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.found_states import state_bars
from audit.charts.rates import AUDIT_RATES, Rate
from audit.charts.style import interval, percent
from audit.metrics.silence import silence
from audit.queries.search_errors import SearchErrors, search_errors
from audit.store.runs import Run
from audit.terms import ALL, display_name
from pages._shared.loaders import load
from pages._shared.widgets import clicked_point, counts, footer, go_to, say, table

COUNTED = (
    "Of {asked} answers that {handbooks} should give: **{stated}** stated, **{perhaps}** perhaps there, **{not_found}** not "
    "found. "
)
MISSES = (
    "Where it was measured, such a search missed {missed} of {answered} answers that were there (95 % interval {span}), so some "
    "of these {handbooks} do answer."
)
SILENT = (
    "Corrected for all errors of the search, {handbooks} are silent in about **{silent}** of these cases (95 % interval {span}, "
    "for {population})."
)
SILENT_AT_MOST = "Corrected for all errors of the search, {handbooks} are silent in at most **{high}** of these cases{rest}."
SILENT_AT_LEAST = "Corrected for all errors of the search, {handbooks} are silent in at least **{low}** of these cases{rest}."
REST = " (95 % interval, for {population})"
NOT_MEASURED = (
    "How often the search misses an answer that is there was not measured for this run, so the share of {handbooks} that are "
    "silent is not shown."
)
TOO_FEW = "What was found here is too little to tell how many {handbooks} are silent."
DOES_NOT_FIT = "What was found here does not fit the known errors of the search, so the share that is silent is not shown."
UNLABELLED = "What was found, by part of the run. On what advice differs is not known: nothing has compared the {handbooks} yet."
READ_BY_A_MODEL = "A model answered, and nothing has compared its answers yet. How many {handbooks} answer is on *Questions*."
ELSEWHERE = "So pairs in which one was not found are left out of these rates; how many were found is on *Coverage*."
COLUMNS = ("asked", "stated", "perhaps", "not_found", "silent")
ALT = "Of the answers that should be there: how many are stated, perhaps there, or not found."


def errors_of(run: Run) -> SearchErrors:
    """Whether a search answered in this run without a model, and how often it errs."""
    errors: SearchErrors = load(search_errors, run)
    return errors


def miss_sentence(run: Run) -> str:
    """How often the search misses an answer that is there; or that this is not known."""
    rates = errors_of(run).rates
    if rates is None:
        return say(run, NOT_MEASURED)
    _, low, high = rates.miss_rate
    return say(run, MISSES, missed=f"{rates.missed:,}", answered=f"{rates.answered:,}", span=interval(low, high))


def counted_sentence(run: Run, row: Mapping[Hashable, Any] | pd.Series, template: str = COUNTED) -> str:
    """The counts of a row of the metric `silence`, the misses of the search, and the share that is silent, as far as known."""
    numbers = {name: f"{int(row[name]):,}" for name in COLUMNS[:-1]}
    return f"{say(run, template, **numbers)}{miss_sentence(run)} {silent_sentence(run, row)}".strip()


def silent_sentence(run: Run, row: Mapping[Hashable, Any] | pd.Series) -> str:
    """The share that is silent with its interval; why it is not shown; nothing where `miss_sentence` says why."""
    if errors_of(run).rates is None:
        return ""
    if pd.isna(row["silent_high"]):
        return say(run, DOES_NOT_FIT if pd.isna(row["silent"]) else TOO_FEW)
    if row["silent"] in (0, 1):  # cut at the end of the scale, where the estimate itself says nothing
        words = (SILENT_AT_LEAST if row["silent"] else SILENT_AT_MOST).replace("{rest}", REST)
        low, high = percent(row["silent_low"]), percent(row["silent_high"])
        return say(run, words.replace("{population}", silence.table.population), low=low, high=high)
    span = interval(row["silent_low"], row["silent_high"])
    # The population is a template in the run's words
    return say(run, SILENT.replace("{population}", silence.table.population), silent=percent(row["silent"]), span=span)


def of_run(run: Run) -> pd.Series:
    """The row of the metric `silence` for the whole run."""
    return load(silence, run).iloc[0]


def states_by(run: Run, by: str, called: Callable[[str], str] = display_name, ordered: str = "name") -> str | None:
    """Figure, legend and table of the three states by organ, topic or handbook; the name of the bar that was clicked.

    called   what a reader calls a group
    ordered  'name', 'stated' (the largest share first) or 'release' (the order of the metric)
    """
    frame = load(silence, run, by=by)
    frame = frame.assign(called=frame["name"].map(called))
    if ordered != "release":
        key = {"name": frame["called"].str.casefold(), "stated": -frame["stated"] / frame["asked"]}[ordered]
        frame = frame.loc[key.sort_values(kind="stable").index].reset_index(drop=True)
    clicked = clicked_point(state_bars(frame), f"states_by_{by}", ALT)
    counts(run, "Only answers that {a_handbook} should give are counted: to {questions} of its {organ}, and to general ones.")
    name, *columns = silence.table.pick(run, "name", *COLUMNS)
    with st.expander("As a table"):
        table(frame.assign(name=frame["called"]), f"{by}_states", [name, *columns])
    footer(frame.drop(columns="called"), f"states-by-{by}", run, "silence")
    return None if clicked is None or clicked == ALL else str(clicked)


def without_labels(run: Run, by: str) -> None:
    """*Topics* and *Organs* of a run that nothing has compared: the three states, each bar a link to its questions."""
    if not errors_of(run).searched:
        counts(run, READ_BY_A_MODEL)
        return
    st.markdown(counted_sentence(run, of_run(run)))
    if clicked := states_by(run, by):
        go_to("questions", run, **{by: clicked})


def shown_rates(run: Run) -> tuple[Rate, ...]:
    """The rates of the audit; where a search answered without that of pairs not addressed, whose errors it would hide."""
    searched = errors_of(run).searched
    return tuple(rate for rate in AUDIT_RATES if not (searched and rate.column == "r_abs"))


def shown_titles(run: Run) -> list[str]:
    """The columns of these rates."""
    return [rate.column for rate in shown_rates(run)]


def where_silence_is(run: Run) -> None:
    """Where a search answered: how often it missed something, and where its states are."""
    if errors_of(run).searched:
        st.caption(f"{miss_sentence(run)} {say(run, ELSEWHERE)}")
