"""In how many pairs the advice differs: corrected by ratings, with the interval for elsewhere, or the judge's alone."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.style import interval, percent
from audit.store.runs import Run
from audit.tables import Population
from audit.vocabulary import Raters
from pages._shared.rating_sources import headline_pair
from pages._shared.widgets import counts, say

CORRECTED = (
    "Take a {question} and two {handbooks} that answer it: in **{corrected}** of such pairs ({span}), the advice differs, the "
    "judge's errors taken into account; as the judge labels, in {judge}."
)
BASIS = (
    "In brackets: 95 % interval, for {population}; it allows for the judge's errors and for which {questions} and {handbooks} "
    "were chosen. "
    "Corrected by {who} of {n} pairs over all pairs of the run{note}; for these pairs alone, the interval is {own}."
)
JUDGE_ALONE = (
    "Take a {question} and two {handbooks} that should answer it and do: in **{share}** of such pairs, the advice differs, as "
    "this judge labels; no ratings show how far it errs."
)


def disagreement_rate(run: Run, total: pd.Series) -> None:
    """The rate of all questions; `total` is the last row of metric `organs`, used where nothing corrects the judge."""
    pair = headline_pair(run)
    if pair is None:
        st.markdown(say(run, JUDGE_ALONE, share=percent(total["r_div"])))
        counts(run, "Of {n} pairs.", n=f"{total['present']:,}")
        return
    rate = pair.rate
    span = interval(pair.low, pair.high) or "interval unknown"
    st.markdown(say(run, CORRECTED, corrected=percent(rate.value), judge=percent(rate.judge), span=span))
    own = interval(rate.low, rate.high) or "unknown"
    note = "" if pair.final else "; labelling is not finished"
    template = BASIS.replace("{population}", Population.QUESTIONS_AND_HANDBOOKS)
    counts(run, template, who=labels_of(pair.kind), n=f"{rate.n:,}", note=note, own=own)


def labels_of(kind: Raters) -> str:
    """Whose labels, in a sentence: the labels of clinicians."""
    return f"the labels of {kind.words}" + (" (who they are is not stated)" if kind is Raters.UNKNOWN else "")
