"""A run's answering systems next to those that Fensore, Carrillo-Larco, Shah and Ho report.

Names of figures: of one system measure/model/mode, of no specific one fewer parts.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from audit.evaluation.criteria import REFERENCE
from audit.evaluation.reference_metrics import REFERENCE_MEASURES
from audit.exports.context import ExportContext
from audit.exports.published.comparison import NOTES, PublishedFigure, PublishedSource, RunFigure, RunFigures, row_figure
from audit.metrics._systems import COMPOSITE
from audit.store.connection import rows
from audit.vocabulary import SystemMode

MODELS = {
    "llama-3.1-8b": ("llama", "3.1", "8b"), "llama-3.1-70b": ("llama", "3.1", "70b"), "mixtral-8x7b": ("mixtral", "8x7b"),
    "meditron-70b": ("meditron", "70b"),
}  # fmt: skip
"""Published model -> what the name of a release's model must contain to match it."""
MODES = (SystemMode.CLOSED_BOOK.value, SystemMode.RETRIEVAL.value)
ALL_SYSTEMS = len(MODELS) * len(MODES)
QUESTIONS = """
select (select count(distinct question) from system_answers),
       (select count(distinct question_type) from question_types where question in (select question from system_answers))
"""
NOT_SHARED = "It is over the questions that all eight systems have, and the run has not all of them."
COUNTED = {"answers": "answers", "answered": "answers", "of": "comparisons", "questions": "questions"}
"""The unit of a metric's rows, by the column that counts it."""


def published_system(model: object, mode: object) -> str | None:
    """`model/mode` of the published system that a system of a release is; None where it is not one of them."""
    words = model.lower() if isinstance(model, str) else ""
    known = next((name for name, parts in MODELS.items() if all(part in words for part in parts)), None)
    return f"{known}/{mode}" if known and mode in MODES else None


def systems_in(context: ExportContext) -> dict[str, str]:
    """System id -> `model/mode`, of the run's systems that are published ones."""
    if not context.run.has_systems:
        return {}
    systems = context.frame("systems").to_dict("records")
    return {row["system_id"]: name for row in systems if (name := published_system(row["model"], row["mode"]))}


def system_figures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    """Every figure of the run's systems that is also published, for the systems that the source has."""
    ((questions, types),) = rows(context.con, QUESTIONS)
    figures: RunFigures = {"questions": RunFigure(questions), "question_types": RunFigure(types)}
    return figures | _measures(context, names) | _composites(context, names) | _preferences(context) | _downstream(context)


def system_of(figure: PublishedFigure) -> str | None:
    """The published system, `model/mode`, that a figure is about; None for one about all of them."""
    measure, _, system = figure.name.partition("/")
    return system if system.count("/") == 1 and measure != "preferences" else None


def _measures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    figures: RunFigures = {
        f"{row['measure']}/{names[row['system_id']]}": _figure(row, "mean")
        for row in context.frame("system_measures").to_dict("records")
        if row["system_id"] in names and row["measure"] in REFERENCE_MEASURES
    }
    for row in context.frame("systems").to_dict("records"):
        if row["system_id"] == REFERENCE:
            figures |= {"reference/words": _figure(row, "words"), "reference/words_sd": RunFigure(row["words_sd"])}
    return figures


def _composites(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    figures: RunFigures = {}
    for row in context.frame(COMPOSITE, incomplete="zero").to_dict("records"):
        if name := names.get(row["system_id"]):
            figures |= {f"composite/{name}": _figure(row, "mean"), f"composite_sd/{name}": RunFigure(row["sd"])}
        elif row["system_id"] == REFERENCE:
            figures |= {"reference/composite": _figure(row, "mean"), "reference/complete": RunFigure(row["complete"])}
    complete = len(set(names.values())) == ALL_SYSTEMS
    for row in context.frame(COMPOSITE, shared=True).to_dict("records"):
        if name := names.get(row["system_id"]):
            figures[f"composite_shared/{name}"] = _figure(row, "mean") if complete else NOT_SHARED
    return figures


def _preferences(context: ExportContext) -> RunFigures:
    frame, figures = context.frame("preferences"), RunFigures()
    for kind, own in frame.groupby("rater_kind"):
        figures |= {f"preferences/{kind}/{choice}": RunFigure(float(own[choice].sum())) for choice in ("a", "b", "tie")}
        figures[f"preferences/{kind}"] = RunFigure(float(own["comparisons"].sum()))
    aligned = context.frame("preference_alignment").to_dict("records")
    return figures | {f"alignment/{row['rule']}": _figure(row, "share") for row in aligned if row["judge"] != COMPOSITE}


def _downstream(context: ExportContext) -> RunFigures:
    frame = context.frame("downstream")
    own = frame[(frame["outcome"] == COMPOSITE) & (frame["measure"] == "p_at_5")].dropna(subset=["pearson"])
    if own.empty:
        return {}
    return {"downstream/p_at_5": _figure(own.sort_values("pearson").to_dict("records")[-1], "pearson")}


def _figure(row: Mapping[Hashable, Any], name: str) -> RunFigure:
    number = next((f"{int(row[count]):,} {words}" for count, words in COUNTED.items() if count in row), "")
    return row_figure(row, name, number)


SYSTEMS_SOURCE = PublishedSource(
    key="systems",
    citation="Fensore, Carrillo-Larco, Shah and Ho, Does Domain-Specific RAG Help LLMs Answer Consumer Health Questions?",
    table="published_systems",
    notes=NOTES[:1],
    subjects=systems_in,
    figures=system_figures,
    subject=system_of,
)
