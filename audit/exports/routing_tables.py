"""Tables and figures of several sources: how systems choose between them, and each source's share of the evidence."""

from __future__ import annotations

from typing import Any

from audit.charts.routing import budget_bars, dominance_dots, source_colours
from audit.charts.systems import mean_dots
from audit.errors import AuditError
from audit.evaluation.routing_measures import MEASURES
from audit.exports.context import ExportContext
from audit.exports.pivoted import pivoted
from audit.exports.sections.systems import NONE_MEASURED, TableMaker
from audit.exports.table_model import Picture, Table, table_of
from audit.metrics._routing import INTERVALS, KIND, MEANINGS
from audit.metrics._systems import SYSTEM
from audit.queries.routes import stored_sources
from audit.tables import Column, TableSpec

WIDE_TITLE = "Routing and evidence of each system, by measure"


def routing_wide(context: ExportContext) -> Table:
    """One row per system, one column per measure, as S1 prints them; measures that apply to no question are left out."""
    frame = _known(context, "routing")
    present = [name for name in MEASURES if name in set(frame["measure"])]
    wide = pivoted(frame, ["name"], "measure", "mean").merge(frame.groupby("name", sort=False)["measured"].max().reset_index())
    columns = (
        SYSTEM, Column.count("measured", "Measured", "{questions}, at most"), *(Column.decimal(name, name) for name in present)
    )  # fmt: skip
    return table_of(
        "routing_by_system", TableSpec(WIDE_TITLE, columns, (*MEANINGS, INTERVALS)), wide, context.run, _routed(context)
    )


def routing_table(metric: str, stem: str = "", **options: Any) -> TableMaker:
    """A metric of routing as a table; left out, with a reason, where the run has nothing for it."""

    def maker(context: ExportContext) -> Table:
        _known(context, metric, **options)
        return context.table(metric, _routed(context), stem=stem, **options)

    maker.__name__ = stem or metric
    return maker


def _known(context: ExportContext, metric: str, **options: Any) -> Any:
    frame = context.frame(metric, **options)
    if frame.empty:
        raise AuditError(NONE_MEASURED.format(key=context.run.key, what=f"data for '{metric}'"))
    return frame


def _routed(context: ExportContext) -> str:
    shares = context.frame("source_shares")
    routed = shares["routed"].max() if len(shares) else 0
    sources = shares["source_id"].nunique()
    return context.fill(f"{shares['system_id'].nunique()} systems, {sources} sources, up to {routed:,} {{questions}} each")


ROUTING_TABLES: tuple[TableMaker, ...] = (
    routing_wide, routing_table("routing"), routing_table("routing", "routing_by_kind", by="kind"),
    routing_table("routing_differences"), routing_table("source_shares"),
    routing_table("source_shares", "source_shares_by_kind", by="kind"),
)  # fmt: skip
"""Every table of several sources, in order."""


def measures(context: ExportContext) -> list[Picture]:
    """The measures of routing and evidence of each system."""
    frame = _known(context, "routing")
    titles = {name: name for name in MEASURES if name in set(frame["measure"])}
    figure = mean_dots(frame.assign(answers=frame["measured"]), "name", titles)
    return [Picture("routing", "How well each system chooses sources, and how well its evidence covers them", figure)]


def dominance(context: ExportContext) -> list[Picture]:
    """Each source's share of the evidence next to its share of the text."""
    sources = [source.source_id for source in stored_sources(context.con)]
    title = "The share of the evidence that each source gives, next to its share of all text"
    return [Picture("source_dominance", title, dominance_dots(_known(context, "source_shares"), sources))]


def budgets(context: ExportContext) -> list[Picture]:
    """How each system divides its budget between sources, by kind of question."""
    frame = _known(context, "source_shares", by="kind")
    if frame["budget"].isna().all():
        raise AuditError(NONE_MEASURED.format(key=context.run.key, what="budgets of sources"))
    words = {code: context.fill(text) for code, text in KIND.words.items()}
    colours = source_colours([source.source_id for source in stored_sources(context.con)])
    title = context.fill("How each system divides its budget between sources, by how many sources the {questions} need")
    return [Picture("source_budgets", title, budget_bars(frame.assign(kind=frame["kind"].map(words)), colours))]
