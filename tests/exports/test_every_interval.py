"""Every interval of every exported table: around its value, not beside events that were seen, with its population and kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from annotation.label_store.engine import open_label_store
from annotation.studies.validation import study_part
from audit.exports.catalogue import chapters
from audit.exports.context import open_context
from audit.exports.table_model import KIND, Table
from audit.queries.themes import taxonomy_of
from audit.store.runs import Run, list_runs
from audit.tables import HIGH, LOW, Column, ColumnKind, IntervalKind
from benchmarks.intervals import statistic_of

ROUNDING = 1e-9
NAMED_BY_ROW = ("speaks of",)
"""Headings of columns that name the population row by row."""


def tables_of(run: Run, other: Run | None = None, themes: Path | None = None) -> Iterator[Table]:
    taxonomy = taxonomy_of(run, themes) if themes else None
    with open_context(run, other, taxonomy, None, taxonomy_of(other, themes) if other and themes else None) as context:
        for chapter in chapters(context, lambda _: None):
            yield from chapter.tables


def faults(table: Table) -> Iterator[str]:
    """What is wrong with the intervals of a table, in words."""
    own = [column for column in table.columns if table.has_interval(column)]
    if not own:
        return
    typed = table.typed()
    if not table.population and not any(word in column.heading for column in table.columns for word in NAMED_BY_ROW):
        yield f"{table.name}: no population"
    if not set(typed[KIND]) or not all(any(kind in text for kind in IntervalKind) for text in typed[KIND]):
        yield f"{table.name}: no kind"
    for column in own:
        yield from (f"{table.name}.{column.name}: {fault}" for fault in column_faults(table, column))
        if statistic_of(table.name, column.name) is None:
            yield f"{table.name}.{column.name}: no statistic of benchmarks/intervals.py serves it"


def column_faults(table: Table, column: Column) -> Iterator[str]:
    value, low, high = (pd.to_numeric(table.frame[column.name + end]).to_numpy(dtype=float) for end in ("", LOW, HIGH))
    known = np.isfinite(low) & np.isfinite(high)
    rank = column.name == "rank"
    exact = table.frame["note"].str.contains("exact").to_numpy() if "note" in table.frame else np.zeros(len(value), dtype=bool)
    told = {
        "one end only": np.isfinite(low) != np.isfinite(high),
        "an interval without a value": known & ~np.isfinite(value),
        "the value is outside": known & ((value < low - ROUNDING) | (value > high + ROUNDING)),
        "no width": known & (high - low <= 0) & ~exact & ~rank,
    }
    # What a search did not find may all be its errors, so that share may be 0 although some was not found
    if column.kind is ColumnKind.SHARE and column.name != "silent":
        told["0 although events were seen"] = known & (low == 0) & (value > 0)
        told["1 although the opposite was seen"] = known & (high == 1) & (value < 1)
        told["from 0 to 1"] = known & (high - low > 0.999)
    for fault, rows in told.items():
        if rows.any():
            at = int(np.flatnonzero(rows)[0])
            yield f"{fault}: {value[at]} [{low[at]}, {high[at]}], row {at}"
    written = [cells for cells, one in zip(table.lines(), known, strict=True) if one]
    printed = [line[table.columns.index(column)] for line in written]
    if (
        column.kind is ColumnKind.SHARE
        and column.name != "silent"
        and any("[0.000," in cell and not cell.startswith("0.000 ") for cell in printed)
    ):
        yield "printed from 0 although events were seen"


def assert_sound(tables: Sequence[Table]) -> None:
    assert sum(table.has_interval(column) for table in tables for column in table.columns) > 10
    assert not [fault for table in tables for fault in faults(table)]


def test_of_the_demo_and_the_run_it_is_compared_with(demo_folder: Path) -> None:
    first, *others = sorted(list_runs(demo_folder / "store"), key=lambda run: "earlier" in run.run_id)
    assert_sound(list(tables_of(first, others[0], demo_folder / "themes")))


def test_of_studies_that_are_closed_and_that_run(demo_with_studies: Path) -> None:
    runs = list_runs(demo_with_studies / "store")
    store = open_label_store(f"sqlite:///{demo_with_studies / 'studies.db'}")
    for study_id, kind in (("demo-finished", "fixed"), ("demo-disputed", "always valid"), ("demo-running", "always valid")):
        tables = study_part(store, study_id, runs).chapter.tables
        assert_sound(tables)
        agreement = next(table for table in tables if table.name == "study_agreement")
        assert set(agreement.typed()[KIND]) == {kind}


def test_of_a_real_release(nih_run: Run) -> None:
    assert_sound(list(tables_of(nih_run)))
