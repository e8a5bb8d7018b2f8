"""Several sources: how systems choose between them, and each source's share of the evidence."""

from __future__ import annotations

from typing import Any

import pandas as pd

from audit.charts.routing import budget_bars, dominance_dots, source_colours
from audit.charts.style import Figure
from audit.charts.systems import mean_dots
from audit.errors import AuditError
from audit.exports.context import ExportContext
from audit.exports.sections.model import Drawing, SectionSpec, TableMaker, Words, if_empty, own_table, picture_of
from audit.exports.sections.systems import NONE_MEASURED
from audit.exports.table_model import Picture, Table, pivoted, table_of
from audit.metrics._shared import MANY_INTERVALS
from audit.metrics._systems import SYSTEM
from audit.metrics.routing import INTERVALS, KIND, MEANINGS, MEASURE_TITLES, routing, routing_differences, source_shares
from audit.queries.routes import stored_sources
from audit.store.runs import Run
from audit.tables import Column, TableSpec
from audit.terms import fill


def _titles(frame: pd.DataFrame) -> dict[str, str]:
    present = set(frame["measure"])
    return {name: title for name, title in MEASURE_TITLES.items() if name in present}


def _by_measure(frame: pd.DataFrame) -> pd.DataFrame:
    order = list(_titles(frame))
    return frame.sort_values("measure", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


CHOICE = SectionSpec(
    routing,
    key="routing_table",
    heading="How well systems choose sources",
    empty=(
        "How well systems choose sources is not measured, because the release does not say which sources the {questions} need "
        "(primary_source and required_sources in references.jsonl)."
    ),
    drawing=Drawing(
        "routing",
        "How well each system chooses sources, and how well its evidence covers them",
        lambda frame: mean_dots(frame.assign(answers=frame["measured"]), "system_id", _titles(frame), called="name"),
        "Each measure of routing per system, with 95 % intervals.",
    ),
    columns=("name", "measure", "measured", "mean"),
    ordered=_by_measure,
    notes=True,
    decimals=3,
)
CHOICE_BY_KIND = SectionSpec(
    routing,
    key="routing_kinds",
    columns=("kind", "name", "measure", "measured", "mean"),
    rows=6,
    decimals=3,
    file="routing-by-kind",
)
DIFFERENCES = SectionSpec(
    routing_differences,
    key="routing_differences",
    columns=("measure", "name", "change", "moves", "of", "value", "first"),
    sentence=MANY_INTERVALS,
    decimals=3,
)
SHARES = SectionSpec(
    source_shares,
    key="shares",
    heading="Does one source dominate the evidence?",
    columns=("source_id", "name", "authority", "first", "budget", "evidence", "text", "required", "covered"),
)
SHARES_BY_KIND = SectionSpec(
    source_shares,
    key="kind_shares",
    heading="By kind of {question}",
    columns=("kind", "source_id", "name", "routed", "first", "budget", "evidence", "required", "covered"),
    rows=6,
    file="source-shares-by-kind",
)


def budgets_by_kind(run: Run, frame: pd.DataFrame, sources: list[str]) -> Figure:
    """The figure of how each system divides its budget; frame: source_shares by kind."""
    words = {code: fill(run, text) for code, text in KIND.words.items()}
    return budget_bars(frame.assign(kind=frame["kind"].map(words)), source_colours(sources))


# -- export ------------------------------------------------------------------------------------------------------------


def _routed(context: ExportContext, frame: pd.DataFrame) -> str:
    shares = context.frame("source_shares")
    routed = shares["routed"].max() if len(shares) else 0
    sources = shares["source_id"].nunique()
    return context.fill(f"{shares['system_id'].nunique()} systems, {sources} sources, up to {routed:,} {{questions}} each")


def _missing(metric: str) -> Words:
    return if_empty(NONE_MEASURED, what=f"data for '{metric}'")


def _known(context: ExportContext, metric: str, **options: Any) -> pd.DataFrame:
    frame = context.frame(metric, **options)
    if reason := _missing(metric)(context, frame):
        raise AuditError(reason)
    return frame


def of_routing(section: SectionSpec, stem: str = "", **options: Any) -> TableMaker:
    """A metric of routing as a table; left out, with a reason, where the run has nothing for it."""
    return own_table(section.metric, _routed, stem=stem, missing=_missing(section.metric.name), **options)


def routing_wide(context: ExportContext) -> Table:
    """One row per system, one column per measure, as S1 prints them; measures that apply to no question are left out."""
    frame = _known(context, "routing")
    most = frame.groupby("system_id", sort=False)["measured"].max().reset_index()
    wide = pivoted(frame, ["system_id", "name"], "measure", "mean").merge(most)
    measures = (Column.decimal(name, title) for name, title in _titles(frame).items())
    columns = (SYSTEM, Column.count("measured", "Measured", "{questions}, at most"), *measures)
    spec = TableSpec("Routing and evidence of each system, by measure", columns, (*MEANINGS, INTERVALS))
    return table_of("routing_by_system", spec, wide, context.run, _routed(context, frame))


ROUTING_TABLES: tuple[TableMaker, ...] = (
    routing_wide,
    of_routing(CHOICE),
    of_routing(CHOICE_BY_KIND, "routing_by_kind", by="kind"),
    of_routing(DIFFERENCES),
    of_routing(SHARES),
    of_routing(SHARES_BY_KIND, "source_shares_by_kind", by="kind"),
)
"""Every table of several sources, in order."""


def dominance(context: ExportContext) -> list[Picture]:
    """Each source's share of the evidence next to its share of the text."""
    title = "The share of the evidence that each source gives, next to its share of all text"
    return [Picture("source_dominance", title, dominance_dots(_known(context, "source_shares"), _source_ids(context)))]


def budgets(context: ExportContext) -> list[Picture]:
    """How each system divides its budget between sources, by kind of question."""
    frame = _known(context, "source_shares", by="kind")
    if frame["budget"].isna().all():
        raise AuditError(NONE_MEASURED.format(key=context.run.key, what="budgets of sources"))
    title = context.fill("How each system divides its budget between sources, by how many sources the {questions} need")
    return [Picture("source_budgets", title, budgets_by_kind(context.run, frame, _source_ids(context)))]


def _source_ids(context: ExportContext) -> list[str]:
    return [source.source_id for source in stored_sources(context.con)]


ROUTING_PICTURES = (picture_of(CHOICE, _missing("routing"), called="measures_of_routing"), dominance, budgets)
"""Every figure of several sources, in order."""
