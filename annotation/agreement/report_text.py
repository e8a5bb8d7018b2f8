"""The agreement report as text: JSON for programs, Markdown for people."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.report import HEADLINE, AgreementReport
from annotation.ratings.table import JUDGE
from audit.formatting import escape_markdown, fixed, markdown_table, typed

NamedComparison = tuple[str, pd.DataFrame]
"""The name of a baseline, and the table of `annotation.agreement.baseline_comparison.compare_with_baseline`."""
MEASURE_NAMES = {
    "kappa_quadratic": "Cohen's kappa, quadratic weights",
    "kappa_linear": "Cohen's kappa, linear weights",
    "kappa": "Cohen's kappa, unweighted",
    "kappa_fleiss": "Fleiss' kappa",
    "agreement": "raw agreement",
    "accuracy": "accuracy",
    "ac1": "Gwet's AC1",
    "pabak": "PABAK (Brennan-Prediger)",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "f1_macro": "macro F1",
    "f1_weighted": "weighted F1",
    "f1": "F1",
}
ABOUT = {"label": "Label", "significance": "Clinical significance, on the items where all chose one"}
SCOPES = {SAMPLE: "in the sample", POPULATION: "weighted to the population"}


def as_json(report: AgreementReport, source: str, baseline: NamedComparison | None = None) -> str:
    """An object with source, counts, population (why there are no figures of it, or null) and the tables of the report.

    What is undefined is null, with its note in the same row. `other` names the baseline; the comparison with it is in `beside`.
    """
    tables = report.tables | ({} if baseline is None else {"beside": baseline[1]})
    rows = {name: json.loads(table.to_json(orient="records", double_precision=15)) for name, table in tables.items()}
    about = {"source": source, "counts": report.counts, "population": report.population or None}
    about |= {} if baseline is None else {"other": baseline[0]}
    return json.dumps({**about, **rows}, ensure_ascii=False, indent=1)


def as_markdown(report: AgreementReport, source: str, baseline: NamedComparison | None = None) -> str:
    """The report to read: each comparison with its figures, its confusion matrices and the judge's errors."""
    sections = [*_sections(report, source), *([] if baseline is None else _baseline_section(*baseline))]
    return "\n\n".join(sections)


def _sections(report: AgreementReport, source: str) -> Iterator[str]:
    yield f"# Agreement in {escape_markdown(source)}"
    yield "; ".join(f"{name}: {number}" for name, number in report.counts.items()) + "."
    if report.population:
        yield f"Figures describe the sample only: {report.population}."
    yield f"Intervals are 95 %. The headline is {MEASURE_NAMES[HEADLINE]}, because the labels are ordered."
    figures = report.figures[report.figures["name"] != "prevalence"]
    for key, rows in figures.groupby(["about", "first", "second"], sort=False):
        about, first, second = map(str, key)
        yield _comparison_heading(about, first, second)
        yield from _figure_tables(rows)
        yield from _confusion_matrices(report.confusion, about, first, second)
        yield from _error_table(report.errors, about, first, second)
    yield "## How often each label was given"
    yield _prevalence_table(report.figures)
    yield from _effort_sections(report)
    yield from _retest_section(report.retest)


def _comparison_heading(about: str, first: str, second: str) -> str:
    raters = f"{first} and {second}" if second != JUDGE else f"judge, measured by {first}"
    return f"## {ABOUT[about]}: {raters if second else first + ' together'}"


def _figure_tables(rows: pd.DataFrame) -> Iterator[str]:
    overall, by_label = rows[rows["label"] == ""], rows[rows["label"] != ""]
    yield _scope_columns(overall, ["name"])
    if len(by_label):
        yield _scope_columns(by_label, ["label", "name"])


def _scope_columns(rows: pd.DataFrame, keys: list[str]) -> str:
    """One line per figure, one column per scope."""
    lines = []
    for key, scopes in rows.groupby(keys, sort=False):
        figures = _records(scopes)
        cells = [MEASURE_NAMES.get(part, part) for part in map(str, key)]
        lines.append([*cells, *map(_figure_cell, figures), str(figures[0]["n"]), figures[0]["word"]])
    header = ["figure" if key == "name" else key for key in keys] + [SCOPES[scope] for scope in rows["scope"].unique()]
    return markdown_table([*header, "n", "in words (sample)"], lines)


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _figure_cell(row: dict[str, Any]) -> str:
    if math.isnan(row["value"]):
        return str(row["note"])
    interval = "" if math.isnan(row["low"]) else f" [{typed(row['low'], 4)}, {typed(row['high'], 4)}]"
    return typed(row["value"], 4) + interval + (f" ({row['note']})" if row["note"] else "")


