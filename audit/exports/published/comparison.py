"""The figures of a run compared with the published ones: what agrees, what differs, and what cannot be computed.

figures.csv beside this module has every published figure, facts only: which source, by which name the run's figure is computed,
a title, the figure as printed (`< 0.001`, `5 to 6`; digits count), and the part of the source in which it is printed.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.exports.context import ExportContext
from audit.exports.table_model import Table, count, estimate
from audit.formatting import typed
from audit.tables import HIGH, LOW, Column

AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "cannot be computed"
VERDICT_COUNTS = {AGREES: "agree", DIFFERS: "differ", UNKNOWN: UNKNOWN}
NOT_AVAILABLE = "The release has no such figure."
MISSING = {
    "study.": "No study of human labels was named (--study ID).", "runs.": "No earlier run was named (--against RUN).",
    "ablation.": "No run of the other protocol was named (--against RUN).",
    "bertscore": "BERTScore was not computed (audit systems score RELEASE --bertscore).",
    "composite": "Answers of this system have no scores on the criteria (audit systems judge RELEASE).",
    "reference/com": "The reference answers have no scores on the criteria (audit systems judge RELEASE).",
    "downstream": "No system has both scores on the criteria and passages with known gold.",
}  # fmt: skip
"""Prefix of a figure's name -> why the figure is missing."""
NOTES = (
    "Agrees: the figures are equal after rounding to the printed digits (counts: equal); or the published figure lies "
    "within the 95 % interval of this release, where it has one. A wide interval agrees with many values.",
    "Lowest and highest {organ}: over {organs} by name, general {questions} as one of them; absent pairs are among the "
    "{handbooks} of one {organ}, so general {questions} are left out there.",
    "Absence of {a_handbook}: of all {questions}, as printed, also of those that it was not asked.",
)


# -- figures of a run --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunFigure:
    """A figure, and its 95 % interval where it has one; `population`: what it is over, where that differs from row to row."""

    value: float
    low: float = float("nan")
    high: float = float("nan")
    population: str = ""


RunFigures = dict[str, RunFigure | str]
"""The figures of a run by the names of published ones; where a figure is missing, a text says why."""


# -- comparison --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PublishedFigure:
    """One published figure: `value` as it is printed; `below` and `above`: printed as "under" or "over" that value.

    most  the upper end of a figure that is printed as a range, whose lower end is `value`
    """

    name: str
    title: str
    value: str
    where: str
    below: bool = False
    above: bool = False
    most: str = ""

    @classmethod
    def as_printed(cls, name: str, title: str, printed: str, where: str) -> PublishedFigure:
        """From a row of figures.csv."""
        value, _, most = printed.partition(" to ")
        return cls(name, title, value.lstrip("<> "), where, printed.startswith("<"), printed.startswith(">"), most)

    @property
    def digits(self) -> int:
        """Decimals that are printed; 0 for a count."""
        return len(self.value.partition(".")[2])

    @property
    def text(self) -> str:
        """The figure to read."""
        number = self.value if self.digits else count(float(self.value))
        return f"{'< ' if self.below else '> ' if self.above else ''}{number}{f' to {self.most}' if self.most else ''}"


@dataclass(frozen=True)
class PublishedSource:
    """A source of published figures.

    key       of its rows in figures.csv
    citation  as a table names it
    table     the stem of the files of the run's comparison with it
    notes     of that table
    subjects  of a run: id -> the published system, method or model that it is; none where nothing can be compared
    figures   of a run with these subjects, by the names of the published figures
    subject   the published subject of a figure, which is shown only beside the run's own; None: it has none, and is always shown
    stand_ins of a run, a system of it and published subjects: what `figures` takes, so that the system is in their place
    """

    key: str
    citation: str
    table: str
    notes: tuple[str, ...]
    subjects: Callable[[ExportContext], Mapping[str, str]]
    figures: Callable[[ExportContext, Mapping[str, str]], RunFigures]
    subject: Callable[[PublishedFigure], str | None]
    stand_ins: Callable[[ExportContext, str, Iterable[str]], Iterable[Mapping[str, str]]] = lambda *_: ()

    @property
    def published(self) -> tuple[PublishedFigure, ...]:
        """All its figures, in the order of figures.csv."""
        return published_figures(self.key)

    def shown(self, subjects: Mapping[str, str]) -> list[PublishedFigure]:
        """Those about the run's subjects, or about none."""
        wanted = {None, *subjects.values()}
        return [figure for figure in self.published if self.subject(figure) in wanted]

    def comparison(self, figures_of_run: Mapping[str, RunFigure | str], subjects: Mapping[str, str]) -> Table:
        """The figures of a run next to those of the source."""
        return comparison_table(self.table, self.citation, figures_of_run, self.shown(subjects), self.notes)


