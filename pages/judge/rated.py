"""Where and when the judge errs, by the rated pairs of the run."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from annotation.prevalence.judge_errors import JUDGE_ERRORS_TABLE, TIME_NOTE, judge_errors_by_group, judge_errors_in_time
from annotation.ratings.table import Ratings
from annotation.studies.item_groups import item_groups, pair_groups, rated_at, unrated_groups
from annotation.studies.reasons import REASONS_TABLE, reason_agreement
from audit.charts.errors_in_time import cusum_figure
from audit.exports.table_model import with_population_column
from audit.queries.human_ratings import human_ratings
from audit.store.connection import open_store
from audit.store.runs import Run
from audit.tables import IntervalKind
from pages._blinded.access import label_store
from pages._blinded.frame import escaped
from pages._shared.judge_story import NO_RATINGS
from pages._shared.loaders import load
from pages._shared.rating_sources import RatingSource, first_source
from pages._shared.widgets import chart, counts, csv_button, table

FEW = 20
"""Items in order of time, below which a change cannot be told."""
STEADY = (
    "Along {n} items in order of time, the evidence that the judge errs more often never passes the limit: there is no change "
    "that chance does not explain."
)
WORSE = (
    "From item {since} of {n} on ({day}), the judge errs more often than chance explains: the evidence passes the limit at item "
    "{first}."
)
ALT = "Evidence that the judge errs more often, along rated items, and its limit."
TOO_FEW = "{n} items have a time and a label by raters. Whether the judge errs more often over time is shown from {few} on."
NO_TIMES = "Whether the judge errs more often over time is not known: these ratings came without times."


def rated_section(run: Run) -> None:
    """Errors by group and in order of time; a sentence where nobody has rated pairs of the run."""
    source = first_source(run)
    if source is None:
        counts(run, NO_RATINGS)
        return
    st.header("Where does the judge err?", anchor=False)
    groups, missing = _groups(run, source)
    errors = judge_errors_by_group(source.ratings, groups, missing)
    counts(run, "{title}: {n} rated pairs.", title=source.title, n=f"{source.rated:,}")
    columns = JUDGE_ERRORS_TABLE.named("group", "by", "n", "errors", "value", "own", "note")
    table(errors, "judge_errors", columns, decimals=1)
    exported = with_population_column(errors, JUDGE_ERRORS_TABLE.population, IntervalKind.CREDIBLE)
    with st.container(horizontal=True):
        csv_button(exported, "judge_errors", f"{run.run_id}_judge_errors.csv")
        with st.popover("How this is computed", icon=":material/functions:"):
            for note in JUDGE_ERRORS_TABLE.notes:
                st.text(note)
    _reasons(run, source)
    st.header("Does the judge err more often over time?", anchor=False)
    if source.study_id:
        _in_time(run, source.ratings, rated_at(label_store(), source.study_id))
    else:
        counts(run, NO_TIMES)


def _reasons(run: Run, source: RatingSource) -> None:
    """Whether raters and the judge state the same reason; nothing where nobody stated one."""
    if not source.study_id:
        return
    with open_store(run.path) as con:
        reasons = reason_agreement(label_store(), source.study_id, con)
    if reasons["n"].sum():
        st.header(REASONS_TABLE.title, anchor=False)
        table(reasons, "reasons", REASONS_TABLE.columns)
        st.caption(escaped(REASONS_TABLE.notes[0]))


def _groups(run: Run, source: RatingSource) -> tuple[pd.DataFrame, pd.DataFrame]:
    with open_store(run.path) as con:
        if source.study_id:
            groups = item_groups(label_store(), source.study_id, con)
        else:
            groups = pair_groups(load(human_ratings, run), con)
        return groups, unrated_groups(groups, con)


def _in_time(run: Run, ratings: Ratings, when: pd.Series) -> None:
    items, found = judge_errors_in_time(ratings, when)
    if len(items) < FEW:
        counts(run, TOO_FEW, n=f"{len(items):,}", few=FEW)
        return
    days = [str(when[item])[:10] for item in items]
    chart(cusum_figure(found, days), "errors_in_time", ALT)
    if found.first_above is None:
        counts(run, STEADY, n=f"{len(items):,}")
    else:
        since = found.since or 0
        counts(run, WORSE, n=f"{len(items):,}", since=f"{since + 1:,}", day=days[since], first=f"{found.first_above + 1:,}")
    st.caption(escaped(TIME_NOTE))
