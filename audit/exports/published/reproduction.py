"""A paper reproduced on a run: its printed tables beside ours, figure by figure, and the systems here that it does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.errors import AuditError, NotInRunError
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
from audit.exports.published.stress import STRESS_SOURCE, names_in
from audit.exports.published.tables import CITATION, ROUTING_SOURCE, SYSTEMS_SOURCE, run_figures
from audit.exports.table_model import estimate
from audit.papers.departures import Paper
from audit.queries.stress import tested_systems
from audit.queries.themes import taxonomy_of
from audit.settings import Settings
from audit.store.connection import Connection
from audit.store.runs import Run, run_in

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
    Paper.S3: "Measures are named by questions, retrieval, test, measure, documents, signal in percent; figures in percent.",
}
"""How figures of systems that a paper does not have are named."""
NOT_HERE = "No system of this run is '{subject}' of the paper."
STANDS_IN = (
    "Where this run has no system of the paper, '{system}' is in its place and is named in the row: such a difference is one "
    "between systems, and not an error of either."
)
NOT_TESTED = "The run has no such figure of '{system}', which stands in."
NAMED, MOST_NAMED = re.compile(r"No system of this run is '(.+)' of the paper\."), 9


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
    """A paper beside a run.

    others  measures of systems that the paper does not have, a column for each system, printed or own
    own     the ids of these systems, each of which can stand in for those of the paper
    """

    tables: tuple[PrintedTable, ...]
    others: pd.DataFrame
    own: tuple[str, ...] = ()

    @property
    def verdicts(self) -> dict[str, int]:
        """Verdict -> figures."""
        return {
            str(name): int(n) for name, n in pd.concat([table.frame for table in self.tables])["verdict"].value_counts().items()
        }


def needed(paper: Paper, run: Run) -> str:
    """Why a run has no figure of a paper; empty where it may have some."""
    has = {Paper.S0: run.has_pairs, Paper.S1: run.has_routes, Paper.S2: run.has_systems, Paper.S3: run.has_stress}
    return "" if has[paper] else NEEDS[paper]


def reproduction(
    paper: Paper, context: ExportContext, study: Mapping[str, RunFigure | str] | None = None, stand_in: str = ""
) -> Reproduction:
    """Every printed figure of a paper beside that of a run.

    study     has those of human labels
    stand_in  id of a system of the run that is compared in the place of the paper's systems which the run does not have

    Raises NotInRunError where no system of the run that the paper does not have is `stand_in`.
    """
    source, others, own = SOURCES.get(paper), pd.DataFrame(), tuple[str, ...]()
    printed = source.published if source else published_figures("pairs")
    if missing := needed(paper, context.run):
        figures: RunFigures = {figure.name: missing for figure in printed}
    elif source is None:
        figures = {**run_figures(context), **(study or {})}
    else:
        subjects = source.subjects(context)
        own = _own_systems(source, context, subjects)
        figures = {**_not_here(source, subjects, stand_in), **source.figures(context, subjects)}
        others = _others(source, context, own)
    if stand_in:
        figures |= _stood_in(paper, context, stand_in, own)
    citation = source.citation if source else CITATION
    notes = source.notes if source else ()
    tables = (
        _printed_table(title, comparison_table(paper, citation, figures, rows, notes).frame)
        for title, rows in _by_table(printed).items()
    )
    return Reproduction(tuple(tables), others, own)


def stored_reproduction(con: Connection, paper: str, path: str, stand_in: str = "") -> Reproduction:
    """The reproduction of a paper on the run of an opened store, whose file is `path`, without a study or an earlier run."""
    run = run_in(con, Path(path))
    return reproduction(Paper(paper), ExportContext(run, con, taxonomy=taxonomy_of(run, Settings().themes_dir)), None, stand_in)


def _by_table(printed: Iterable[PublishedFigure]) -> dict[str, list[PublishedFigure]]:
    tables: dict[str, list[PublishedFigure]] = {}
    for figure in printed:
        tables.setdefault(figure.where.partition(";")[0], []).append(figure)
    return tables


def _printed_table(title: str, frame: pd.DataFrame) -> PrintedTable:
    alone = (frame["verdict"] == UNKNOWN).all()
    return PrintedTable(title, frame, _reason(list(frame["how"].unique())) if alone else "")


def _reason(reasons: list[str]) -> str:
    """The reasons why figures are missing as few sentences: the systems that are not here are named in one."""
    named = [match[1] for reason in reasons if (match := NAMED.fullmatch(reason))]
    others = [reason for reason in reasons if not NAMED.fullmatch(reason)]
    more = f" and {len(named) - MOST_NAMED:,} more" if len(named) > MOST_NAMED else ""
    return " ".join(
        [*([f"No system of this run is one of the paper's: {', '.join(named[:MOST_NAMED])}{more}."] if named else []), *others]
    )


def _not_here(source: PublishedSource, subjects: Mapping[str, str], stand_in: str) -> RunFigures:
    why = NOT_TESTED if stand_in else NOT_HERE
    return {figure.name: why.format(subject=subject, system=stand_in) for figure, subject in _missing(source, subjects)}


def _missing(source: PublishedSource, subjects: Mapping[str, str]) -> Iterator[tuple[PublishedFigure, str]]:
    """The published figures of subjects that the run does not have."""
    for figure in source.published:
        subject = source.subject(figure)
        if subject is not None and subject not in subjects.values():
            yield figure, subject


def _stood_in(paper: Paper, context: ExportContext, system: str, own: Iterable[str]) -> RunFigures:
    """The figures of the subjects that the run does not have, of a system of the run in their place, which each of them names."""
    if system not in own:
        allowed = ", ".join(own) or "none, because the run has no answering system that the paper does not have"
        raise NotInRunError(f"System '{system}' cannot stand in for those of {paper}. Nothing was computed. Allowed: {allowed}.")
    source = SOURCES[paper]
    missing = {figure.name: subject for figure, subject in _missing(source, source.subjects(context))}
    return {
        name: replace(value, population=f"{value.population}, {system}".lstrip(", "))
        for names in source.stand_ins(context, system, set(missing.values()))
        for name, value in source.figures(context, names).items()
        if name in missing and isinstance(value, RunFigure)
    }


def _own_systems(source: PublishedSource, context: ExportContext, subjects: Mapping[str, str]) -> tuple[str, ...]:
    """The ids of the run's systems that the paper does not have."""
    stress = source is STRESS_SOURCE
    systems = tested_systems(context.con) if stress else context.frame("systems").dropna(subset=["asked"])
    known = {name.partition("/")[0] if stress else name for name in subjects}
    return tuple(system for system in systems["system_id"] if system not in known and "/" not in system)


