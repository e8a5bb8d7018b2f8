"""Tables of answering systems: what Fensore, Carrillo-Larco, Shah and Ho report, for a run that can fill them, and further ones.

Of the numbered tables of "Does Domain-Specific RAG Help LLMs Answer Consumer Health Questions?", Table 1 is known to be retrieval
by configuration (`system_retrieval`). The others are named here by their content: measures against the reference answers, the
composite (with 0 points for unreadable scores; of complete evaluations; on the questions that all systems share; of the reference
answers), scores by criterion, lengths, preferences and their alignment with the judge, quality against retrieval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from audit.errors import AuditError
from audit.evaluation.evidence_measures import EVIDENCE_MEASURES
from audit.evaluation.reference_metrics import REFERENCE_MEASURES
from audit.evaluation.retrieval_measures import RETRIEVAL_MEASURES
from audit.exports.context import ExportContext
from audit.exports.table_model import Table, table_of
from audit.metrics._systems import BY_SYSTEM_QUESTION, MEASURE_TITLES, READ, SYSTEM, TEXT_MEASURES
from audit.metrics.system_measures import EVIDENCE_MEANINGS
from audit.tables import Column, TableSpec

NONE_MEASURED = "Run {key} has no {what}: not measured, which is different from zero."
RETRIEVAL_TABLE = TableSpec(
    "How well each answering system's search finds the sections that contain the answer",
    (
        SYSTEM,
        Column.count("answers", "Measured", "{questions}"),
        *(Column.decimal(name, MEASURE_TITLES[name]) for name in RETRIEVAL_MEASURES),
    ),
    ("Means over the {questions} whose section is known.", BY_SYSTEM_QUESTION),
)
REFERENCE_TABLE = TableSpec(
    "How close each answering system's answers come to the reference answers",
    (
        SYSTEM,
        Column.count("answers", "Measured", "answers"),
        *(Column.decimal(name, MEASURE_TITLES[name]) for name in REFERENCE_MEASURES),
    ),
    (TEXT_MEASURES, READ, BY_SYSTEM_QUESTION),
)
EVIDENCE_TABLE = TableSpec(
    "How each answering system's answers relate to their evidence",
    (
        SYSTEM,
        Column.count("answers", "Measured", "answers, at most"),
        *(Column.decimal(name, MEASURE_TITLES[name]) for name in EVIDENCE_MEASURES),
    ),
    (EVIDENCE_MEANINGS, BY_SYSTEM_QUESTION),
)
TYPE_TABLE = "Measures of each answering system by question type"
TableMaker = Callable[[ExportContext], Table]


def retrieval_of_systems(context: ExportContext) -> Table:
    """Means of the measures of retrieval, one row per system."""
    return _wide(context, "system_retrieval", RETRIEVAL_TABLE, tuple(RETRIEVAL_MEASURES), "measures of retrieval")


def reference_measures(context: ExportContext) -> Table:
    """Means of the measures against the reference answers, one row per system."""
    return _wide(context, "system_reference_measures", REFERENCE_TABLE, REFERENCE_MEASURES, "measures against reference answers")


def evidence_measures(context: ExportContext) -> Table:
    """Means of the measures of answers by their evidence, one row per system."""
    return _wide(context, "system_evidence_measures", EVIDENCE_TABLE, EVIDENCE_MEASURES, "measures of answers by their evidence")


def _wide(context: ExportContext, name: str, spec: TableSpec, measures: Sequence[str], what: str) -> Table:
    frame = context.frame("system_measures")
    own = frame[frame["measure"].isin(measures)]
    if own.empty:
        raise AuditError(NONE_MEASURED.format(key=context.run.key, what=what))
    by_system = own.pivot(index="system_id", columns="measure", values=["mean", "mean_low", "mean_high"])
    columns = {f"{measure}{end}": by_system.get((f"mean{end}", measure)) for measure in measures for end in ("", "_low", "_high")}
    order = own.drop_duplicates("system_id").set_index("system_id")[["name"]]
    counted = order.assign(answers=own.groupby("system_id")["answers"].max())
    wide = counted.join(pd.DataFrame({key: values for key, values in columns.items() if values is not None}))
    used = tuple(column for column in spec.columns if column.name in wide)
    return table_of(name, replace(spec, columns=used), wide.reset_index(), context.run, _answers(context))


def measures_by_type(context: ExportContext) -> Table:
    """Every measure by question type."""
    frame = context.frame("system_measures", by="question_type")
    if frame["question_type"].nunique() < 2:
        raise AuditError(NONE_MEASURED.format(key=context.run.key, what="two question types"))
    table = context.table("system_measures", _answers(context), stem="system_types", by="question_type")
    return replace(table, title=TYPE_TABLE, printed_rows=40)


def system_table(metric: str, stem: str = "", title: str = "", **options: Any) -> TableMaker:
    """A metric of answering systems as a table; left out, with a reason, where the run has nothing for it."""

    def maker(context: ExportContext) -> Table:
        if context.frame(metric, **options).empty:
            raise AuditError(NONE_MEASURED.format(key=context.run.key, what=f"data for '{stem or metric}'"))
        table = context.table(metric, _answers(context), stem=stem, **options)
        return replace(table, title=title or table.title)

    maker.__name__ = stem or metric
    return maker


def _answers(context: ExportContext) -> str:
    frame = context.frame("systems")
    asked = int(frame["asked"].sum())
    return context.fill(f"{frame['asked'].notna().sum()} systems, {asked:,} replies to {{questions}}")


COMPOSITE = "The composite of the eight criteria, from 0 to 10,"
SYSTEM_TABLES: tuple[TableMaker, ...] = (
    system_table("systems"),
    retrieval_of_systems,
    reference_measures,
    evidence_measures,
    system_table("composite", "composite_zero", f"{COMPOSITE} with 0 points for what could not be read", incomplete="zero"),
    system_table("composite", "composite_complete", f"{COMPOSITE} of complete evaluations"),
    system_table("composite", "composite_shared", f"{COMPOSITE} on what every system has", shared=True),
    system_table("criteria_means"),
    system_table("criteria_scores"),
    system_table("system_differences"),
    measures_by_type,
    system_table("preferences"),
    system_table("bradley_terry"),
    system_table("preference_alignment"),
    system_table("preference_raters"),
    system_table("preference_effects"),
    system_table("judge_calibration"),
    system_table("corrected_composite"),
    system_table("corrected_preference"),
    system_table("downstream"),
    system_table("when_to_retrieve"),
)
"""Every table of answering systems, in order."""
