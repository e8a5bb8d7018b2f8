"""The strategy `hybrid`, its layers and its numbers of passages, on 828 questions over 151 documents of the NIDDK.

    python -m benchmarks.retrieval --corpora niddk [--data ../shared/data/retrieval] [--cache DIR] [--trec DIR]

The rows are those of the study that `hybrid` is taken from, and below them HERO-QA and BM25 with windows of 160 words. All
documents are one handbook, each of them a section without headings (headings repeat the questions). A passage is right where it
is from a document that answers the question. P@5 counts passages. Recall, nDCG and MRR count documents, each at its first
passage: a document has one to twenty chunks, and finding all of them is nobody's aim. HERO-QA and BM25 are measured on their best
five chunks, before they reduce them to one for each section. All measures are ir_measures'; 95 % intervals resample questions;
the second table has the differences to the full configuration, question by question. Without a sentence model, rows are by words.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from audit.evaluation.retrieval_measures import retrieval_measures, write_trec_qrels, write_trec_run
from audit.pipeline.embedding.encoders import Encoder, cached_encoder
from audit.pipeline.retrieval.hybrid import HybridStrategy, expanded
from audit.pipeline.retrieval.index import HandbookIndex, build_index
from audit.pipeline.retrieval.model import Hit, Query, Retrieval
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import HERO, HYBRID, index_settings, make_strategy
from audit.text.documents import Document, Section
from benchmarks.retrieval_corpora import Task
from benchmarks.retrieval_tables import intervals, table_line, with_vectors_of

NIDDK = "niddk"
FULL = "hybrid, full"


def without(*layers: str) -> dict[str, Any]:
    """The settings that leave these layers out."""
    return {"leave_out": frozenset(layers)}


ROWS: Mapping[str, dict[str, Any]] = {
    FULL: {},
    "without expansion": without("expansion"),
    "without rerank": without("rerank"),
    "without BM25": without("bm25"),
    "dense only": without("expansion", "bm25", "rerank", "mmr"),
    "BM25 only": without("expansion", "dense", "rerank", "mmr"),
    "without MMR": without("mmr"),
    "without expansion and MMR": without("expansion", "mmr"),
    "medical terms: rarer quarter": {"medical_percentile": 75.0},
    "every word of high PMI added": {"added_terms": 10_000},
}
"""Name -> the settings of `hybrid` that differ from the default. The first six are the rows of the study."""
INITIAL, FINAL = (5, 10, 20, 30, 50), (1, 3, 5, 10)


@dataclass(frozen=True)
class Measured:
    """One row: questions x (P, recall, nDCG, MRR), the median CPU seconds of a query, and question -> documents in order."""

    values: Any
    cpu: float
    documents: Mapping[str, Sequence[str]]


def read_niddk(data: Path) -> tuple[Document, list[Task]]:
    """All documents as one handbook, a section each, and every question with the documents that answer it."""
    sections = [
        Section(record["document_id"], "", record["text_no_headings"]) for record in _records(data / "niddk_docs.jsonl.gz")
    ]
    tasks = [
        Task(Query(record["question_id"], record["question"]), NIDDK, tuple(record["gold_document_ids"]))
        for record in _records(data / "niddk_questions.jsonl.gz")
    ]
    return Document("general_niddk_combined", "general", "NIDDK", "combined", tuple(sections)), tasks


def _records(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def measure_row(strategy: str, index: HandbookIndex, tasks: Sequence[Task], k: int) -> Measured:
    """The measures of the best k passages of each question."""
    retrieve = make_strategy(strategy, with_questions(index, tasks, strategy)).retrieve
    retrievals = {task.question.question_id: retrieve(task.question) for task in tasks}
    hits = {question: best_hits(retrieval)[:k] for question, retrieval in retrievals.items()}
    gold = {task.question.question_id: task.gold for task in tasks}
    passages = {question: [_passage_id(hit) for hit in found] for question, found in hits.items()}
    documents = {question: list(dict.fromkeys(hit.section_id for hit in found)) for question, found in hits.items()}
    right = {question: gold_passages(index, sections) for question, sections in gold.items()}
    precise = retrieval_measures(passages, right, {"P": f"P@{k}"})
    ranked = retrieval_measures(documents, gold, {"recall": f"R@{k}", "nDCG": f"nDCG@{k}", "MRR": "RR"})
    values = [[precise[question]["P"], *(ranked[question][name] for name in ("recall", "nDCG", "MRR"))] for question in gold]
    return Measured(np.array(values), median(retrieval.seconds for retrieval in retrievals.values()), documents)


def with_questions(index: HandbookIndex, tasks: Sequence[Task], strategy: str) -> HandbookIndex:
    """The index with the vectors of all that will be searched for."""
    if index.encoder is None:
        return index
    texts = [task.question.text for task in tasks]
    if strategy == HYBRID:
        statistics, settings = HybridStrategy(index).statistics, index.settings.hybrid
        texts = [expanded(text, statistics, settings).texts[-1] for text in texts]
    return replace(index, encoder=with_vectors_of(index.encoder, texts))


def best_hits(retrieval: Retrieval) -> Sequence[Hit]:
    """The chunks in the strategy's order: the passages of `hybrid`; of the others the ranking that they take passages from."""
    if retrieval.strategy == HYBRID:
        return [passage.hit for passage in retrieval.passages]
    return [layer for layer in retrieval.layers if layer.name in ("fused", "bm25")][-1].hits


