"""On how many questions handbooks take different positions: the corrected share first, the judge's own count beside it."""

from __future__ import annotations

import math

import streamlit as st

from annotation.prevalence.estimates import errors_of
from audit.charts.style import interval, percent
from audit.metrics.likely_disputed import disputed_share_corrected, share_with
from audit.stats.measured_errors import ASSUMED, RATED, REPEATS, SECOND
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.rating_sources import rating_sources
from pages._shared.widgets import counts, say

SENTENCE = (
    "Take all {handbooks} that answer: on about **{share}** of {questions} ({span}), at least two take different positions, the "
    "judge's errors taken into account; as the judge labels, on {judged}."
)
BASIS = f"Of {{n}} {{questions}}; in brackets the 95 % interval, for {disputed_share_corrected.table.population}."
SEES = "The judge sees a disagreement in {false} of the pairs that agree"
MISSES = "and misses {missed} of the disagreements (assumed)."
FROM = {
    RATED: f"{SEES} (measured on {{rated}} rated pairs), {MISSES}",
    SECOND: f"{SEES} (from {{rated}} pairs that a second judge read too, if the two err independently), {MISSES}",
    REPEATS: f"{SEES}, or in more (so often did its label change when it was asked about {{rated}} pairs once more), {MISSES}",
    ASSUMED: "How often the judge errs was not measured here. Assumed: it sees a disagreement in {false} of the pairs that "
    "agree, and misses {missed} of the disagreements.",
}


def disputed_share(run: Run) -> None:
    """The corrected share with its interval, and where the judge's error rates are from; nothing for a run without a verdict.

    A study of the run that is kept here measures false alarms better than what the release brings, or an assumption.
    """
    table = load(disputed_share_corrected, run)
    row = table.iloc[0]
    if math.isnan(row["share"]):
        return
    share, low, high, false, rated, source = row[["share", "share_low", "share_high", "false", "rated", "errors"]]
    studies = (errors_of(source.ratings) for source in rating_sources(run) if source.study_id)
    if measured := next((known for known in studies if known and known.rated), None):
        (share, low, high), false, rated, source = share_with(table, measured), measured.errors.false, measured.rated, RATED
    span = interval(low, high, 0) or "interval unknown"
    st.markdown(say(run, SENTENCE, share=percent(share, 0), span=span, judged=percent(row["judged"], 0)))
    values = {"false": percent(false, 0), "missed": percent(row["missed"], 0), "rated": f"{rated:,}"}
    counts(run, f"{BASIS} {FROM[source]}", n=f"{row['questions']:,}", **values)
