"""Agreement: how far annotators agree with each other and with the judge, updated live while they work."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.report import AgreementReport
from annotation.agreement.tables import (
    BY_LABEL_TABLE,
    DRIFT_TABLE,
    ERRORS_TABLE,
    FIGURE,
    FIGURES_TABLE,
    LABEL_SHARES_TABLE,
    RETEST_TABLE,
    TIMES_TABLE,
    with_interval,
)
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import Study, StudyState, find_study
from annotation.ratings.table import JUDGE
from annotation.schemes import HEAD_TO_HEAD, PAIRS, SCHEMES
from annotation.studies.accounts import Account, Role
from annotation.studies.preference_results import COUPLES_TABLE
from annotation.studies.verdict_store import verdicts_by_item
from audit.charts.style import coefficient_interval
from audit.errors import AuditError
from audit.formatting import fixed
from pages._blinded.access import label_store, require_role
from pages._blinded.frame import escaped, explain, study_page
from pages._shared.marked_sentences import marked_sentences
from pages._shared.preference_tables import preference_tables
from pages._shared.study_figures import baseline_section, current_report, judge_is_known, pick_study_or_stop, rater_names
from pages._shared.widgets import clicked_row, csv_button, table

LEAD = (
    "How far annotators agree with each other and with the judge. Labels of pairs are ordered, so the headline is the weighted "
    "kappa; choices between two systems have no order, so there it is the plain one."
)
JUDGE_HIDDEN = (
    "Adjudicators decide without the judge, so these figures exclude it. Agreement with the judge appears here when every "
    "dispute is decided."
)
SIDES_TURNED = "A and B are the first and the second system of the study, whatever side of the screen their answers were on."
REFRESH_S = 5
DIGITS = 3
"""Decimals of a coefficient here: an interval of kappa is often only a few hundredths wide."""
SCOPES = {SAMPLE: "These items", POPULATION: "Weighted to the whole run"}
ABOUT = {"label": "Label", "significance": "Clinical significance, where all chose one"}
Comparison = tuple[str, str, str]
"""(label or significance, first rater, second rater); without a second rater, all raters together."""


def pick_comparison(report: AgreementReport, names: dict[str, str]) -> tuple[Comparison, str]:
    """The chosen comparison, and its scope."""
    pairs = report.figures[report.figures["name"] != "prevalence"][["about", "first", "second"]].drop_duplicates()
    options: list[Comparison] = [(str(about), str(first), str(second)) for about, first, second in pairs.to_numpy().tolist()]
    chosen = st.selectbox("Compare", options, format_func=lambda comparison: in_words(comparison, names), key="comparison")
    scopes = list(report.figures["scope"].unique())
    scope = st.segmented_control("For", scopes, key="scope", required=True, default=SAMPLE, format_func=SCOPES.__getitem__)
    return chosen, scope or SAMPLE


def in_words(comparison: Comparison, names: dict[str, str]) -> str:
    """A comparison in words, as plain text."""
    about, first, second = comparison
    first_name, second_name = names.get(first, first), names.get(second, second)
    if second == JUDGE:
        return f"{ABOUT[about]}: {second_name} against {first_name}"
    return f"{ABOUT[about]}: {first_name} and {second_name}" if second else f"{ABOUT[about]}: {first_name} together"


def rows_of(frame: pd.DataFrame, comparison: Comparison, scope: str) -> pd.DataFrame:
    """The rows of one comparison in one scope."""
    about, first, second = comparison
    return frame[(frame[["about", "first", "second", "scope"]] == [about, first, second, scope]).all(axis=1)]


def headline(rows: pd.DataFrame, coefficient: str) -> None:
    """The headline coefficient and the raw agreement, each with interval and count."""
    for column, name in zip(st.columns(2), (coefficient, "agreement"), strict=True):
        for row in rows[(rows["name"] == name) & (rows["label"] == "")].to_dict("records"):
            value = "undefined" if math.isnan(row["value"]) else fixed(row["value"], DIGITS)
            column.metric(escaped(_capitalised(FIGURE.display(name))), value)
            known = not math.isnan(row["low"])
            interval = f"95 % interval {coefficient_interval(row['low'], row['high'], DIGITS)}; " if known else ""
            parts = [f"{interval}{row['n']} items", row["word"], row["note"]]
            column.caption(escaped(" ".join(f"{_capitalised(part)}." for part in parts if part)))


def _capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]  # str.capitalize would lower-case the rest, such as F1


def matrix(report: AgreementReport, comparison: Comparison, scope: str, names: dict[str, str]) -> None:
    """The confusion matrix: rows are the first rater's labels."""
    cells = rows_of(report.confusion, comparison, scope)
    if cells.empty:  # all raters together have no matrix
        return
    order = list(dict.fromkeys(cells["first_label"]))
    wide = cells.pivot(index="first_label", columns="second_label", values="count").loc[order, order].round(0).astype(int)
    unit = "items" if scope == SAMPLE else "estimated pairs of the run"
    first, second = names.get(comparison[1], comparison[1]), names.get(comparison[2], comparison[2])
    st.markdown(escaped(f"Rows: {first}. Columns: {second}. Cells: {unit}."))
    if report.scheme is HEAD_TO_HEAD:
        st.caption(SIDES_TURNED)
    shown = wide.rename_axis(None).rename_axis(None, axis=1).rename(index=_in_title_case, columns=_in_title_case)
    st.dataframe(shown, key=f"matrix_{scope}", width="stretch")


def _in_title_case(word: str) -> str:
    return HEAD_TO_HEAD.names.get(word, word.capitalize())


