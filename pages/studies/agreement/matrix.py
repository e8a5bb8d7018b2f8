"""The confusion matrix of two raters of a study, whose cells open their items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from annotation.agreement.comparisons import POPULATION, SAMPLE, comparisons
from annotation.agreement.report import AgreementReport
from annotation.agreement.sentences import capitalised, figure, same_of, share_words, undefined
from annotation.agreement.tables import JUDGED_LABELS_TABLE, LABEL, rater_name
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import Study
from annotation.ratings.table import JUDGE, Ratings
from annotation.schemes import HEAD_TO_HEAD
from annotation.studies.verdict_store import verdicts_by_item
from audit.charts.confusion import confusion_figure
from audit.charts.style import NO_VALUE, coefficient_interval
from audit.formatting import fixed
from audit.tables import Row
from pages._blinded.access import label_store
from pages._blinded.frame import escaped
from pages._shared.widgets import clicked_point

Comparison = tuple[str, str, str]
"""(label or significance, first rater, second rater); without a second rater, all raters together."""
UNITS = {SAMPLE: "items", POPULATION: "estimated pairs of the run"}
SIDES_TURNED = "A and B are the first and the second system of the study, whatever side of the screen their answers were on."


@dataclass(frozen=True)
class ShownStudy:
    """A study as a page shows it.

    names   rater -> its name for a reader
    judged  whether this visitor may read the judge's verdict on an item
    """

    study: Study
    ratings: Ratings
    report: AgreementReport
    names: Mapping[str, str]
    judged: bool

    def name(self, rater: str) -> str:
        """A rater's name for a reader."""
        return self.names.get(rater, rater_name(rater))


def study_matrix(shown: ShownStudy, comparison: Comparison, scope: str = SAMPLE) -> None:
    """The matrix of two raters; a click on a cell lists its items. Nothing for all raters together."""
    about, first, second = comparison
    cells = shown.report.confusion
    own = cells[(cells[["about", "first", "second", "scope"]] == [about, first, second, scope]).all(axis=1)]
    if own.empty:
        return
    order = list(dict.fromkeys(own["first_label"]))
    counts = own.pivot(index="first_label", columns="second_label", values="count").loc[order, order]
    titles = capitalised(shown.name(first)), capitalised(shown.name(second))
    words = {word: LABEL.display(word) for word in order}
    alt = f"How many {UNITS[scope]} have each label by {titles[0]} (rows) and by {titles[1]} (columns), with totals."
    if shown.report.scheme is HEAD_TO_HEAD:
        st.caption(SIDES_TURNED)
    figure = confusion_figure(counts, words, *titles, UNITS[scope])
    clicked = clicked_point(figure, "_".join(("matrix", *comparison, scope)), alt)
    st.caption(escaped(f"Rows: {titles[0]}. Columns: {titles[1]}. Cells: {UNITS[scope]}. Click a cell to read its items."))
    if clicked:
        row, _, column = str(clicked).partition("\t")
        if items := items_of(shown.ratings, comparison, (row, column)):
            heading = f"{titles[0]}: {words[row]}. {titles[1]}: {words[column]}. {len(items):,} items."
            st.markdown(f"**{escaped(heading)}**")
            show_items(shown.study, items, judged=shown.judged)


def items_of(ratings: Ratings, comparison: Comparison, labels: tuple[str, str]) -> list[str]:
    """The items in one cell of the matrix, in the order of the study."""
    (own,) = [one for one in comparisons(ratings) if (one.about, one.first, one.second) == comparison]
    row, column = map(own.order.index, labels)
    return [str(item) for item in ratings.items[own.labelled_by_both & (own.rows == row) & (own.columns == column)]]


def show_items(study: Study, items: list[str], *, judged: bool) -> None:
    """These items, one at a time: question, both answers, everybody's label."""
    number = st.pagination(len(items), key="cell_item") if len(items) > 1 else 1
    item_id = items[min(number, len(items)) - 1]
    rows = [row for row in assignment_rows(label_store(), study.study_id) if row["item_id"] == item_id]
    item = rows[0]
    st.text(item["question"])
    sides = ((item["name_a"], item["answer_a"]), (item["name_b"], item["answer_b"]))
    for column, (name, answer) in zip(st.columns(2), sides, strict=True):
        with column.container(border=True):
            st.caption(escaped(name))
            st.text(answer)
    labels = "; ".join(f"{row['seat']}: {LABEL.display(row['label']) if row['label'] else 'not rated'}" for row in rows)
    verdict = verdicts_by_item(label_store(), study.study_id).get(item_id) if judged else None
    st.text(f"{labels}." if verdict is None else f"{labels}; the judge: {verdict.label.lower()}. {verdict.reasoning or ''}")


def label_rows(report: AgreementReport, by: str) -> pd.DataFrame:
    """Precision, recall and F1 of the judge for each label by one reference standard, with intervals, in words.

    Of a sample that was drawn by the judge's label, recall and F1 are those weighted to the run: its own would only mirror how
    many items of each label were drawn.
    """
    scope = SAMPLE if report.population else POPULATION
    rows = []
    for word in report.scheme.words:
        precision = figure(report, by, JUDGE, "precision", word)
        recall, f1 = (figure(report, by, JUDGE, name, word, scope) for name in ("recall", "f1"))
        if not (undefined(precision) and undefined(recall)):
            found = _counted(recall) if scope == SAMPLE else _weighted(recall)
            rows.append((word, _counted(precision), found, _written(f1), _care(precision, recall)))
    return pd.DataFrame(rows, columns=[column.name for column in JUDGED_LABELS_TABLE.columns])


def _counted(row: Row) -> str:
    return NO_VALUE if undefined(row) else f"{same_of(row)}: {share_words(row).replace('95 % interval ', '')}"


def _weighted(row: Row) -> str:
    return NO_VALUE if undefined(row) else f"{share_words(row).replace('95 % interval ', '')}; weighted to the run"


def _written(row: Row) -> str:
    return NO_VALUE if undefined(row) else f"{fixed(row['value'], 2)} ({coefficient_interval(row['low'], row['high'])})"


def _care(*rows: Row) -> str:
    return "few items" if any("too small" in row["note"] for row in rows) else ""
