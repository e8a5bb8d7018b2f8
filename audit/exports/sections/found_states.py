"""What a search found, in three states, and what an export leaves out because of it: shares that count what was not found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from audit.charts.found_states import state_bars
from audit.charts.style import handbook_names
from audit.exports.context import ExportContext
from audit.exports.sections.model import TableMaker, own_table
from audit.exports.table_model import Picture, Table
from audit.metrics.silence import GROUPS
from audit.terms import display_name

MAX_ROWS = 40
BY = {"run": "", "organ": ", by {organ} of the {question}", "topic": ", by {topic}", "handbook": ", by {handbook}"}
MISSES = (
    "The search misses {missed:,} of {answered:,} answers that are there, and finds something in {found:,} of {unanswered:,} "
    "cases without an answer."
)
UNKNOWN = "How often the search errs was not measured for this run, so the share that is silent is not shown."
LEFT_OUT = (
    "Shares of what is not addressed are left out: the search misses answers that are there; see the tables of what it found."
)
OF_SILENCE, OF_PAIRS = frozenset({"r_abs", "absence"}), frozenset({"present", "r_div", "pairs"})
"""Columns that a run made by a search, and one without pairs, leaves out."""


def in_words(context: ExportContext) -> str:
    """How often the search errs."""
    rates = context.errors.rates
    return MISSES.format(**rates._asdict()) if rates else UNKNOWN


def _states(by: str) -> TableMaker:
    return own_table(
        "silence", stem=f"found_by_{by}", by=by,
        n=lambda context, frame: context.fill(f"{frame['asked'].sum():,} answers that should be there"),
        notes=lambda context, frame: (in_words(context),),
        finish=lambda context, table: replace(_named(context, table, by), title=f"{table.title}{context.fill(BY[by])}"),
    )  # fmt: skip


def _named(context: ExportContext, table: Table, by: str) -> Table:
    names = handbook_names(context.frame("handbooks")) if by == "handbook" else {}
    return replace(table, frame=table.frame.assign(name=table.frame["name"].map(lambda name: names.get(name, name))))


FOUND_TABLES: tuple[TableMaker, ...] = tuple(_states(by) for by in GROUPS)


def found_by_handbook(context: ExportContext) -> Iterator[Picture]:
    """The three states of every handbook, as many to a figure as fit on a page."""
    frame, names = context.frame("silence", by="handbook"), handbook_names(context.frame("handbooks"))
    named = frame.assign(called=frame["name"].map(names))
    yield from _pictures(context, named, "handbook")


def found_by_topic(context: ExportContext) -> Iterator[Picture]:
    """The three states of every topic."""
    frame = context.frame("silence", by="topic")
    yield from _pictures(context, frame.assign(called=frame["name"].map(display_name)), "topic")


def _pictures(context: ExportContext, frame: pd.DataFrame, by: str) -> Iterator[Picture]:
    title = context.fill(f"What the search found of the answers that should be there{BY[by]}")
    for first in range(0, len(frame), MAX_ROWS):
        part = frame.iloc[first : first + MAX_ROWS].reset_index(drop=True)
        yield Picture(f"found_by_{by}" + (f"_{first // MAX_ROWS + 1}" if first else ""), title, state_bars(part))


FOUND_PICTURES = (found_by_handbook, found_by_topic)


def without_unknown(context: ExportContext, table: Table) -> Table:
    """A table without the columns that nobody can know: of silence where a search answered, of pairs where there are none."""
    names = {column.name for column in table.columns}
    of_silence = OF_SILENCE & names if context.errors.searched else frozenset()
    dropped = of_silence | (frozenset() if context.run.has_pairs else OF_PAIRS & names)
    if not dropped:
        return table
    kept = tuple(column for column in table.columns if column.name not in dropped)
    smaller = replace(table, columns=kept)
    return smaller.noted(LEFT_OUT) if of_silence else smaller