def errors(report: AgreementReport, study: Study, names: dict[str, str]) -> None:
    """The judge's errors by kind; a click opens the items."""
    st.header("The judge's errors", anchor=False)
    if report.errors.empty:
        st.markdown("There are none among the items that both annotators have labelled.")
        return
    named = report.errors.assign(by=report.errors["by"].map(lambda rater: names.get(rater, rater)))
    row = clicked_row(named, "errors", ERRORS_TABLE.named("by", "right", "judged", "n"), rows=8)
    st.caption("Click a row to read its items.")
    if row is not None:
        show_items(study, list(row["items"]))


def show_items(study: Study, items: list[str]) -> None:
    """The items of one kind of error, one at a time."""
    number = st.pagination(len(items), key="error_item") if len(items) > 1 else 1
    item_id = items[min(number, len(items)) - 1]
    rows = [row for row in assignment_rows(label_store(), study.study_id) if row["item_id"] == item_id]
    verdict = verdicts_by_item(label_store(), study.study_id)[item_id]
    st.text(rows[0]["question"])
    for column, side in zip(st.columns(2), "ab", strict=True):
        with column.container(border=True):
            st.caption(escaped(rows[0][f"name_{side}"]))
            st.text(rows[0][f"answer_{side}"])
    labels = "; ".join(f"{row['seat']}: {(row['label'] or 'not rated').lower()}" for row in rows)
    st.text(f"{labels}; the judge: {verdict.label.lower()}. {verdict.reasoning or ''}")


def effort(report: AgreementReport, names: dict[str, str]) -> None:
    """Time per item and drift over time."""
    with st.expander("Time per item, and drift from the first quarter of the work to the last"):
        table(report.times.assign(annotator=report.times["annotator"].map(names)), "times", TIMES_TABLE.columns)
        named = report.drift.assign(
            **{name: report.drift[name].map(lambda rater: names.get(rater, rater)) for name in ("annotator", "against")}
        )
        table(with_interval(named), "drift", DRIFT_TABLE.columns)


def prevalence(report: AgreementReport, scope: str, names: dict[str, str]) -> None:
    """How often each rater chose each label: kappa falls when one label is frequent."""
    rows = report.figures[(report.figures["name"] == "prevalence") & (report.figures["scope"] == scope)]
    with st.expander("How often each label was chosen"):
        named = rows.assign(first=rows["first"].map(lambda rater: names.get(rater, rater)))
        table(with_interval(named, scope), "prevalence", LABEL_SHARES_TABLE.named("first", "label", scope, "n", "note"))


def intra_rater(report: AgreementReport) -> None:
    """Intra-rater agreement, on the silent repeats."""
    with st.expander("Intra-rater agreement: the same annotator on the same item twice"):
        if report.retest.empty:
            st.markdown("No annotator has rated a repeated item twice yet.")
            return
        table(with_interval(report.retest), "intra_rater", RETEST_TABLE.columns, decimals=DIGITS)


def judge_is_shown(study: Study, account: Account) -> bool:
    """Whether figures include the judge: for an adjudicator only when every dispute is decided."""
    return account.role is Role.PI or judge_is_known(study)


def figures(study_id: str) -> None:
    """The current report."""
    try:
        # Checked in each refresh: a fragment runs without the page around it, and the session may have ended.
        account, study = require_role(Role.PI, Role.ADJUDICATOR), find_study(label_store(), study_id)
        judged = judge_is_shown(study, account)
        report, names = current_report(study_id, judged=judged), rater_names(study_id)
    except AuditError as error:
        explain(error)
        return
    counts = "; ".join(f"{names.get(name, name)}: {count}" for name, count in report.counts.items())
    st.caption(escaped(f"{counts}. State: {study.state}."))
    if not judged and study.scheme is PAIRS:
        st.info(JUDGE_HIDDEN)
    comparison, scope = pick_comparison(report, names)
    rows = rows_of(report.figures, comparison, scope)
    shown = scope if len(rows) else SAMPLE
    if rows.empty:
        st.caption("For all raters together there are figures for these items only.")
        rows = rows_of(report.figures, comparison, SAMPLE)
    headline(rows, report.scheme.headline)
    overall, of_labels = rows[rows["label"] == ""], rows[rows["label"] != ""]
    columns = FIGURES_TABLE.named("figure", shown, "n", "word", "note")
    table(with_interval(overall, shown), "figures", columns, rows=14, decimals=DIGITS)
    if len(of_labels):
        with st.expander("By label: precision, recall and F1"):
            columns = BY_LABEL_TABLE.named("label", "figure", shown, "n", "note")
            table(with_interval(of_labels, shown), "by_label", columns, rows=15, decimals=DIGITS)
    csv_button(rows, "figures", f"{study.study_id}_agreement.csv")
    matrix(report, comparison, scope, names)
    prevalence(report, scope, names)
    if judged and study.scheme is PAIRS:
        errors(report, study, names)
        judged_by = comparison[1] if comparison[2] == JUDGE and comparison[0] == "label" else ""
        baseline_section(study.study_id, judged_by, scope, names)
    if judged and study.scheme is HEAD_TO_HEAD:
        st.header(COUPLES_TABLE.title, anchor=False)
        preference_tables(label_store(), study.study_id)
    intra_rater(report)
    marked_sentences(label_store(), study.study_id)
    effort(report, names)


with study_page("Agreement", LEAD, Role.PI, Role.ADJUDICATOR):
    study = pick_study_or_stop(*SCHEMES.values())
    # A closed study does not change, so it needs no refresh.
    st.fragment(figures, run_every=None if study.state is StudyState.CLOSED else REFRESH_S)(study.study_id)
