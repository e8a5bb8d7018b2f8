"""A paper reproduced on a run: its printed tables beside ours, figure by figure, and the systems here that it does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.errors import AuditError
from audit.exports.context import ExportContext
from audit.exports.published.comparison import (
    UNKNOWN,
    PublishedFigure,
    PublishedSource,
    RunFigure,
    RunFigures,
    comparison_table,
    published_figures,
)
from audit.exports.published.tables import CITATION, ROUTING_SOURCE, STRESS_SOURCE, SYSTEMS_SOURCE, run_figures
from audit.exports.table_model import estimate
from audit.papers.departures import Paper
from audit.queries.stress import tested_systems
from audit.queries.themes import taxonomy_of
from audit.settings import Settings
from audit.store.connection import Connection
from audit.store.runs import run_in

SOURCES = {Paper.S1: ROUTING_SOURCE, Paper.S2: SYSTEMS_SOURCE, Paper.S3: STRESS_SOURCE}
NEEDS = {
    Paper.S0: "The run compares no handbooks, so it has no labels.",
    Paper.S1: "The run has no system that routes questions to sources.",
    Paper.S2: "The run has no answering systems.",
    Paper.S3: "The run has no stress tests.",
}
MEASURES = {
    Paper.S1: "Measures are named by table and measure.",
    Paper.S2: "Measures are named as `audit metrics` names them.",
    Paper.S3: "Measures are named by test, measure, documents and signal in percent; figures are in percent.",
}
"""How figures of systems that a paper does not have are named."""
NOT_HERE = "No system of this run is '{subject}' of the paper."


@dataclass(frozen=True)
class PrintedTable:
    """A table of the paper beside ours.

    frame   title, published, own, verdict (agrees, differs, cannot be computed), how (the criterion, or the reason why not): str
    reason  why nothing of it can be computed; empty where something can
    """

    title: str
    frame: pd.DataFrame
    reason: str = ""


@dataclass(frozen=True)
class Reproduction:
    """The tables; and the measures of systems that the paper does not have, a column for each system, printed or own."""

    tables: tuple[PrintedTable, ...]
    others: pd.DataFrame

    @property
    def verdicts(self) -> dict[str, int]:
        """Verdict -> figures."""
        return {
            str(name): int(n) for name, n in pd.concat([table.frame for table in self.tables])["verdict"].value_counts().items()
        }


def reproduction(paper: Paper, context: ExportContext, study: Mapping[str, RunFigure | str] | None = None) -> Reproduction:
    """Every printed figure of a paper beside that of a run; `study` has those of human labels."""
    has = {Paper.S0: context.run.has_pairs, Paper.S1: context.run.has_routes, Paper.S2: context.run.has_systems}
    source, others = SOURCES.get(paper), pd.DataFrame()
    printed = source.published if source else published_figures("pairs")
    if not has.get(paper, context.run.has_stress):
        figures: RunFigures = {figure.name: NEEDS[paper] for figure in printed}
    elif source is None:
        figures = {**run_figures(context), **(study or {})}
    else:
        subjects = source.subjects(context)
        figures = {**dict(_not_here(source, subjects)), **source.figures(context, subjects)}
        others = _others(source, context, subjects)
    citation = source.citation if source else CITATION
    notes = source.notes if source else ()
    tables = (
        _printed_table(title, comparison_table(paper, citation, figures, own, notes).frame)
        for title, own in _by_table(printed).items()
    )
    return Reproduction(tuple(tables), others)


def stored_reproduction(con: Connection, paper: str, path: str) -> Reproduction:
    """The reproduction of a paper on the run of an opened store, whose file is `path`, without a study or an earlier run."""
    run = run_in(con, Path(path))
    return reproduction(Paper(paper), ExportContext(run, con, taxonomy=taxonomy_of(run, Settings().themes_dir)))


def _by_table(printed: Iterable[PublishedFigure]) -> dict[str, list[PublishedFigure]]:
    tables: dict[str, list[PublishedFigure]] = {}
    for figure in printed:
        tables.setdefault(figure.where.partition(";")[0], []).append(figure)
    return tables


def _printed_table(title: str, frame: pd.DataFrame) -> PrintedTable:
    alone = (frame["verdict"] == UNKNOWN).all()
    return PrintedTable(title, frame, " ".join(frame["how"].unique()) if alone else "")


def _not_here(source: PublishedSource, subjects: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for figure in source.published:
        subject = source.subject(figure)
        if subject is not None and subject not in subjects.values():
            yield figure.name, NOT_HERE.format(subject=subject)


def _others(source: PublishedSource, context: ExportContext, subjects: Mapping[str, str]) -> pd.DataFrame:
    """The paper's measures of the run's other systems, under their ids; none where the run has no other system."""
    own = tested_systems(context.con) if source is STRESS_SOURCE else context.frame("systems").dropna(subset=["asked"])
    unknown = {system: system for system in own["system_id"] if system not in subjects}
    try:
        figures = source.figures(context, unknown) if unknown else {}
    except AuditError:
        figures = {}  # a run of systems without the tables that these figures need
    printed = {figure.name: (source.subject(figure), figure.text) for figure in source.published}
    cells: dict[str, dict[str, str]] = {}
    for name, (subject, text) in printed.items():
        if subject is not None:
            cells.setdefault(_measure(name, subject), {})[f"{subject} (printed)"] = text
    for name, figure in figures.items():
        system = next((part for part in name.split("/") if part in unknown), None)
        if system and isinstance(figure, RunFigure) and (row := cells.get(_measure(name, system))):
            row[system] = estimate(figure.value, figure.low, figure.high)
    rows = [{"measure": measure, **row} for measure, row in cells.items() if row.keys() & unknown.keys()]
    return pd.DataFrame(rows).fillna(NO_VALUE)


def _measure(name: str, subject: str) -> str:
    """What a figure is of, without whose it is."""
    return ", ".join(part for part in name.replace(f"/{subject}", "", 1).split("/")).replace("_", " ")
