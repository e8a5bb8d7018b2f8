"""On how many questions handbooks take different positions: the corrected share first, the judge's own count beside it."""

from __future__ import annotations

import math

import streamlit as st

from audit.charts.style import interval, percent
from audit.metrics.likely_disputed import disputed_share_corrected
from audit.queries.judge_errors import RATED
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.widgets import counts, say

SENTENCE = (
    "On about **{share}** of {questions} ({span}), {handbooks} take different positions, the judge's errors taken into account; "
    "as the judge labels, on {judged}."
)
BASIS = f"Of {{n}} {{questions}}; in brackets the 95 % interval, for {disputed_share_corrected.table.population}."
FROM_RATINGS = (
    "How often the judge sees a disagreement where there is none ({false}) is from {rated} rated pairs; how often it misses one "
    "({missed}) is assumed."
)
ASSUMED = (
    "How often the judge errs was not measured here. Assumed: it sees a disagreement in {false} of the pairs that agree, and "
    "misses {missed} of the disagreements."
)


def disputed_share(run: Run) -> None:
    """The corrected share with its interval, and where the judge's error rates are from; nothing for a run without a verdict."""
    row = load(disputed_share_corrected, run).iloc[0]
    if math.isnan(row["share"]):
        return
    span = interval(row["share_low"], row["share_high"], 0) or "interval unknown"
    st.markdown(say(run, SENTENCE, share=percent(row["share"], 0), span=span, judged=percent(row["judged"], 0)))
    template = FROM_RATINGS if row["errors"] == RATED else ASSUMED
    values = {"false": percent(row["false"], 0), "missed": percent(row["missed"], 0), "rated": f"{row['rated']:,}"}
    counts(run, f"{BASIS} {template}", n=f"{row['questions']:,}", **values)
