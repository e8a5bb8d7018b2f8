"""Routing questions to sources, and the evidence for them: 500 questions over nine NIH handbooks, against their baselines.

    python -m benchmarks.cross_source [--data ../shared/data] [--questions FILE] [--cache DIR] [--seed 5] [--budget 20]
                                      [--retriever dense]

Nine handbooks in three sources (institutes, guides, encyclopedia); 125 questions that each source answers alone and 125 that
several answer. BM25, or the sentence model MiniLM, over the text of the sections, without headings, which repeat the questions.
All that is chosen is chosen on one half of the questions, drawn with the seed; the first table is of that half and the second of
the other. A mean has its 95 % interval, questions resampled; the last tables have paired differences. Gold sections were found by
rule, so that other sections may answer too. --questions is another file of the same layout; a question without a primary source
or gold sections counts only in what needs neither. ms CPU is the median of a query. `benchmarks.cross_source_growth` has the cost
of more sources.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from audit.evaluation.routing_measures import MEASURES, RoutedQuestion, routing_measures
from audit.pipeline.embedding.encoders import HALF_PRECISION, MINILM, cached_encoder, in_memory, sentence_encoder
from audit.pipeline.retrieval.across.entities import medical_recogniser
from audit.pipeline.retrieval.across.graph import graph_of
from audit.pipeline.retrieval.across.library import BM25, DENSE, Library, build_library
from audit.pipeline.retrieval.across.sources import declared_sources
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.stats.means import mean_change, mean_interval
from audit.text.documents import read_documents
from benchmarks.cross_source_choices import LEARNED, choose
from benchmarks.cross_source_methods import (
    BOTH_ROW,
    MERGED_ROW,
    PAPER_ROW,
    SCORE_ONLY_ROW,
    UNIFORM_ROW,
    Method,
    Question,
    baselines,
    evidence_rows,
    routing_rows,
)
from benchmarks.retrieval_corpora import without_headings

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DENSEST, AUTHORITATIVE = "encyclopedia", ("institutes",)
SETTINGS = RetrievalSettings(heading_prefix=False)
Row = tuple[dict[str, Any], float]
"""Measure -> one value per question, and the median CPU seconds of a query."""


def handbook_of(institute: str) -> str:
    """The data name a handbook by its institute: NIDDK is nih-niddk."""
    return f"nih-{institute.lower()}"


def read_questions(path: Path, sources: Collection[str]) -> list[Question]:
    """The questions, with their gold sections. Ends the program, with the line, where one cannot be used."""
    try:
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        raise SystemExit(f"{path} cannot be read ({error}). Nothing was measured.") from error
    questions = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            questions.append(_question(json.loads(line), sources))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            fault = f"{path}, line {number}: not a question of the layout of cross_source ({error!r})."
            raise SystemExit(f"{fault} Nothing was measured. Correct the line.") from error
    without = [sum(not question.gold for question in questions), sum(question.primary is None for question in questions)]
    print(f"{len(questions)} questions, {without[0]} without gold sections, {without[1]} without a primary source")
    return questions


def _question(record: Mapping[str, Any], sources: Collection[str]) -> Question:
    primary = record.get("primary_source") or None
    required = tuple(record.get("required_sources") or ([primary] if primary else []))
    if unknown := {*required, *filter(None, [primary])} - set(sources):
        raise ValueError(f"{record['question_id']} names {sorted(unknown)}; sources are {', '.join(sources)}")
    gold = (record.get("gold_sections") or {}).items()
    found = tuple(f"{handbook_of(institute)}/{section}" for institute, sections in gold for section in sections)
    return Question(record["question_id"], record["question"], required, primary, found)


def halves(questions: Sequence[Question], seed: int) -> tuple[list[Question], list[Question]]:
    """The half to choose on and the half to report, at random."""
    order = np.random.default_rng(seed).permutation(len(questions))
    middle = len(questions) // 2
    return [questions[number] for number in order[:middle]], [questions[number] for number in order[middle:]]


def measure(method: Method, questions: Sequence[Question]) -> Row:
    """A row of the tables."""
    routed, seconds = {}, []
    for question in questions:
        began = time.process_time()
        result = method(question)
        seconds.append(time.process_time() - began)
        passages = [(one.source_id, "/".join(one.candidate.chunk_id[:2])) for one in result.evidence]
        routed[question.question_id] = RoutedQuestion(
            result.ranking, passages, question.primary, question.required, question.gold
        )
    values = routing_measures(routed, DENSEST, AUTHORITATIVE)
    columns = {name: np.array([values[question.question_id][name] for question in questions]) for name in MEASURES}
    return columns, median(seconds)


def print_table(title: str, rows: Mapping[str, Row]) -> None:
    """Means with intervals, NaN left out: a measure counts the questions that it is asked of."""
    print(f"\n{title}\n{'':<44}" + "".join(f"{name:>20}" for name in MEASURES) + "  ms CPU")
    for name, (columns, cpu) in rows.items():
        means = [mean_interval(values[~np.isnan(values)]) for values in columns.values()]
        print(f"{name:<44}" + "".join(f"{m.value:>7.3f} [{m.low:.3f},{m.high:.3f}]" for m in means) + f"{1000 * cpu:>8.1f}")


def print_differences(rows: Mapping[str, Row], other: str, names: Sequence[str]) -> None:
    """Paired differences of these rows to another one, over the questions that both are measured on."""
    print(f"\nDifference to: {other}\n{'':<44}" + "".join(f"{name:>24}" for name in MEASURES))
    for name in names:
        cells = [_change(values - rows[other][0][measured]) for measured, values in rows[name][0].items()]
        print(f"{name:<44}" + "".join(f"{cell:>24}" for cell in cells))


def _change(differences: Any) -> str:
    change = mean_change(differences[~np.isnan(differences)])
    return f"{change['change']:+.3f} [{change['change_low']:+.3f},{change['change_high']:+.3f}]"


def build(data: Path, cache: Path, dense: bool = False, asked: Path | None = None) -> tuple[Library, list[Question]]:
    """The library, the merged index and the questions; prints what the indexes took."""
    documents = [without_headings(document) for document in read_documents(data / "retrieval" / "nih_handbooks")]
    declared = json.loads((data / "cross_source" / "sources.json").read_text(encoding="utf-8"))
    groups = {name: [handbook_of(institute) for institute in institutes] for name, institutes in declared["groups"].items()}
    questions = read_questions(asked or data / "cross_source" / "questions.jsonl.gz", groups)
    sources = declared_sources(documents, groups, declared["authority"])
    model = cached_encoder(sentence_encoder(MINILM, precision=HALF_PRECISION), cache / "vectors") if dense else None
    encoder = in_memory(model) if model else None
    began = time.process_time()
    library = build_library(documents, sources, SETTINGS, encoder, cache)
    took = time.process_time() - began
    assert library.merged.chunks
    chunks = sum(len(index.chunks) for index in library.indexes.values())
    print(f"library: {len(documents)} handbooks, {chunks:,} chunks, {took:.1f} CPU s; with the merged index {peak_gb():.2f} GB")
    began = time.process_time()
    graph = graph_of(library, medical_recogniser())
    print(f"graph: {len(graph.entities):,} entities by {medical_recogniser().name}, {graph.incidence.nnz:,} edges, "
          f"{time.process_time() - began:.1f} CPU s; {peak_gb():.2f} GB")  # fmt: skip
    return library, questions


def peak_gb() -> float:
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Measure and print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--questions", type=Path, help="default: those of --data")
    parser.add_argument("--cache", type=Path, help="folder of the indexes; default: a temporary one")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--budget", type=int, default=20, help="chunks in the pool of a baseline")
    parser.add_argument("--retriever", choices=(BM25, DENSE), default=BM25)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        library, questions = build(
            arguments.data, arguments.cache or Path(temporary), arguments.retriever == DENSE, arguments.questions
        )
    chosen_on, reported = halves(questions, arguments.seed)
    recogniser = medical_recogniser()
    labelled = [(one.text, one.primary, one.required, one.gold) for one in chosen_on if one.primary]
    chosen = choose(library, labelled, recogniser, arguments.retriever, DENSEST)
    print(json.dumps(chosen.settings.record()))
    methods = baselines(library, arguments.budget, arguments.retriever)
    methods |= routing_rows(library, chosen, recogniser) | evidence_rows(library, chosen, recogniser)
    halves_measured = {"chosen half": chosen_on, "other half": reported}
    tables = {name: {row: measure(method, half) for row, method in methods.items()} for name, half in halves_measured.items()}
    for name, rows in tables.items():
        print_table(f"{name}: {len(halves_measured[name])} questions", rows)
    rows = tables["other half"]
    routing = [name for name in rows if name.startswith(("S1's DAKS", "DAKS"))]
    evidence = list(rows)[list(rows).index(PAPER_ROW) :]
    for other, names in ((MERGED_ROW, [*routing, *evidence]), (UNIFORM_ROW, [*routing, *evidence]), (LEARNED, routing),
                         (SCORE_ONLY_ROW, evidence), (BOTH_ROW, evidence)):  # fmt: skip
        print_differences(rows, other, [name for name in names if name != other])


if __name__ == "__main__":
    main()