def _others(source: PublishedSource, context: ExportContext, own: Iterable[str]) -> pd.DataFrame:
    """The paper's measures of the run's other systems, under their ids; none where the run has no other system."""
    stress, unknown = source is STRESS_SOURCE, {system: system for system in own}
    try:
        figures = source.figures(context, names_in(context, unknown) if stress else unknown) if unknown else {}
    except AuditError:
        figures = {}  # a run of systems without the tables that these figures need
    cells: dict[str, dict[str, str]] = {}
    for figure in source.published:
        if subject := source.subject(figure):
            # In MedRGB a model is printed for several sets of questions, which are part of the measure
            who = subject.rpartition("/")[2] if stress else subject
            cells.setdefault(_measure(figure.name, who), {})[f"{who} (printed)"] = figure.text
    for name, value in figures.items():
        system = next((part for part in name.split("/") if part in unknown), None)
        if system and isinstance(value, RunFigure) and (row := cells.get(_measure(name, system))):
            row[system] = estimate(value.value, value.low, value.high)
    rows = [{"measure": measure, **row} for measure, row in cells.items() if row.keys() & unknown.keys()]
    return pd.DataFrame(rows).fillna(NO_VALUE)


def _measure(name: str, subject: str) -> str:
    """What a figure is of, without whose it is."""
    return name.replace(f"/{subject}", "", 1).replace("/", ", ").replace("_", " ")