def _confusion_matrices(confusion: pd.DataFrame, about: str, first: str, second: str) -> Iterator[str]:
    chosen = confusion[(confusion["about"] == about) & (confusion["first"] == first) & (confusion["second"] == second)]
    for scope, cells in chosen.groupby("scope", sort=False):
        unit = "items" if scope == SAMPLE else "estimated pairs of the run"
        labels = [str(label) for label in cells["first_label"].unique()]
        matrix = cells.pivot(index="first_label", columns="second_label", values="count").loc[labels, labels]
        yield f"Rows {first}, columns {second}; {unit}:"
        rows = zip(labels, matrix.to_numpy(), strict=True)
        yield markdown_table(["", *labels], [[label, *(fixed(count, 0) for count in row)] for label, row in rows])


def _error_table(errors: pd.DataFrame, about: str, first: str, second: str) -> Iterator[str]:
    kinds = errors[errors["by"] == first]
    if about == "label" and second == JUDGE and len(kinds):
        yield f"The judge's errors by {first}, {kinds['n'].sum()} in all:"
        lines = [
            [row["right"], row["judged"], str(row["n"]), escape_markdown(", ".join(row["items"]))] for row in _records(kinds)
        ]
        yield markdown_table(["label", "judge's label", "n", "items"], lines)


def _prevalence_table(figures: pd.DataFrame) -> str:
    rows = figures[figures["name"] == "prevalence"]
    lines = []
    for (rater, label), scopes in rows.groupby(["first", "label"], sort=False):
        shares = _records(scopes)
        lines.append([str(rater), str(label), *map(_figure_cell, shares), str(shares[0]["n"])])
    return markdown_table(["rater", "label", *(SCOPES[scope] for scope in rows["scope"].unique()), "n"], lines)


def _effort_sections(report: AgreementReport) -> Iterator[str]:
    if len(report.times):
        yield "## Time per item, in seconds"
        header = ["annotator", "n", "median", "10 %", "90 %", "first quarter", "last quarter"]
        lines = [[row["annotator"], str(row["n"]), *map(_seconds, list(row.values())[2:])] for row in _records(report.times)]
        yield markdown_table(header, lines)
    if len(report.drift):
        yield "## Same label as others, by quarter of the work"
        lines = []
        for (annotator, other), quarters in report.drift.groupby(["annotator", "against"], sort=False):
            lines.append([str(annotator), str(other), *map(_figure_cell, _records(quarters))])
        quarter_names = [f"quarter {quarter}" for quarter in report.drift["quarter"].unique()]
        yield markdown_table(["annotator", "compared with", *quarter_names], lines)


def _seconds(value: float) -> str:
    return "-" if math.isnan(value) else typed(value, 1)


def _retest_section(retest: pd.DataFrame) -> Iterator[str]:
    if len(retest):
        yield "## Intra-rater (test-retest) reliability, on hidden repeats"
        lines = [
            [row["annotator"], MEASURE_NAMES[row["name"]], _figure_cell(row), str(row["n"]), row["word"]]
            for row in _records(retest)
        ]
        yield markdown_table(["annotator", "figure", "value", "n", "in words"], lines)


def _baseline_section(name: str, comparison: pd.DataFrame) -> Iterator[str]:
    yield f"## The judge compared with a baseline: {escape_markdown(name)}"
    lines = []
    for row in _records(comparison):
        values = [_value_cell(row, column) for column in ("judge", "other", "difference")]
        lines.append([row["by"], SCOPES[row["scope"]], MEASURE_NAMES[row["name"]], *values, str(row["n"]), row["note"]])
    yield markdown_table(["measured by", "scope", "figure", "judge", escape_markdown(name), "difference", "n", "note"], lines)


def _value_cell(row: dict[str, Any], column: str) -> str:
    value, low, high = (row[key] for key in (column, f"{column}_low", f"{column}_high"))
    return "-" if math.isnan(value) else f"{typed(value, 3)} [{typed(low, 3)}, {typed(high, 3)}]"
