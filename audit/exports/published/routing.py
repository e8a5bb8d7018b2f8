"""A run that routes questions to sources next to the figures of Chen et al. (2026).

Names of figures: table/measure/method. A system is one of their methods where its settings say so (`"method": "daks"`), or where
its id is the name of one.
"""

from __future__ import annotations

from collections.abc import Mapping

from audit.evaluation.evidence_measures import JUDGED_MEASURES
from audit.exports.context import ExportContext
from audit.exports.published.comparison import NOTES, PublishedSource, RunFigures, row_figure
from audit.metrics._routing import SEVERAL
from audit.store.connection import rows
from audit.vocabulary import plain

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


def methods_in(context: ExportContext) -> dict[str, str]:
    """System id -> published method, of the run's systems that are one."""
    if not context.run.has_systems:
        return {}
    named = {system: SPELLINGS.get(plain(method or system)) for system, method in rows(context.con, SYSTEMS)}
    return {system: method for system, method in named.items() if method}


def routing_figures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    """Every figure of the run's systems that is also published."""
    figures: RunFigures = {f"{END}/CrossEv@5/{method}": OTHER_READING for method in names.values()}
    for row in context.frame("system_measures").to_dict("records"):
        if row["system_id"] in names and row["measure"] in JUDGED_MEASURES:
            name = f"{END}/{row['measure']}/{names[row['system_id']]}"
            figures[name] = row_figure(row, "mean", f"{int(row['answers']):,} answers")
    by_kind = context.frame("routing", by="kind")
    for table, frame in ((ROUTING, context.frame("routing")), (CROSS, by_kind[by_kind["kind"] == SEVERAL])):
        for row in frame.to_dict("records"):
            if row["system_id"] in names:
                name = f"{table}/{row['measure']}/{names[row['system_id']]}"
                figures[name] = row_figure(row, "mean", f"{int(row['measured']):,} questions")
    return figures


ROUTING_SOURCE = PublishedSource(
    key="routing",
    citation="Chen et al., Traceable Cross-Source RAG for Chinese Tibetan Medicine Question Answering (2026)",
    table="published_routing",
    notes=(NOTES[0], OTHER_QUESTIONS),
    subjects=methods_in,
    figures=routing_figures,
    subject=lambda figure: figure.name.rpartition("/")[2],
)
