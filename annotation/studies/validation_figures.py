"""The figures of a study's validation: the judge label by label, confusion matrices, the corrected shares."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from annotation.agreement.comparisons import SAMPLE
from annotation.agreement.report import AgreementReport
from annotation.agreement.sentences import capitalised
from annotation.agreement.tables import LABEL, rater_name
from annotation.prevalence.estimates import by_label
from annotation.ratings.table import JUDGE
from audit.charts.confusion import confusion_figure
from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_COLOURS, Figure
from audit.exports.table_model import Picture
from audit.vocabulary import LABELS, Label

LABEL_MEASURES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
COLOURS = {"precision": "#6b7280", "recall": "#c77700", "f1": LABEL_COLOURS[Label.CONSISTENT]}


def study_pictures(report: AgreementReport, shares: pd.DataFrame, by: str) -> Iterator[Picture]:
    """The judge label by label and its confusion matrix by one reference standard, those of annotators, the corrected shares."""
    title = f"The judge compared with {rater_name(by)}, label by label, with 95 % intervals (sample)"
    yield Picture("study_by_label", title, _judge_by_label(report, by))
    cells = report.confusion
    for (first, second), own in cells[(cells["about"] == "label") & (cells["scope"] == SAMPLE)].groupby(["first", "second"]):
        if second != JUDGE or first == by:
            yield _matrix_picture(str(first), str(second), own)
    yield Picture("study_prevalence", "Share of each label in the run, corrected, with 95 % intervals", _corrected_shares(shares))


def _matrix_picture(first: str, second: str, cells: pd.DataFrame) -> Picture:
    order = list(dict.fromkeys(cells["first_label"]))
    counts = cells.pivot(index="first_label", columns="second_label", values="count").loc[order, order]
    names = capitalised(rater_name(first)), capitalised(rater_name(second))
    name = f"study_matrix_{first}_{second}".replace("annotator_", "")
    title = f"Labels by {rater_name(first)} (rows) and by {rater_name(second)} (columns), items of the sample"
    return Picture(name, title, confusion_figure(counts, {word: LABEL.display(word) for word in order}, *names))


def _judge_by_label(report: AgreementReport, by: str) -> Figure:
    figures = report.figures
    own = figures[(figures["first"] == by) & (figures["second"] == JUDGE) & (figures["scope"] == SAMPLE)]
    columns: dict[str, list[object]] = {"label": list(map(LABEL.display, LABELS))}
    for name in LABEL_MEASURES:
        rows = own[own["name"] == name].set_index("label").reindex(list(map(str, LABELS)))
        limits = zip(("", "_low", "_high", "_n"), ("value", "low", "high", "n"), strict=True)
        columns |= {name + end: rows[column].tolist() for end, column in limits}
    rates = [Rate(name, words, f"{name}_n", "items", COLOURS[name]) for name, words in LABEL_MEASURES.items()]
    return rate_dots(pd.DataFrame(columns), "label", rates)


def _corrected_shares(shares: pd.DataFrame) -> Figure:
    own = by_label(shares)
    share = Rate("value", "Share of the run", "n", "rated items")
    return rate_dots(own.assign(label=own["label"].map(LABEL.display)), "label", [share])
