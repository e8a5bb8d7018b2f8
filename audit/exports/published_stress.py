"""Figures of stress tests that MedRGB prints: behind the curves of the same questions, and next to a run of the same model."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

import pandas as pd

from audit.exports.context import ExportContext
from audit.exports.published_comparison import PublishedFigure, RunFigure, RunFigures, published_figures
from audit.queries.stress import stress_scope, tested_systems

FILE = "published_stress.toml"
MODELS = {"llama-3-70b": "Llama 3 70B", "gpt-4o-mini": "GPT-4o mini"}
"""Published model -> how it is written."""
WORDS = re.compile(r"[a-z0-9.]+")
CURVE_COLUMNS = ("test", "measure", "model", "size", "signal_share", "value")
PARTS = len(CURVE_COLUMNS) - 1


def published_dataset() -> str:
    """The set of questions that the published figures are about."""
    return str(tomllib.loads((files("audit.exports") / FILE).read_text(encoding="utf-8"))["dataset"])


def is_published(dataset: str | None) -> bool:
    """Whether a release's name of a set of questions is that of the published figures."""
    return published_dataset() in (dataset or "").lower().replace("-", "").replace(" ", "")


def published_curves() -> pd.DataFrame:
    """Every published figure: test, measure, model (str), size, signal_share (int), value (float in [0, 1])."""
    _, figures = published_figures(FILE)
    rows = [(*figure.name.split("/"), float(figure.value) / 100) for figure in figures if figure.name.count("/") == PARTS - 1]
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


def stress_figures(context: ExportContext) -> RunFigures:
    """Every figure of the run's stress tests that is also published, in percent, for the models that the source has."""
    names = models_in(context)
    return {
        f"{row['test']}/{row['measure']}/{names[row['system_id']]}/{row['size']}/{row['signal_share']}": _figure(row)
        for row in context.frame("stress_curves").to_dict("records")
        if row["system_id"] in names
    }


def _figure(row: Mapping[Any, Any]) -> RunFigure:
    low, high = (float(row[f"value_{end}"]) * 100 for end in ("low", "high"))
    return RunFigure(float(row["value"]) * 100, low, high, f"{int(row['of']):,} of {int(row['questions']):,} questions")


def shown_figures(names: Mapping[str, str]) -> tuple[str, list[PublishedFigure]]:
    """The source, and those of its figures that are about the run's models."""
    source, figures = published_figures(FILE)
    models = set(names.values())
    return source, [figure for figure in figures if figure.name.split("/")[2:3] and figure.name.split("/")[2] in models]
