"""The agreement report as text: JSON for machines, CSV for spreadsheets, Markdown for people."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.report import HEADLINE, Report
from annotation.ratings import JUDGE
from audit.number_format import fixed, typed

Beside = tuple[str, pd.DataFrame]
"""What another judge is called, and the table of `annotation.agreement.floor.beside`."""
SPOKEN = {
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
ABOUT = {"label": "Label", "significance": "Clinical significance, on the items where all of them gave one"}
SCOPES = {SAMPLE: "in the sample", POPULATION: "weighted to the population"}


def as_json(report: Report, source: str, beside: Beside | None = None) -> str:
    """An object with source, counts, population (why there are no figures of it, or null) and the tables of the report.

    What is undefined is null, with its note beside it. `other` names the judge that stands in `beside`.
    """
    tables = {
        "figures": report.figures,
        "confusion": report.confusion,
        "errors": report.errors,
        "times": report.times,
        "drift": report.drift,
        "oneself": report.oneself,
    } | ({} if beside is None else {"beside": beside[1]})
    rows = {name: json.loads(table.to_json(orient="records", double_precision=15)) for name, table in tables.items()}
    about = {"source": source, "counts": report.counts, "population": report.population or None}
    about |= {} if beside is None else {"other": beside[0]}
    return json.dumps({**about, **rows}, ensure_ascii=False, indent=1)


def as_markdown(report: Report, source: str, beside: Beside | None = None) -> str:
    """The report to read: each comparison with its figures, its confusion matrices and the judge's errors."""
    sections = [*_sections(report, source), *([] if beside is None else _beside(*beside))]
    return "\n\n".join(sections)


def _beside(other: str, frame: pd.DataFrame) -> Iterator[str]:
    """The judge and another judge on the same items."""
    yield f"## The judge beside another: {plain(other)}"
    lines = []
    for row in _records(frame):
        said = [_between(row, name) for name in ("judge", "other", "difference")]
        lines.append([row["by"], SCOPES[row["scope"]], SPOKEN[row["name"]], *said, str(row["n"]), row["note"]])
    yield table(["measured by", "", "figure", "judge", plain(other), "difference", "n", "note"], lines)


def _between(row: dict[str, Any], name: str) -> str:
    value, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
    return "-" if math.isnan(value) else f"{typed(value, 3)} [{typed(low, 3)}, {typed(high, 3)}]"


def _sections(report: Report, source: str) -> Iterator[str]:
    yield f"# Agreement in {plain(source)}"
    yield "; ".join(f"{name}: {number}" for name, number in report.counts.items()) + "."
    if report.population:
        yield f"Figures describe the sample only: {report.population}."
    yield f"Intervals are 95 %. The headline is {SPOKEN[HEADLINE]}: the labels are ordered."
    for key, rows in report.figures[report.figures["name"] != "prevalence"].groupby(["about", "first", "second"], sort=False):
        about, first, second = map(str, key)
        yield _heading(about, first, second)
        yield from _comparison(rows)
        yield from _matrices(report.confusion, about, first, second)
        yield from _errors(report.errors, about, first, second)
    yield "## How often each label was given"
    yield _prevalences(report.figures)
    yield from _work(report)
    yield from _oneself(report.oneself)


def _heading(about: str, first: str, second: str) -> str:
    who = f"{first} and {second}" if second != JUDGE else f"judge, measured by {first}"
    return f"## {ABOUT[about]}: {who if second else first + ' together'}"


def _comparison(rows: pd.DataFrame) -> Iterator[str]:
    overall, by_label = rows[rows["label"] == ""], rows[rows["label"] != ""]
    yield _wide(overall, ["name"], {"name": "figure"})
    if len(by_label):
        yield _wide(by_label, ["label", "name"], {"name": "figure"})


