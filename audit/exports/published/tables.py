"""A run next to the figures of every source that is about something that it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from audit.exports.context import ExportContext
from audit.exports.published.comparison import RunFigure
from audit.exports.published.pairs import pair_comparison, run_figures
from audit.exports.published.routing import ROUTING_SOURCE
from audit.exports.published.stress import STRESS_SOURCE
from audit.exports.published.systems import SYSTEMS_SOURCE
from audit.exports.table_model import Table

SOURCES = (SYSTEMS_SOURCE, ROUTING_SOURCE, STRESS_SOURCE)
"""Sources of figures about systems."""


def published_tables(context: ExportContext, study: Mapping[str, RunFigure | str]) -> Iterator[Table]:
    """The run next to the sources of its kinds: pairs (with the figures of a study), answering systems, routing, stress tests."""
    if context.run.has_pairs:
        yield pair_comparison({**run_figures(context), **study})
    for source in SOURCES:
        if subjects := source.subjects(context):
            yield source.comparison(source.figures(context, subjects), subjects)
