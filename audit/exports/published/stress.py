"""Figures of stress tests that MedRGB prints (arXiv:2411.09213), behind those of a run and next to them.

In percent. Names of figures: set/retrieval/test/measure/model/size/share of signal; a context without documents has the retrieval
"none". MedRGB calls error_detection "factual detection", sub_exact and sub_score "sub-question EM" and "GPT score".

Sources of our copy: table 1 offline from the authors' repository (ngotrnghia1811/MedRGB), the rest from a public transcription of
the tables. Its PubMedQA rows were compared with the paper, and one cell differs: robustness, 5 documents, 40 %, graded
sub-answers of Llama 3 70B (34.6 there, 35.2 in the paper and here). Not held, because the transcription lacks them or repeats
another row in their place: noise detection with 20 documents; integration with 10 documents; robustness with 10 documents, graded
sub-answers, and error detection of Llama 3 70B.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from audit.exports.context import ExportContext
from audit.exports.published.comparison import NOTES, PublishedFigure, PublishedSource, RunFigures, published_figures, row_figure
from audit.queries.stress import documents_shown, stress_scope, tested_systems
from audit.vocabulary import plain

STRESS_PRINTED = {"Table 1": 140, "Table 4": 432, "Table 5": 360, "Table 6": 576}
"""Table of MedRGB -> figures that it prints."""
STRESS_SETS = {
    "bioasq": ("bioasqyn", "bioasqy/n"), "pubmedqa": ("pubmedqa*",), "medqa": ("medqaus",), "mmlu": ("mmlumed",),
}  # fmt: skip
"""Published set of questions -> other spellings of it."""
SET_SPELLINGS = {plain(word): name for name, others in STRESS_SETS.items() for word in (name, *others)}
STRESS_MODELS = {
    "gpt-4o-mini": "GPT-4o mini", "pmc-llama-13b": "PMC-Llama 13B", "gemma-2-27b": "Gemma 2 27B", "llama-3-70b": "Llama 3 70B",
    "meditron-70b": "Meditron 70B", "gpt-3.5": "GPT-3.5", "gpt-4o": "GPT-4o",
}  # fmt: skip
"""Published model -> how it is written; GPT-4o mini is looked for before GPT-4o."""
DETAILED_MODELS = ("gpt-3.5", "gpt-4o-mini", "llama-3-70b")
"""The models of MedRGB's tables 4 to 6; table 1 has all."""
NO_DOCUMENTS, RETRIEVALS = "none", ("offline", "online")
WORDS = re.compile(r"[a-z0-9.]+")
CURVE_COLUMNS = ("dataset", "retrieval", "test", "measure", "model", "size", "signal_share", "value")
HELD_NOTE = "MedRGB prints {printed:,} figures. {held:,} of them are held here; no public source has the others."


def published_set(dataset: str | None) -> str | None:
    """The published set of questions that a release's name of one means; None where it is another."""
    return SET_SPELLINGS.get(plain(dataset or ""))


def published_retrievals(retrievals: Iterable[str | None]) -> tuple[str, ...]:
    """The published ways to find documents with which a run's can be compared: both, where the run does not state its own.

    None where it has several.
    """
    known = {way or "" for way in retrievals}
    return RETRIEVALS if not any(known) else tuple(known & {*RETRIEVALS}) if len(known) == 1 else ()


def published_curves() -> pd.DataFrame:
    """Every published figure that is held: dataset, retrieval, test, measure, model (str), size, signal_share (int), value (float
    in [0, 1]).
    """
    rows = [(*figure.name.split("/"), float(figure.value) / 100) for figure in published_figures("stress")]
    return pd.DataFrame(rows, columns=list(CURVE_COLUMNS)).astype({"size": int, "signal_share": int})


def published_model(model: object) -> str | None:
    """The published model that a system's is; None where it is not one of them. Llama 3.1 is not Llama 3."""
    words = set(WORDS.findall(model.lower())) if isinstance(model, str) else set()
    return next((name for name in STRESS_MODELS if set(name.split("-")) <= words), None)