def _wide(rows: pd.DataFrame, keys: list[str], names: dict[str, str]) -> str:
    """One line per figure, one column per scope."""
    lines = []
    for key, scopes in rows.groupby(keys, sort=False):
        found = _records(scopes)
        cells = [SPOKEN.get(part, part) for part in map(str, key)]
        lines.append([*cells, *map(_figure, found), str(found[0]["n"]), found[0]["word"]])
    header = [names.get(key, key) for key in keys] + [SCOPES[scope] for scope in rows["scope"].unique()]
    return table([*header, "n", "in words (sample)"], lines)


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _figure(row: dict[str, Any]) -> str:
    if math.isnan(row["value"]):
        return str(row["note"])
    between = "" if math.isnan(row["low"]) else f" [{typed(row['low'], 4)}, {typed(row['high'], 4)}]"
    return typed(row["value"], 4) + between + (f" ({row['note']})" if row["note"] else "")


def _matrices(confusion: pd.DataFrame, about: str, first: str, second: str) -> Iterator[str]:
    chosen = confusion[(confusion["about"] == about) & (confusion["first"] == first) & (confusion["second"] == second)]
    for scope, cells in chosen.groupby("scope", sort=False):
        unit = "items" if scope == SAMPLE else "estimated pairs of the run"
        labels = [str(label) for label in cells["first_label"].unique()]
        matrix = cells.pivot(index="first_label", columns="second_label", values="count").loc[labels, labels]
        yield f"Rows {first}, columns {second}; {unit}:"
        counted = zip(labels, matrix.to_numpy(), strict=True)
        yield table(["", *labels], [[label, *(fixed(count, 0) for count in row)] for label, row in counted])


def _errors(errors: pd.DataFrame, about: str, first: str, second: str) -> Iterator[str]:
    mine = errors[errors["by"] == first]
    if about == "label" and second == JUDGE and len(mine):
        yield f"The judge's errors by {first}, {mine['n'].sum()} in all:"
        kinds = [[row["right"], row["judged"], str(row["n"]), plain(", ".join(row["items"]))] for row in _records(mine)]
        yield table(["label", "judge's label", "n", "items"], kinds)


def _prevalences(figures: pd.DataFrame) -> str:
    rows = figures[figures["name"] == "prevalence"]
    lines = []
    for (seat, label), scopes in rows.groupby(["first", "label"], sort=False):
        found = _records(scopes)
        lines.append([str(seat), str(label), *map(_figure, found), str(found[0]["n"])])
    return table(["who", "label", *(SCOPES[scope] for scope in rows["scope"].unique()), "n"], lines)


def _work(report: Report) -> Iterator[str]:
    if len(report.times):
        yield "## Time per item, in seconds"
        yield table(
            ["who", "n", "median", "10 %", "90 %", "first quarter", "last quarter"],
            [
                [row["annotator"], str(row["n"]), *(_number(value) for value in list(row.values())[2:])]
                for row in _records(report.times)
            ],
        )
    if len(report.drift):
        yield "## Same label as others, in the course of the work"
        lines = []
        for (who, other), quarters in report.drift.groupby(["annotator", "against"], sort=False):
            lines.append([str(who), str(other), *map(_figure, _records(quarters))])
        yield table(["who", "against", *(f"quarter {row}" for row in report.drift["quarter"].unique())], lines)


def _oneself(oneself: pd.DataFrame) -> Iterator[str]:
    if len(oneself):
        yield "## Each annotator with oneself, on the silent repeats"
        lines = [[row["annotator"], SPOKEN[row["name"]], _figure(row), str(row["n"]), row["word"]] for row in _records(oneself)]
        yield table(["who", "figure", "value", "n", "in words"], lines)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else typed(value, 1)


def table(header: list[str], lines: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *lines))


def plain(text: str) -> str:
    """Text from a file, so that it cannot break out of its cell."""
    return re.sub(r"([\\|`*_\[\]<>$])", r"\\\1", " ".join(text.split()))
