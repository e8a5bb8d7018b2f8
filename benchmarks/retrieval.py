"""HERO-QA against BM25, dense vectors and their fusion, inside one handbook, with its headings and without.

    python -m benchmarks.retrieval [--data ../shared/data/retrieval] [--encoder MODEL|words] [--reranker MODEL] [--half held-out]
                                   [--handbooks nih-cdc,...] [--ablation] [--cache DIR] [--seed 5]

Every question is put to each handbook whose gold section for it is known; nobody goes whole, so that ranking is what is measured.
hit@1, hit@5, MRR and nDCG@5 with 95 % intervals, and the difference of HERO-QA to each baseline, question by question: questions
are drawn with replacement, all handbooks of a question together. --ablation leaves out one layer of HERO-QA at a time. Half of
the questions (by the hash of their id) served to choose the weights of the layers; --half held-out measures on the others.
CPU is that of one process; ms CPU is the median of a query, its embedding included. An index that is already in --cache is
read, and said to be: delete the folder to time it anew.
Without the data a handbook of seven sections, written for the tests, stands in: it shows that everything runs, and no more.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.documents import Document, read_documents
from audit.embedding.basis import silent
from audit.embedding.encoders import FULL, HALF, LEXICAL, Encoder, default_model, has_half, sentence_encoder
from audit.retrieval import Index, Options, Query, build_index, strategy
from audit.retrieval.gold import read_gold
from audit.retrieval.measures import hit, ndcg, reciprocal_rank
from audit.retrieval.reranking import Reranker, cross_encoder

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "retrieval"
MEASURES = ("hit@1", "hit@5", "MRR", "nDCG@5")
DRAWS = 2000
TIMED = 100
"""How many questions are asked as they come, embedding included, to tell the CPU of one."""
RANKING = ("expansion", "dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "navigation", "rerank")
"""The layers that change a ranking; parents and sufficiency change what is given of it."""


@dataclass(frozen=True)
class Task:
    """A question, the handbook it is put to, and the sections that answer it."""

    question: Query
    handbook_id: str
    gold: tuple[str, ...]


def tasks_of(data: Path, documents: Sequence[Document]) -> list[Task]:
    path = data / "nih_handbooks_gold.jsonl.gz"
    gold = read_gold(path, documents)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = {record["question_id"]: record["question"] for record in map(json.loads, file)}
    return [
        Task(Query(question_id, texts[question_id]), handbook_id, sections)
        for handbook_id, known in gold.items() for question_id, sections in known.items()
    ]  # fmt: skip


def stand_in() -> tuple[list[Document], list[Task]]:
    from tests.retrieval.handbooks import ALDER

    asked = {
        "When may I fly?": "s2",
        "What temperature is a fever?": "s3",
        "May I see a dentist?": "s4",
        "Is raw fish safe?": "s5",
    }
    return [ALDER], [Task(Query(text, text), ALDER.handbook_id, (section,)) for text, section in asked.items()]


def half_of(question_id: str) -> str:
    return "held-out" if int(hashlib.sha256(question_id.encode()).hexdigest(), 16) % 2 else "tuning"


def bare(document: Document) -> Document:
    return replace(document, sections=tuple(replace(section, heading="", above=()) for section in document.sections))


def remembered(encoder: Encoder | None, tasks: Sequence[Task]) -> Encoder | None:
    """The encoder with the vectors of all questions at hand, so that many strategies are measured without embedding them anew."""
    if encoder is None:
        return None
    texts = list(dict.fromkeys(task.question.text for task in tasks))
    place = {text: number for number, text in enumerate(texts)}
    vectors = encoder.encode(texts, silent)
    return replace(encoder, encode=lambda asked, _: vectors[[place[text] for text in asked]])


def measured(name: str, indexes: Mapping[str, Index], tasks: Sequence[Task], reranker: Reranker | None) -> tuple[Any, float]:
    """One row of measures a task, and the median of its CPU seconds."""
    asked = {handbook_id: strategy(name, index, reranker) for handbook_id, index in indexes.items()}
    rows, seconds = [], []
    for task in tasks:
        found = asked[task.handbook_id].retrieve(task.question)
        ranked, gold = found.ranked, task.gold
        seconds.append(found.seconds)
        rows.append([hit(ranked, gold, 1), hit(ranked, gold, 5), reciprocal_rank(ranked, gold), ndcg(ranked, gold, 5)])
    return np.array(rows, dtype=float), float(np.median(seconds))


def intervals(rows: Any, tasks: Sequence[Task], seed: int) -> Any:
    """Mean, low and high of each column: (3, columns); questions are drawn, with all that belongs to them."""
    names = sorted({task.question.question_id for task in tasks})
    place = {name: number for number, name in enumerate(names)}
    question = np.array([place[task.question.question_id] for task in tasks])
    sums = np.stack([np.bincount(question, column, len(names)) for column in rows.T], axis=1)
    counts = np.bincount(question, minlength=len(names))
    drawn = np.random.default_rng(seed).multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
    means = (drawn @ sums) / (drawn @ counts)[:, None]
    return np.stack([rows.mean(axis=0), *np.quantile(means, (0.025, 0.975), axis=0)])


def line(name: str, found: Any, cpu: float | None, form: str) -> str:
    cells = "".join(f"{mean:>{form}} [{low:{form}}, {high:{form}}]" for mean, low, high in found.T)
    return f"{name:<30}{cells}{'' if cpu is None else f'{1000 * cpu:>8.1f}'}"


def compare(documents: Sequence[Document], tasks: Sequence[Task], arguments: argparse.Namespace, encoder: Encoder | None) -> None:
    options = Options(whole_characters=0)
    indexes = indexed(documents, options, encoder, arguments.cache)
    names = ["hero", "bm25", *(("dense", "fusion") if encoder else ())]
    ready = remembered(encoder, tasks)
    quick = {handbook_id: replace(index, encoder=ready) for handbook_id, index in indexes.items()}
    print(f"{'strategy':<30}{''.join(f'{measure:>25}' for measure in MEASURES)}{'ms CPU':>8}")
    found = {}
    for name in names:
        found[name], _ = measured(name, quick, tasks, arguments.reads)
        _, cpu = measured(name, indexes, tasks[:: max(len(tasks) // TIMED, 1)], arguments.reads)
        print(line(name, intervals(found[name], tasks, arguments.seed), cpu, "7.3f"), flush=True)
    for name in names[1:]:
        print(line(f"hero - {name}", intervals(found["hero"] - found[name], tasks, arguments.seed), None, "+7.3f"), flush=True)
    for layer in RANKING if arguments.ablation else ():
        if (layer == "rerank" and not arguments.reads) or (layer == "dense" and not encoder):
            continue
        without = {key: replace(index, options=replace(options, leave_out=frozenset({layer}))) for key, index in quick.items()}
        rows, _ = measured("hero", without, tasks, arguments.reads)
        print(line(f"hero - without {layer}", intervals(found["hero"] - rows, tasks, arguments.seed), None, "+7.3f"), flush=True)


def indexed(documents: Sequence[Document], options: Options, encoder: Encoder | None, cache: Path) -> dict[str, Index]:
    """The indexes of all handbooks; says what they took."""
    before = len(list(cache.glob("*.npz")))
    cpu, wall = time.process_time(), time.perf_counter()
    indexes = {document.handbook_id: build_index(document, options, encoder, cache) for document in documents}
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    made = len(list(cache.glob("*.npz"))) - before
    chunks = sum(len(index.chunks) for index in indexes.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sections = sum(len(document.sections) for document in documents)
    print(f"index: {chunks:,} chunks of {sections:,} sections, {made} of {len(indexes)} handbooks made")
    print(f"       anew, {cpu:.0f} CPU s, {wall:.0f} s, peak {peak:.2f} GB so far")
    return indexes


def conditions(documents: Sequence[Document]) -> Iterator[tuple[str, list[Document]]]:
    yield "text alone", [bare(document) for document in documents]
    yield "with headings", list(documents)


def encoder_of(arguments: argparse.Namespace) -> Encoder | None:
    name = arguments.encoder or default_model() or LEXICAL
    if name == LEXICAL:
        print("no sentence model: dense and fusion are left out, HERO-QA goes by words")
        return None
    precision = arguments.precision or (HALF if has_half() else FULL)
    encoder = sentence_encoder(name, arguments.threads, precision)
    encoder.encode(["warm"], silent)
    print(f"encoder: {name}, {precision}, {arguments.threads} threads")
    return encoder


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--encoder")
    parser.add_argument("--precision", choices=(FULL, HALF), help="(default: bfloat16 where the processor multiplies it itself)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--reranker")
    parser.add_argument("--half", choices=("all", "tuning", "held-out"), default="all")
    parser.add_argument("--handbooks", help="ids, with commas (default: all)")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    arguments.reads = cross_encoder(arguments.reranker, arguments.threads) if arguments.reranker else None
    with tempfile.TemporaryDirectory() as scratch:
        arguments.cache = arguments.cache or Path(scratch)
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    if arguments.data.is_dir():
        documents = read_documents(arguments.data / "nih_handbooks")
        kept = arguments.handbooks.split(",") if arguments.handbooks else [document.handbook_id for document in documents]
        documents = [document for document in documents if document.handbook_id in kept]
        tasks = tasks_of(arguments.data, documents)
    else:
        print(f"{arguments.data} is not there: a handbook of seven sections stands in")
        documents, tasks = stand_in()
    tasks = [task for task in tasks if arguments.half in ("all", half_of(task.question.question_id))]
    encoder = encoder_of(arguments)
    print(f"{len(documents)} handbooks, {len(tasks):,} questions put to them ({arguments.half})")
    for name, texts in conditions(documents):
        print(f"\n{name}")
        compare(texts, tasks, arguments, encoder)


if __name__ == "__main__":
    main()