@cache
def published_figures(source: str) -> tuple[PublishedFigure, ...]:
    """The figures of a source, by its key in figures.csv."""
    text = (files(__package__) / "figures.csv").read_text("utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["source"] == source]
    return tuple(PublishedFigure.as_printed(row["name"], row["title"], row["printed"], row["where"]) for row in rows)


def row_figure(row: Mapping[Hashable, Any], name: str, population: str = "", *, percent: bool = False) -> RunFigure:
    """The figure in a column of a metric, with its interval; `percent`: as a percentage."""
    value, low, high = (float(row[name + end]) * (100 if percent else 1) for end in ("", LOW, HIGH))
    return RunFigure(value, low, high, population)


def verdict(published: PublishedFigure, own: RunFigure) -> tuple[str, str]:
    """Whether a figure agrees with the published one, and the criterion used."""
    target, has_interval = float(published.value), not math.isnan(own.low)
    low, high, of = (own.low, own.high, ", 95 % interval") if has_interval else (own.value, own.value, "")
    if published.below:
        return AGREES if low < target else DIFFERS, f"under {published.value}{of}"
    if published.above:
        return AGREES if high > target else DIFFERS, f"over {published.value}{of}"
    if published.most:
        within = target <= own.value <= float(published.most)
        return (AGREES if within else DIFFERS), f"from {published.value} to {published.most}"
    if not published.digits:
        return (AGREES if own.value == target else DIFFERS), "equal counts"
    # The published figure is rounded, so ours is rounded alike before they are compared
    digits = "1 printed digit" if published.digits == 1 else f"{published.digits} printed digits"
    if float(typed(own.value, published.digits)) == target:
        return AGREES, digits
    if has_interval:
        return (AGREES if own.low <= target <= own.high else DIFFERS), "95 % interval"
    return DIFFERS, digits


def comparison_table(
    name: str,
    citation: str,
    figures_of_run: Mapping[str, RunFigure | str],
    published: Sequence[PublishedFigure],
    notes: tuple[str, ...] = NOTES,
) -> Table:
    """Every published figure next to that of this release."""
    frame = pd.DataFrame([_comparison_row(figure, figures_of_run) for figure in published])
    counts = frame["verdict"].value_counts()
    n = "; ".join(f"{counts.get(kind, 0)} {words}" for kind, words in VERDICT_COUNTS.items())
    headings = {
        "title": "Figure", "published": "Published", "own": "This release", "verdict": "Verdict", "how": "Criterion or reason",
        "where": "Printed in",
    }  # fmt: skip
    columns = tuple(Column.text(name, head) for name, head in headings.items())
    return Table(name, f"This release compared with the figures of {citation}", frame, columns, notes, n)


def _comparison_row(published: PublishedFigure, figures_of_run: Mapping[str, RunFigure | str]) -> dict[str, str]:
    row = {"title": published.title, "published": published.text, "where": published.where}
    missing = next((why for start, why in MISSING.items() if published.name.startswith(start)), NOT_AVAILABLE)
    own = figures_of_run.get(published.name, missing)
    if isinstance(own, str) or math.isnan(own.value):
        return row | {"own": NO_VALUE, "verdict": UNKNOWN, "how": own if isinstance(own, str) else missing}
    agreement, how = verdict(published, own)
    value = estimate(own.value, own.low, own.high) if published.digits else count(own.value)
    return row | {"own": f"{value}, {own.population}" if own.population else value, "verdict": agreement, "how": how}
