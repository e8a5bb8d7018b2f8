"""Figures of stress tests that MedRGB prints: behind the curves of the same questions, and next to a run of the same model.

They are those for the questions of PubMedQA with offline documents, in percent. Names of figures:
test/measure/model/size/share of signal, as `audit.metrics.stress` has them. MedRGB calls error_detection "factual
detection", sub_exact and sub_score "sub-question EM" and "GPT score".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pandas as pd

from audit.exports.context import ExportContext
from audit.exports.published.comparison import NOTES, PublishedSource, RunFigures, published_figures, row_figure
from audit.queries.stress import stress_scope, tested_systems

DATASET = "pubmedqa"
"""The set of questions that the published figures are about."""
MODELS = {"llama-3-70b": "Llama 3 70B", "gpt-4o-mini": "GPT-4o mini"}
"""Published model -> how it is written."""
WORDS = re.compile(r"[a-z0-9.]+")
CURVE_COLUMNS = ("test", "measure", "model", "size", "signal_share", "value")


def is_published(dataset: str | None) -> bool:
    """Whether a release's name of a set of questions is that of the published figures."""
    return DATASET in (dataset or "").lower().replace("-", "").replace(" ", "")


def published_curves() -> pd.DataFrame:
    """Every published figure: test, measure, model (str), size, signal_share (int), value (float in [0, 1])."""
    rows = [(*figure.name.split("/"), float(figure.value) / 100) for figure in published_figures("stress")]
    frame = pd.DataFrame(rows, columns=list(CURVE_COLUMNS)).astype({"size": int, "signal_share": int})
    return frame.assign(model=frame["model"].map(lambda model: MODELS.get(model, model)))


def published_model(model: object) -> str | None:
    """The published model that a system's is; None where it is not one of them. Llama 3.1 is not Llama 3."""
    words = set(WORDS.findall(model.lower())) if isinstance(model, str) else set()
    return next((name for name in MODELS if set(name.split("-")) <= words), None)


def curves_behind(datasets: Iterable[str], test: str, measure: str, sizes: Iterable[int]) -> pd.DataFrame:
    """The published figures of a measure in contexts of these sizes, where all questions are those of the source; else none."""
    known, curves = list(datasets), published_curves()
    same = bool(known) and all(map(is_published, known))
    return curves[(curves["test"] == test) & (curves["measure"] == measure) & curves["size"].isin(list(sizes)) & same]


def models_in(context: ExportContext) -> dict[str, str]:
    """System id -> published model, of the run's systems that took stress tests on the published questions."""
    if not context.run.has_stress or not all(is_published(name) for name in stress_scope(context.con)["dataset"]):
        return {}
    tested = tested_systems(context.con).to_dict("records")
    return {row["system_id"]: name for row in tested if (name := published_model(row["model"]))}


def stress_figures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    """Every figure of the run's stress tests that is also published, in percent, for the models that the source has."""
    figures: RunFigures = {}
    for row in context.frame("stress_curves").to_dict("records"):
        if row["system_id"] in names:
            name = f"{row['test']}/{row['measure']}/{names[row['system_id']]}/{row['size']}/{row['signal_share']}"
            population = f"{int(row['of']):,} of {int(row['questions']):,} questions"
            figures[name] = row_figure(row, "value", population, percent=True)
    return figures


STRESS_SOURCE = PublishedSource(
    key="stress",
    citation=(
        "Comprehensive and Practical Evaluation of Retrieval-Augmented Generation Systems for Medical Question Answering (MedRGB)"
    ),
    table="published_stress",
    notes=NOTES[:1],
    subjects=models_in,
    figures=stress_figures,
    subject=lambda figure: figure.name.split("/")[2],
)