def _passage_id(hit: Hit) -> str:
    return f"{hit.section_id}:{hit.start}"


def gold_passages(index: HandbookIndex, documents: Sequence[str]) -> list[str]:
    """The ids of all passages of these documents."""
    return [f"{document}:{index.chunks[row].start}" for document in documents for row in index.rows_by_section[document]]


def print_niddk(arguments: argparse.Namespace, encoder: Encoder | None) -> None:
    """Print the table of configurations, the differences to the full one, and the numbers of passages."""
    document, tasks = read_niddk(arguments.data)
    encoder = cached_encoder(encoder, arguments.cache / "vectors") if encoder else None
    settings = RetrievalSettings(whole_characters=0)
    index = build_index(document, index_settings(HYBRID, settings), encoder, arguments.cache)
    windows = build_index(document, settings, encoder, arguments.cache)
    print(f"\nniddk: {len(tasks):,} questions, {len(document.sections):,} documents, {len(index.chunks):,} chunks for hybrid,")
    print(f"{len(windows.chunks):,} for HERO-QA and BM25\n{'':<34}" + "".join(f"{name:>25}" for name in HEADINGS) + "  ms CPU")
    rows: dict[str, Measured] = {}
    for name, changes in ROWS.items():
        rows[name] = _print_row(name, HYBRID, with_hybrid(index, **changes), tasks, arguments.seed)
    rows["HERO-QA"] = _print_row("HERO-QA", HERO, windows, tasks, arguments.seed)
    rows["BM25, windows of 160 words"] = _print_row("BM25, windows of 160 words", "bm25", windows, tasks, arguments.seed)
    print("\nDifference to the full configuration")
    for name, row in rows.items():
        if name != FULL:
            estimates = intervals(row.values - rows[FULL].values, tasks, arguments.seed)
            print(table_line(name, estimates, None, "+7.3f"), flush=True)
    if arguments.trec:
        _write_trec(arguments.trec, rows, tasks)
    _print_numbers_of_passages(index, tasks, arguments.seed)


HEADINGS = ("P@5", "recall", "nDCG", "MRR")


def with_hybrid(index: HandbookIndex, **changes: Any) -> HandbookIndex:
    """The index with other settings of `hybrid`, none of which changes its chunks."""
    return replace(index, settings=replace(index.settings, hybrid=replace(index.settings.hybrid, **changes)))


def _print_row(name: str, strategy: str, index: HandbookIndex, tasks: Sequence[Task], seed: int) -> Measured:
    row = measure_row(strategy, index, tasks, index.settings.hybrid.final_k)
    print(table_line(name, intervals(row.values, tasks, seed), row.cpu, "7.3f"), flush=True)
    return row


def _print_numbers_of_passages(index: HandbookIndex, tasks: Sequence[Task], seed: int) -> None:
    print("\nNumber of chunks reranked (initial k), five passages; then of passages (final k), P at that k")
    for k in INITIAL:
        _print_row(f"initial k {k}", HYBRID, with_hybrid(index, initial_k=k), tasks, seed)
    for k in FINAL:
        _print_row(f"final k {k}", HYBRID, with_hybrid(index, final_k=k), tasks, seed)


def _write_trec(folder: Path, rows: Mapping[str, Measured], tasks: Sequence[Task]) -> None:
    """The documents of every row as runs, and those that answer."""
    folder.mkdir(parents=True, exist_ok=True)
    write_trec_qrels(folder / "qrels", {task.question.question_id: task.gold for task in tasks})
    for name, row in rows.items():
        write_trec_run(folder / f"{name.replace(' ', '_').replace(':', '').replace(',', '')}.run", row.documents, name)
