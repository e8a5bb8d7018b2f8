"""How a section is declared: its metric, the columns that a page picks, its figure, and the sentences around them.

`pages._shared.sections` draws it. An export writes the metric's whole table, or several with other options, and the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pandas as pd

from audit.charts.style import Figure
from audit.errors import NotInRunError
from audit.exports.context import ExportContext
from audit.exports.table_model import Picture, Table
from audit.metrics import Metric
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.tables import TableSpec

TableMaker = Callable[[ExportContext], Table]
PictureMaker = Callable[[ExportContext], Iterable[Picture]]
Maker = TypeVar("Maker", TableMaker, PictureMaker)
Words = Callable[[ExportContext, pd.DataFrame], str]
"""A text in the run's words about the frame of a metric."""


Sentence = str | Callable[[pd.DataFrame], str]
"""A template in the words of `audit.terms`, or how it is made from a frame; empty: nothing is said."""


@dataclass(frozen=True)
class Drawing:
    """The figure of a section.

    name     the stem of its files in an export
    caption  what it shows, in an export: a template, or made from the frame
    draw     the figure of a frame of the section's metric
    alt      what it shows, for a reader of the page who cannot see it
    key      on its page; the name where empty
    on_page  the figure of the page, where it differs
    """

    name: str
    caption: str | Callable[[pd.DataFrame], str]
    draw: Callable[[pd.DataFrame], Figure]
    alt: str = ""
    key: str = ""
    on_page: Callable[[pd.DataFrame], Figure] | None = None


@dataclass(frozen=True)
class SectionSpec:
    """One metric, as a page shows it and an export writes it.

    metric    whose frame it shows
    key       of its table on the page
    heading   above it on the page; empty: the page writes its own, if any
    below     the heading is that of a part of a section
    empty     what the page says where the metric has no row; empty: the section is then left out
    drawing   its figure
    reading   below the figure: how to read it
    columns   those that the page picks from the metric's table; none: all
    ordered   the frame as the table shows it
    sentence  below the table
    notes     whether the notes of the metric's table are written there
    rows      of the page's table that are in sight
    digits    of the page's percentages
    decimals  of its coefficients
    file      the stem of the CSV file of the page; the metric's name where empty
    """

    metric: Metric[...]
    key: str
    heading: str = ""
    below: bool = False
    empty: str = ""
    drawing: Drawing | None = None
    reading: Sentence = ""
    columns: tuple[str, ...] = ()
    ordered: Callable[[pd.DataFrame], pd.DataFrame] = field(default=lambda frame: frame)
    sentence: Sentence = ""
    notes: bool = False
    rows: int = 12
    digits: int = 1
    decimals: int = 2
    file: str = ""

    @property
    def csv(self) -> str:
        """The stem of the CSV file of its page."""
        return self.file or self.metric.name.replace("_", "-")


def listed_as(name: str) -> Callable[[Maker], Maker]:
    """How a maker is listed where a run cannot have what it makes."""

    def named(maker: Maker) -> Maker:
        maker.__name__ = name
        return maker

    return named


# -- tables of an export -----------------------------------------------------------------------------------------------


def pairs_behind(context: ExportContext, frame: pd.DataFrame | None = None) -> str:
    """How many pairs of how many questions the run has."""
    total = context.frame("organs", scope=ALL_HANDBOOKS).iloc[-1]
    return context.fill(f"{total['pairs']:,} pairs from {total['questions']:,} {{questions}}")


# What is behind most tables: `words` is a template.


def rows_of(words: str) -> Words:
    """How many rows a frame has, in words."""
    return lambda context, frame: context.fill(f"{len(frame):,} {words}")


def total_of(column: str, words: str) -> Words:
    """The sum of a column, in words."""
    return lambda context, frame: context.fill(f"{frame[column].sum():,} {words}")


def most_of(column: str, words: str) -> Words:
    """The highest value of a column, in words; 0 without rows."""
    return lambda context, frame: context.fill(f"{frame[column].max() if len(frame) else 0:,} {words}")


def if_empty(reason: str, **words: str) -> Words:
    """The reason why a frame without rows is left out: a template with `{key}` of the run and other words."""
    return lambda context, frame: reason.format(key=context.run.key, **words) if frame.empty else ""


def own_table(
    metric: str | Metric[...],
    n: Words = pairs_behind,
    *,
    stem: str = "",
    title: str = "",
    spec: TableSpec | None = None,
    notes: Callable[[ExportContext, pd.DataFrame], Sequence[str]] = lambda context, frame: (),
    needs: Callable[[ExportContext], str] = lambda context: "",
    missing: Words = lambda context, frame: "",
    finish: Callable[[ExportContext, Table], Table] = lambda context, table: table,
    called: str = "",
    **options: Any,
) -> TableMaker:
    """What makes the table of a metric.

    n          its sample size
    stem       of its files; the metric's name where empty
    title      instead of that of its specification
    spec       instead of its own specification
    notes      before those of its specification
    needs      why a run cannot have it, asked before the metric is computed; empty: it can
    missing    why a run cannot have it, by the metric's frame; empty: it can
    finish     what is done to it in the end
    called     how it is listed where it is left out; its stem where empty
    options    of the metric
    """
    name = metric if isinstance(metric, str) else metric.name

    @listed_as(called or stem or name)
    def maker(context: ExportContext) -> Table:
        if reason := needs(context) or missing(context, context.frame(name, **options)):
            raise NotInRunError(reason)
        frame = context.frame(name, **options)
        table = context.table(name, n(context, frame), stem=stem, notes=notes(context, frame), spec=spec, **options)
        return finish(context, replace(table, title=title or table.title))

    return maker


# -- figures of an export ----------------------------------------------------------------------------------------------


def picture_of(section: SectionSpec, missing: Words, *, called: str = "", **options: Any) -> PictureMaker:
    """What makes the figure of a section; the arguments are those of a table."""
    drawing = section.drawing
    assert drawing is not None, f"{section.metric.name} has no figure"

    @listed_as(called or drawing.name)
    def maker(context: ExportContext) -> Iterable[Picture]:
        frame = context.frame(section.metric.name, **options)
        if reason := missing(context, frame):
            raise NotInRunError(reason)
        caption = context.fill(drawing.caption) if isinstance(drawing.caption, str) else drawing.caption(frame)
        return [Picture(drawing.name, caption, drawing.draw(frame))]

    return maker
