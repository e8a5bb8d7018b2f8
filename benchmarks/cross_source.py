"""Routing questions to sources, and the evidence for them: DAKS against its baselines, 500 questions over nine NIH handbooks.

    python -m benchmarks.cross_source [--data ../shared/data] [--cache DIR] [--seed 5] [--budget 20]

Nine handbooks in three sources (institutes, guides, encyclopedia); 125 questions that each source answers alone and 125 that
several answer. BM25 over the text of the sections, without headings, which repeat the questions. All that is chosen (weights,
budget, share of the retrieval score, calibration, logistic regression) is chosen on one half of the questions, drawn with the
seed; the first table is of that half and the second of the other. A mean has its 95 % interval, questions resampled; the last
tables have paired differences. Gold sections were found by rule, so that other sections may answer too. ms CPU is the median of
a query.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from audit.corpus.documents import read_documents
from audit.evaluation.routing_measures import MEASURES, RoutedQuestion, routing_measures
from audit.retrieval.across.baselines import (
    concatenated_pool,
    merged_document,
    merged_pool,
    single_source_pool,
    sources_by_evidence,
)
from audit.retrieval.across.consolidation import consolidate
from audit.retrieval.across.library import ChunkHit, Library, build_library
from audit.retrieval.across.routing import route, with_uniform_budget
from audit.retrieval.across.settings import FEATURES, ConsolidationSettings, DaksSettings
from audit.retrieval.across.sources import declared_sources
from audit.retrieval.index import HandbookIndex, build_index
from audit.retrieval.settings import RetrievalSettings
from audit.stats.means import mean_change, mean_interval
from benchmarks.cross_source_choices import Chosen, choose
from benchmarks.retrieval_corpora import without_headings

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DENSEST, AUTHORITATIVE = "encyclopedia", ("institutes",)
SETTINGS = RetrievalSettings(heading_prefix=False)
UNIFORM_ROW = "uniform budget, chosen mu"
SCORE_ONLY_ROW = "DAKS, learned, score-only rerank"
SCORE_ONLY = ConsolidationSettings(retrieval_share=1.0)
PoolOf = Callable[[str], tuple[Sequence[str] | None, Sequence[ChunkHit]]]
"""Question -> sources by score, None where the method scores none, and the pool of chunks."""


@dataclass(frozen=True)
class Question:
    """A question, the sources that answer it, the one to ask first, and the ids of its gold sections."""

    question_id: str
    text: str
    required: tuple[str, ...]
    primary: str
    gold: tuple[str, ...]


@dataclass(frozen=True)
class Method:
    """A row of the tables."""

    pool_of: PoolOf
    consolidation: ConsolidationSettings = SCORE_ONLY


def handbook_of(institute: str) -> str:
    """The data name a handbook by its institute: NIDDK is nih-niddk."""
    return f"nih-{institute.lower()}"


def read_questions(path: Path) -> list[Question]:
    """The questions, with their gold sections."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [
        Question(
            record["question_id"],
            record["question"],
            tuple(record["required_sources"]),
            record["primary_source"],
            tuple(
                f"{handbook_of(institute)}/{section}"
                for institute, sections in record["gold_sections"].items()
                for section in sections
            ),
        )
        for record in records
    ]


def halves(questions: Sequence[Question], seed: int) -> tuple[list[Question], list[Question]]:
    """The half to choose on and the half to report, at random."""
    order = np.random.default_rng(seed).permutation(len(questions))
    middle = len(questions) // 2
    return [questions[number] for number in order[:middle]], [questions[number] for number in order[middle:]]


def baselines(library: Library, merged: HandbookIndex, budget: int) -> dict[str, Method]:
    """The methods that choose nothing; the pool of each has as many chunks as DAKS takes."""
    uniform = DaksSettings(budget=budget)

    def uniform_pool(text: str) -> tuple[None, Sequence[ChunkHit]]:
        return None, with_uniform_budget(library, text, uniform).pool

    def single(source_id: str) -> PoolOf:
        return lambda text: (None, single_source_pool(library, source_id, text, budget))

    return {
        **{f"only {source.source_id}": Method(single(source.source_id)) for source in library.sources},
        "merged index": Method(lambda text: (None, merged_pool(library, merged, text, budget))),
        "naive concatenation": Method(lambda text: (None, concatenated_pool(library, text, budget))),
        "uniform budget": Method(uniform_pool),
    }


def daks(library: Library, settings: DaksSettings, consolidation: ConsolidationSettings) -> Method:
    """A configuration of DAKS."""

    def pool_of(text: str) -> tuple[Sequence[str], Sequence[ChunkHit]]:
        routing = route(library, text, settings)
        return routing.ranking, routing.pool

    return Method(pool_of, consolidation)


def daks_rows(library: Library, chosen: Chosen) -> dict[str, Method]:
    """The configurations of DAKS: as set, chosen, learned, without the prior, and without each feature."""
    base = replace(DaksSettings(), budget=chosen.settings["DAKS, learned"].budget)
    every = {
        "DAKS, default weights": base,
        "DAKS, default weights, lambda 0": replace(base, authority_weight=0.0),
        **chosen.settings,
    }
    rows = {name: daks(library, settings, chosen.consolidation) for name, settings in every.items()}
    learned = chosen.settings["DAKS, learned"]
    even = replace(chosen.consolidation, retrieval_share=0.5)
    return rows | {SCORE_ONLY_ROW: daks(library, learned, SCORE_ONLY), "DAKS, learned, mu 0.5": daks(library, learned, even)}


