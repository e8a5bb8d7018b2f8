"""The corrected shares in sentences of plain text: each figure with its interval, beside what the judge says."""

from __future__ import annotations

import math

import pandas as pd

from annotation.prevalence.estimates import CORRECTED, DISAGREES, JUDGE_ALONE
from annotation.prevalence.headline import CorrectedRate
from audit.charts.style import interval, percent


def disagreement_sentence(shares: pd.DataFrame, source: str) -> str:
    """How many pairs of the run disagree, by people's labels and by the judge's; `source` names the people's.

    shares  as `annotation.prevalence.estimates.prevalence` returns them
    """
    corrected, judge = (
        shares[(shares["method"] == method) & (shares["label"] == DISAGREES)].iloc[0] for method in (CORRECTED, JUDGE_ALONE)
    )
    return (
        f"{percent(corrected['value'])} of all pairs of the run disagree (divergent or contradictory; 95 % interval "
        f"{interval(corrected['low'], corrected['high'])}), by {source} for {corrected['n']:,} items, weighted to the run. "
        f"The judge says {percent(judge['value'])}{_verdict(corrected, judge['value'])}."
    )


def rate_sentence(rate: CorrectedRate) -> str:
    """The disagreement rate among pairs in which both answers say something; "" where it is undefined."""
    if math.isnan(rate.value) or math.isnan(rate.judge):
        return ""
    return (
        f"Of the pairs in which both answers address the question, {percent(rate.value)} disagree (95 % interval "
        f"{interval(rate.low, rate.high)}); the judge says {percent(rate.judge)}."
    )


def _verdict(corrected: pd.Series, judge: float) -> str:
    if judge > corrected["high"]:
        return ", more than the interval allows"
    return ", less than the interval allows" if judge < corrected["low"] else ", which the interval includes"
