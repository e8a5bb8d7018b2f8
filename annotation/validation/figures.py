"""The figures of a validation study."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from annotation.ratings import JUDGE
from annotation.validation.data import ValidationData, label_word
from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_COLOURS, Figure
from audit.exports.table_model import Picture
from audit.vocabulary import LABELS, Label

MEASURES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
COLOURS = {"precision": "#6b7280", "recall": "#c77700", "f1": LABEL_COLOURS[Label.CONSISTENT]}


def pictures(evidence: ValidationData) -> Iterator[Picture]:
    """The judge label by label, and the corrected share of each label."""
    title = "The judge by the majority, label by label, with 95 % intervals (sample)"
    yield Picture("study_by_label", title, _by_label(evidence))
    yield Picture("study_prevalence", "Share of each label in the run, corrected, with 95 % intervals", _shares(evidence))


def _by_label(evidence: ValidationData) -> Figure:
    figures = evidence.report.figures
    own = figures[(figures["first"] == "majority") & (figures["second"] == JUDGE) & (figures["scope"] == "sample")]
    columns: dict[str, list[object]] = {"label": [label_word(label) for label in LABELS]}
    for name in MEASURES:
        found = own[own["name"] == name].set_index("label").reindex(list(map(str, LABELS)))
        ends = zip(("", "_low", "_high", "_n"), ("value", "low", "high", "n"), strict=True)
        columns |= {name + end: found[column].tolist() for end, column in ends}
    rates = [Rate(name, words, f"{name}_n", "items", COLOURS[name]) for name, words in MEASURES.items()]
    return rate_dots(pd.DataFrame(columns), "label", rates)


def _shares(evidence: ValidationData) -> Figure:
    shares = evidence.shares
    own = shares[shares["method"] == "corrected"].rename(columns={"low": "value_low", "high": "value_high"})
    return rate_dots(
        own.assign(label=own["label"].map(label_word)), "label", (Rate("value", "Share of the run", "n", "rated items"),)
    )