def measure(library: Library, method: Method, questions: Sequence[Question]) -> tuple[dict[str, Any], float]:
    """Measure -> one value per question, and the median CPU seconds of a query."""
    routed, seconds = {}, []
    for question in questions:
        began = time.process_time()
        ranking, pool = method.pool_of(question.text)
        evidence = consolidate(library, pool, method.consolidation)
        seconds.append(time.process_time() - began)
        passages = [(one.candidate.source_id, "/".join(one.candidate.chunk_id[:2])) for one in evidence]
        by_evidence = sources_by_evidence([one.candidate for one in evidence])
        routed[question.question_id] = RoutedQuestion(
            by_evidence if ranking is None else ranking, passages, question.primary, question.required, question.gold
        )
    values = routing_measures(routed, DENSEST, AUTHORITATIVE)
    columns = {name: np.array([values[question.question_id][name] for question in questions]) for name in MEASURES}
    return columns, median(seconds)


def print_table(title: str, rows: Mapping[str, tuple[dict[str, Any], float]]) -> None:
    """Means with intervals, NaN left out: a measure counts the questions that it is asked of."""
    print(f"\n{title}\n{'':<40}" + "".join(f"{name:>20}" for name in MEASURES) + "  ms CPU")
    for name, (columns, cpu) in rows.items():
        means = [mean_interval(values[~np.isnan(values)]) for values in columns.values()]
        print(f"{name:<40}" + "".join(f"{m.value:>7.3f} [{m.low:.3f},{m.high:.3f}]" for m in means) + f"{1000 * cpu:>8.1f}")


def print_differences(rows: Mapping[str, tuple[dict[str, Any], float]], other: str, names: Sequence[str]) -> None:
    """Paired differences of these rows to another one, over the questions that both are measured on."""
    print(f"\nDifference to: {other}\n{'':<40}" + "".join(f"{name:>24}" for name in MEASURES))
    for name in names:
        cells = [_change(values - rows[other][0][measured]) for measured, values in rows[name][0].items()]
        print(f"{name:<40}" + "".join(f"{cell:>24}" for cell in cells))


def _change(differences: Any) -> str:
    change = mean_change(differences[~np.isnan(differences)])
    return f"{change['change']:+.3f} [{change['change_low']:+.3f},{change['change_high']:+.3f}]"


def build(data: Path, cache: Path) -> tuple[Library, HandbookIndex, list[Question]]:
    """The library, the merged index and the questions; prints what the indexes took."""
    documents = [without_headings(document) for document in read_documents(data / "retrieval" / "nih_handbooks")]
    declared = json.loads((data / "cross_source" / "sources.json").read_text(encoding="utf-8"))
    groups = {name: [handbook_of(institute) for institute in institutes] for name, institutes in declared["groups"].items()}
    sources = declared_sources(documents, groups, declared["authority"])
    began = time.process_time()
    library = build_library(documents, sources, SETTINGS, folder=cache)
    took = time.process_time() - began
    merged = build_index(merged_document(documents), replace(SETTINGS, depth=200), folder=cache)
    chunks = sum(len(index.chunks) for index in library.indexes.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"library: {len(documents)} handbooks, {chunks:,} chunks, {took:.1f} CPU s; peak with the merged index {peak:.2f} GB")
    return library, merged, read_questions(data / "cross_source" / "questions.jsonl.gz")


def main() -> None:
    """Measure and print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--cache", type=Path, help="folder of the indexes; default: a temporary one")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--budget", type=int, default=20, help="chunks in the pool of a baseline")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        library, merged, questions = build(arguments.data, arguments.cache or Path(temporary))
    chosen_on, reported = halves(questions, arguments.seed)
    chosen = choose(library, [(question.text, question.primary, question.required, question.gold) for question in chosen_on])
    for name, settings in chosen.settings.items():
        weights = ", ".join(f"{feature} {settings.weights.get(feature, 0):.2f}" for feature in FEATURES)
        print(f"{name}: {weights}; lambda {settings.authority_weight:.2f}; B {settings.budget}, b_min {settings.minimum}")
    print(f"mu {chosen.consolidation.retrieval_share}")
    methods = baselines(library, merged, arguments.budget)
    methods[UNIFORM_ROW] = replace(methods["uniform budget"], consolidation=chosen.consolidation)
    methods |= daks_rows(library, chosen)
    tables = {
        name: {row: measure(library, method, half) for row, method in methods.items()}
        for name, half in (("chosen half", chosen_on), ("other half", reported))
    }
    for name, rows in tables.items():
        print_table(f"{name}: {len(next(iter(rows.values()))[0]['PrimaryAcc'])} questions", rows)
    rows = tables["other half"]
    whole = [name for name in rows if name.startswith("DAKS") and "without" not in name]
    for other in ("merged index", "uniform budget", UNIFORM_ROW, SCORE_ONLY_ROW):
        print_differences(rows, other, [name for name in whole if name != other])
    for full, left_out in (("DAKS, learned", "DAKS, learned without"), ("DAKS, learned, lambda 0", "DAKS, lambda 0, without")):
        print_differences(rows, full, [name for name in rows if name.startswith(left_out)])


if __name__ == "__main__":
    main()
