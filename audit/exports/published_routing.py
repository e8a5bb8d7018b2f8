"""A run that routes questions to sources next to the figures of Chen et al. (2026).

A system is one of their methods where its settings say so (`"method": "daks"`), or where its id is the name of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.evaluation.evidence_measures import JUDGED_MEASURES
from audit.exports.context import ExportContext
from audit.exports.published_comparison import (
    NOTES,
    PublishedFigure,
    RunFigure,
    RunFigures,
    published_comparison,
    published_figures,
)
from audit.exports.table_model import Table
from audit.metrics._routing import SEVERAL
from audit.store.connection import rows
from audit.vocabulary import plain

FILE = "published_routing.toml"
END, ROUTING, CROSS = "end", "routing", "several"
"""How the names of the figures of their three tables begin."""
METHODS = {
    "merged": ("mergedindex", "mergedkb"), "concatenation": ("naiveconcatenation",), "uniform": ("uniformbudget",),
    "daks": ("daksonly",), "graph_fusion": ("graphfusiononly",), "daks_graph_fusion": ("daksandgraphfusion", "both"),
    "score_only": ("scoreonlyrerank",), "graph_support": ("graphsupportfusion",),
    "graph_retrieval": ("graphretrievalfusion", "graphretrievalandfusion"),
}  # fmt: skip
"""Published method -> other spellings of it."""
SPELLINGS = {plain(word): name for name, others in METHODS.items() for word in (name, *others)}
SYSTEMS = "select system_id, settings ->> '$.method' from systems order by system"
OTHER_READING = (
    "Their table of whole answers has CrossEv@5 for single sources too, which cannot cover two, so its meaning must be different."
)
OTHER_QUESTIONS = "Other {questions}, sources and language: a difference reflects the two settings, not an error in either."


def routing_comparison(context: ExportContext) -> Iterator[Table]:
    """The run's systems next to the matching published methods; no table if none matches."""
    if names := methods_in(context):
        yield published_comparison(
            routing_figures(context, names), shown_methods(names), "published_routing", (NOTES[0], OTHER_QUESTIONS)
        )


def methods_in(context: ExportContext) -> dict[str, str]:
    """System id -> published method, of the run's systems that are one."""
    if not context.run.has_systems:
        return {}
    named = {system: SPELLINGS.get(plain(method or system)) for system, method in rows(context.con, SYSTEMS)}
    return {system: method for system, method in named.items() if method}


def shown_methods(names: Mapping[str, str]) -> tuple[str, list[PublishedFigure]]:
    """The source, and its figures of the methods that the run has."""
    source, figures = published_figures(FILE)
    return source, [figure for figure in figures if figure.name.rpartition("/")[2] in names.values()]


def routing_figures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    """Every figure of the run's systems that is also published."""
    figures: RunFigures = {f"{END}/CrossEv@5/{method}": OTHER_READING for method in names.values()}
    for row in context.frame("system_measures").to_dict("records"):
        if row["system_id"] in names and row["measure"] in JUDGED_MEASURES:
            figures[f"{END}/{row['measure']}/{names[row['system_id']]}"] = _figure(row, "answers", "answers")
    by_kind = context.frame("routing", by="kind")
    for table, frame in ((ROUTING, context.frame("routing")), (CROSS, by_kind[by_kind["kind"] == SEVERAL])):
        for row in frame.to_dict("records"):
            if row["system_id"] in names:
                figures[f"{table}/{row['measure']}/{names[row['system_id']]}"] = _figure(row, "measured", "questions")
    return figures


def _figure(row: Mapping[Any, Any], count: str, words: str) -> RunFigure:
    return RunFigure(float(row["mean"]), float(row["mean_low"]), float(row["mean_high"]), f"{int(row[count]):,} {words}")
