"""HERO-QA against BM25, dense vectors and their fusion, inside one handbook, with its headings and without, on three corpora.

    python -m benchmarks.retrieval [--corpora nih,demo,tenancy,niddk] [--data ../shared/data/retrieval] [--half held-out]
                                   [--encoder MODEL|words] [--reranker MODEL] [--ablation] [--cache DIR] [--seed 5]

Every question is put to each handbook whose gold section for it is known. Full-document mode is off, so that ranking is measured.
hit@1, hit@5, MRR and nDCG@5 with 95 % intervals, and the difference of HERO-QA to each baseline, question by question; the
bootstrap resamples questions with all their handbooks. "by ranks" is HERO-QA with the paper's fusion, in which section bodies
and headings count half; "expanded vectors" searches for the expanded question by vectors too, as the paper does; "by words" is
HERO-QA without a sentence model. --ablation leaves out one layer of HERO-QA at a time. Half of the questions of nih and demo (by
the hash of their id) were used to choose the weights of the layers, and none of tenancy; --half held-out measures on the others.
CPU is that of one process; ms CPU is the median of a query, its embedding included. An index that is already in --cache is
read, and the output says so: delete the folder to time it again. Without their data, nih and niddk are left out.

niddk is another measurement, that of the strategy `hybrid` and its layers: see benchmarks/retrieval_niddk.py.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.evaluation.gold import hit_at, ndcg_at, reciprocal_rank
from audit.pipeline.embedding.encoders import (
    FULL_PRECISION,
    HALF_PRECISION,
    Encoder,
    default_model,
    sentence_encoder,
    supports_bfloat16,
)
from audit.pipeline.embedding.vectors import no_progress
from audit.pipeline.retrieval.index import HandbookIndex, build_index
from audit.pipeline.retrieval.retrievers import Reranker, cross_encoder
from audit.pipeline.retrieval.settings import RANKS, RetrievalSettings
from audit.pipeline.retrieval.strategies import make_strategy
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document
from benchmarks.retrieval_corpora import CORPORA, Corpus, Task, without_headings
from benchmarks.retrieval_niddk import NIDDK, print_niddk
from benchmarks.retrieval_tables import intervals, table_line, with_vectors_of

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "retrieval"
MEASURES = ("hit@1", "hit@5", "MRR", "nDCG@5")
TIMED_QUERIES = 100
"""Queries that are embedded one by one, to measure the CPU time of one."""
RANKING_LAYERS = ("expansion", "dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "navigation", "rerank")
"""The layers that change a ranking; parents and sufficiency only change the retrieved context."""
Indexes = Mapping[str, HandbookIndex]


def measure(name: str, indexes: Indexes, tasks: Sequence[Task], reranker: Reranker | None) -> tuple[Any, float]:
    """One row of measures per task, and the median CPU seconds of a query."""
    strategies = {handbook_id: make_strategy(name, index, reranker) for handbook_id, index in indexes.items()}
    rows, seconds = [], []
    for task in tasks:
        retrieval = strategies[task.handbook_id].retrieve(task.question)
        ranked, gold = retrieval.ranked, task.gold
        seconds.append(retrieval.seconds)
        rows.append([hit_at(ranked, gold, 1), hit_at(ranked, gold, 5), reciprocal_rank(ranked, gold), ndcg_at(ranked, gold, 5)])
    return np.array(rows, dtype=float), float(np.median(seconds))


def compare(documents: Sequence[Document], tasks: Sequence[Task], arguments: argparse.Namespace, encoder: Encoder | None) -> None:
    indexes = build_indexes(documents, RetrievalSettings(whole_characters=0), encoder, arguments.cache)
    cached = with_vectors_of(encoder, [task.question.text for task in tasks]) if encoder else None
    quick = {handbook_id: replace(index, encoder=cached) for handbook_id, index in indexes.items()}
    timed_tasks = tasks[:: max(len(tasks) // TIMED_QUERIES, 1)]
    print(f"{'strategy':<30}{''.join(f'{measure:>25}' for measure in MEASURES)}{'ms CPU':>8}")
    rows = {}
    for name, (strategy, changes) in variants(encoder).items():
        rows[name], _ = measure(strategy, with_settings(quick, **changes), tasks, arguments.cross_encoder)
        _, cpu = measure(strategy, with_settings(indexes, **changes), timed_tasks, arguments.cross_encoder)
        print(table_line(name, intervals(rows[name], tasks, arguments.seed), cpu, "7.3f"), flush=True)
    for one, other in differences(rows):
        print(
            table_line(f"{one} - {other}", intervals(rows[one] - rows[other], tasks, arguments.seed), None, "+7.3f"), flush=True
        )
    for layer in RANKING_LAYERS if arguments.ablation else ():
        if (layer == "rerank" and not arguments.cross_encoder) or (layer == "dense" and not encoder):
            continue
        without, _ = measure("hero", with_settings(quick, leave_out=frozenset({layer})), tasks, arguments.cross_encoder)
        difference = intervals(rows["hero"] - without, tasks, arguments.seed)
        print(table_line(f"hero - without {layer}", difference, None, "+7.3f"), flush=True)


def variants(encoder: Encoder | None) -> dict[str, tuple[str, dict[str, Any]]]:
    """Name in the table -> strategy, and the settings in which it differs from the default."""
    by_words = {"leave_out": frozenset({"dense"})}
    return {
        "hero": ("hero", {}),
        "bm25": ("bm25", {}),
        **({"dense": ("dense", {}), "fusion": ("fusion", {}), "hero by words": ("hero", by_words)} if encoder else {}),
        "hero by ranks": ("hero", {"fusion": RANKS}),
        "hero by ranks, equal": ("hero", {"fusion": RANKS, "bodies_weight": 1.0, "headings_weight": 1.0}),
        **(_variants_of_vectors(by_words) if encoder else {}),
    }


def _variants_of_vectors(by_words: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    return {
        "hero, expanded vectors": ("hero", {"expand_dense": True}),
        "hero by ranks, expanded vectors": ("hero", {"fusion": RANKS, "expand_dense": True}),
        "hero by words, by ranks": ("hero", {"fusion": RANKS} | by_words),
    }


def with_settings(indexes: Indexes, **changes: Any) -> Indexes:
    return {key: replace(index, settings=replace(index.settings, **changes)) for key, index in indexes.items()}


def differences(rows: Mapping[str, Any]) -> list[tuple[str, str]]:
    others = ("bm25", "dense", "fusion", "hero by ranks", "hero, expanded vectors", "hero by ranks, expanded vectors")
    pairs = [*(("hero", name) for name in others), ("hero by ranks", "hero by ranks, equal"), ("hero by words", "bm25")]
    return [(one, other) for one, other in pairs if one in rows and other in rows]


def build_indexes(
    documents: Sequence[Document], settings: RetrievalSettings, encoder: Encoder | None, cache: Path
) -> dict[str, HandbookIndex]:
    """The indexes of all handbooks; prints what they took."""
    before = len(list(cache.glob("*.npz")))
    cpu, wall = time.process_time(), time.perf_counter()
    indexes = {document.handbook_id: build_index(document, settings, encoder, cache) for document in documents}
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    built = len(list(cache.glob("*.npz"))) - before
    chunks = sum(len(index.chunks) for index in indexes.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sections = sum(len(document.sections) for document in documents)
    print(f"index: {chunks:,} chunks of {sections:,} sections; built for {built} of {len(indexes)} handbooks, the others read:")
    print(f"       {cpu:.0f} CPU s, {wall:.0f} s, peak {peak:.2f} GB so far")
    return indexes


def conditions(documents: Sequence[Document]) -> Iterator[tuple[str, list[Document]]]:
    yield "text alone", [without_headings(document) for document in documents]
    yield "with headings", list(documents)


def chosen_encoder(arguments: argparse.Namespace) -> Encoder | None:
    name = arguments.encoder or default_model() or LEXICAL
    if name == LEXICAL:
        print("no sentence model: dense and fusion are left out, HERO-QA searches by words")
        return None
    precision = arguments.precision or (HALF_PRECISION if supports_bfloat16() else FULL_PRECISION)
    encoder = sentence_encoder(name, arguments.threads, precision)
    encoder.encode(["warm"], no_progress)  # loads the model, which is not what is timed
    print(f"encoder: {name}, {precision}, {arguments.threads} threads")
    return encoder


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--encoder")
    parser.add_argument(
        "--precision", choices=(FULL_PRECISION, HALF_PRECISION), help="(default: bfloat16 on CPUs that support it)"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--reranker")
    parser.add_argument("--half", choices=("all", "tuning", "held-out"), default="all")
    parser.add_argument("--corpora", default=",".join((*CORPORA, NIDDK)), help="separated by commas (default: %(default)s)")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--trec", type=Path, help="folder for the runs and judgements of niddk, as files of TREC")
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    arguments.cross_encoder = cross_encoder(arguments.reranker, arguments.threads) if arguments.reranker else None
    with tempfile.TemporaryDirectory() as scratch:
        arguments.cache = arguments.cache or Path(scratch)
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    encoder = chosen_encoder(arguments)
    for name in arguments.corpora.split(","):
        if name in ("nih", NIDDK) and not arguments.data.is_dir():
            print(f"\n{arguments.data} is missing: {name} is left out")
            continue
        if name == NIDDK:
            print_niddk(arguments, encoder)
            continue
        corpus: Corpus = CORPORA[name](arguments.data).half(arguments.half)
        for condition, documents in conditions(corpus.documents) if corpus.tasks else ():
            tasks = f"{len(corpus.tasks):,} questions put to them ({arguments.half})"
            print(f"\n{name}, {condition}: {len(documents)} handbooks, {tasks}")
            compare(documents, corpus.tasks, arguments, encoder)


if __name__ == "__main__":
    main()