def curves_behind(scope: pd.DataFrame, test: str, measure: str, sizes: Iterable[int], models: Iterable[str] = ()) -> pd.DataFrame:
    """The published figures of a measure in contexts of these sizes, where all questions are of one published set; else none.

    scope   of the run's instances: dataset, retrieval
    models  keys of STRESS_MODELS; none: those of the detailed tables

    Columns as `published_curves`, with one curve per `model`, which is written with the retrieval where both are shown.
    """
    curves = published_curves()
    names, found = {published_set(name) for name in scope["dataset"]}, published_retrievals(scope["retrieval"])
    own = curves[(curves["test"] == test) & (curves["measure"] == measure) & curves["size"].isin(list(sizes))]
    own = own[own["dataset"].isin(names) & own["model"].isin(list(models) or DETAILED_MODELS) & (len(names) == 1)]
    printed = [way for way in found if way in set(own["retrieval"])]
    # What is answered without documents belongs to both curves
    parts = [own[own["retrieval"].isin([NO_DOCUMENTS, way])].assign(retrieval=way) for way in printed]
    drawn = pd.concat([own.iloc[:0], *parts]).sort_values(["model", "retrieval", "size", "signal_share"], ignore_index=True)
    written = drawn["model"].map(STRESS_MODELS)
    return drawn.assign(model=written + ", " + drawn["retrieval"] if len(parts) > 1 else written)


def models_in(context: ExportContext) -> dict[str, str]:
    """System, published set and way to find documents -> `set/retrieval/model` as published, of the run's systems that are so."""
    if not context.run.has_stress:
        return {}
    tested = {row["system_id"]: published_model(row["model"]) for row in tested_systems(context.con).to_dict("records")}
    return names_in(context, {system: model for system, model in tested.items() if model})


def names_in(context: ExportContext, models: Mapping[str, str]) -> dict[str, str]:
    """The same for these systems, whose model is to be called as `models` says."""
    return {
        f"{system}/{dataset}/{way}": f"{dataset}/{way}/{model}"
        for dataset, _, ways in _published_sets(context)
        for system, model in models.items()
        for way in (*ways, NO_DOCUMENTS)
    }


def _published_sets(context: ExportContext) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Each published set of questions that the run has, the run's name of it, and the retrievals with which it is compared."""
    for name, own in stress_scope(context.con).groupby("dataset"):
        if (dataset := published_set(str(name))) and (ways := published_retrievals(own["retrieval"])):
            yield dataset, str(name), ways


def stress_figures(context: ExportContext, names: Mapping[str, str]) -> RunFigures:
    """Every figure of the run's stress tests that is also published, in percent, for the models that the source has."""
    figures: RunFigures = {}
    shown = documents_shown(context.con)
    for dataset, own_name, ways in _published_sets(context):
        for row in context.frame("stress_curves", dataset=own_name).to_dict("records"):
            population = f"{int(row['of']):,} of {int(row['questions']):,} questions"
            mean = shown.get((row["test"], row["size"], row["signal_share"], own_name), row["size"])
            population += f", {mean:.1f} documents" if mean < row["size"] else ""
            for way in ways if row["size"] else (NO_DOCUMENTS,):
                if published := names.get(f"{row['system_id']}/{dataset}/{way}"):
                    model = published.rpartition("/")[2]
                    name = f"{dataset}/{way}/{row['test']}/{row['measure']}/{model}/{row['size']}/{row['signal_share']}"
                    figures[name] = row_figure(row, "value", population, percent=True)
    return figures


def stress_subject(figure: PublishedFigure) -> str:
    """The published set, retrieval and model that a figure is about."""
    dataset, retrieval, _, _, model, *_ = figure.name.split("/")
    return f"{dataset}/{retrieval}/{model}"


def stress_stand_ins(context: ExportContext, system: str, missing: Iterable[str]) -> Iterator[Mapping[str, str]]:
    """A system of the run in place of each model of published subjects."""
    for model in sorted({subject.rpartition("/")[2] for subject in missing}):
        yield names_in(context, {system: model})


STRESS_SOURCE = PublishedSource(
    key="stress",
    citation=(
        "Comprehensive and Practical Evaluation of Retrieval-Augmented Generation Systems for Medical Question Answering (MedRGB)"
    ),
    table="published_stress",
    notes=(NOTES[0], HELD_NOTE.format(printed=sum(STRESS_PRINTED.values()), held=len(published_figures("stress")))),
    subjects=models_in,
    figures=stress_figures,
    subject=stress_subject,
    stand_ins=stress_stand_ins,
)
