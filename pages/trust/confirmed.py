"""What raters confirm of a judge's labels, drawn: the rated pairs of each label as squares, and both rates on one scale."""

from __future__ import annotations

import math

from markupsafe import Markup

from annotation.prevalence.estimates import CorrectedRate
from annotation.ratings.gold import ConfirmedCalls, confirmed_calls
from audit.charts.dark_mode import light_dark
from audit.charts.style import LABEL_COLOURS, percent
from pages._blinded.templates import rendered
from pages._shared.judge_sentences import ORDER, label_sentence
from pages._shared.rating_sources import RatingSource

SQUARES = (
    "Each square is {pairs} that the judge gave this label. Filled: {who} confirm it; half filled: they are divided; empty: they "
    "do not."
)
MOST_SQUARES = 80
"""In a row; above that a square is several pairs."""


def rates_html(rate: CorrectedRate) -> Markup:
    """Both rates as dots on one scale from 0, in percent of its width, the corrected one with its interval."""
    full = 1.1 * max(rate.judge, rate.value, 0.01) if math.isnan(rate.high) else 1.1 * max(rate.judge, rate.high)
    judge = {"name": "As the judge labels", "kind": "judge", "value": 100 * rate.judge / full, "low": None}
    ends = {"low": None} if math.isnan(rate.high) else {"low": 100 * rate.low / full, "high": 100 * rate.high / full}
    corrected = {"name": "Corrected", "kind": "corrected", "value": 100 * rate.value / full, **ends}
    rows = [judge | {"words": percent(rate.judge)}, corrected | {"words": percent(rate.value)}]
    return rendered("trust/rates.html", rows=rows)


def confirmed_html(source: RatingSource) -> Markup:
    """Of each label the rated pairs as squares, with precision and recall in a sentence."""
    calls = {label: confirmed_calls(source.ratings, label) for label in ORDER}
    pairs = max(1, -(-max(one.rated for one in calls.values()) // MOST_SQUARES))
    rows = [
        {"label": label.value.capitalize(), "colour": light_dark(LABEL_COLOURS[label]), "squares": squares(one, pairs),
         "words": label_sentence(source, label)}
        for label, one in calls.items()
    ]  # fmt: skip
    key = SQUARES.format(pairs="a pair" if pairs == 1 else f"{pairs:,} pairs", who=source.kind.words)
    return rendered("trust/confirmed.html", rows=rows, key=key)


def squares(calls: ConfirmedCalls, pairs: int) -> list[str]:
    """The state of each square of a label, one for so many pairs: `yes`, `divided` and `no`."""
    yes, divided, every = (round(count / pairs) for count in (calls.confirmed, calls.divided, calls.rated))
    return ["yes"] * yes + ["divided"] * divided + ["no"] * (every - yes - divided)
