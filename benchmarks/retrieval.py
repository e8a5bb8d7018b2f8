"""HERO-QA against BM25, dense vectors and their fusion, inside one handbook, with its headings and without, on three corpora.

    python -m benchmarks.retrieval [--corpora nih,demo,tenancy] [--data ../shared/data/retrieval] [--half held-out]
                                   [--encoder MODEL|words] [--reranker MODEL] [--ablation] [--cache DIR] [--seed 5]

Every question is put to each handbook whose gold section for it is known; nobody goes whole, so that ranking is what is measured.
hit@1, hit@5, MRR and nDCG@5 with 95 % intervals, and the difference of HERO-QA to each baseline, question by question: questions
are drawn with replacement, all handbooks of a question together. "by ranks" is HERO-QA with the paper's fusion; "by words" the
one without a sentence model. --ablation leaves out one layer of HERO-QA at a time. Half of the questions of nih and demo (by the
hash of their id) served to choose the weights of the layers, and none of tenancy; --half held-out measures on the others.
CPU is that of one process; ms CPU is the median of a query, its embedding included. An index that is already in --cache is
read, and said to be: delete the folder to time it anew. Without its data, nih is left out.
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

from audit.corpus.documents import Document
from audit.embedding.basis import silent
from audit.embedding.encoders import FULL, HALF, LEXICAL, Encoder, default_model, has_half, sentence_encoder
from audit.retrieval import Index, Options, build_index, strategy
from audit.retrieval.measures import hit, ndcg, reciprocal_rank
from audit.retrieval.options import RANKS
from audit.retrieval.reranking import Reranker, cross_encoder
from benchmarks.retrieval_corpora import CORPORA, Corpus, Task, bare

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "retrieval"
MEASURES = ("hit@1", "hit@5", "MRR", "nDCG@5")
DRAWS = 2000
TIMED = 100
"""How many questions are asked as they come, embedding included, to tell the CPU of one."""
RANKING = ("expansion", "dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "navigation", "rerank")
"""The layers that change a ranking; parents and sufficiency change what is given of it."""


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


Indexes = Mapping[str, Index]


def compare(documents: Sequence[Document], tasks: Sequence[Task], arguments: argparse.Namespace, encoder: Encoder | None) -> None:
    indexes = indexed(documents, Options(whole_characters=0), encoder, arguments.cache)
    ready = remembered(encoder, tasks)
    quick = {handbook_id: replace(index, encoder=ready) for handbook_id, index in indexes.items()}
    print(f"{'strategy':<30}{''.join(f'{measure:>25}' for measure in MEASURES)}{'ms CPU':>8}")
    found = {}
    for name, (called, changes) in ways(encoder).items():
        found[name], _ = measured(called, changed(quick, **changes), tasks, arguments.reads)
        _, cpu = measured(called, changed(indexes, **changes), tasks[:: max(len(tasks) // TIMED, 1)], arguments.reads)
        print(line(name, intervals(found[name], tasks, arguments.seed), cpu, "7.3f"), flush=True)
    for one, other in differences(found):
        print(line(f"{one} - {other}", intervals(found[one] - found[other], tasks, arguments.seed), None, "+7.3f"), flush=True)
    for layer in RANKING if arguments.ablation else ():
        if (layer == "rerank" and not arguments.reads) or (layer == "dense" and not encoder):
            continue
        rows, _ = measured("hero", changed(quick, leave_out=frozenset({layer})), tasks, arguments.reads)
        print(line(f"hero - without {layer}", intervals(found["hero"] - rows, tasks, arguments.seed), None, "+7.3f"), flush=True)


def ways(encoder: Encoder | None) -> dict[str, tuple[str, dict[str, Any]]]:
    """As it is called in the table -> strategy, and the settings in which it differs from the default."""
    by_words = {"leave_out": frozenset({"dense"})}
    return {
        "hero": ("hero", {}),
        "bm25": ("bm25", {}),
        **({"dense": ("dense", {}), "fusion": ("fusion", {}), "hero by words": ("hero", by_words)} if encoder else {}),
        "hero by ranks": ("hero", {"fusion": RANKS}),
        **({"hero by words, by ranks": ("hero", {"fusion": RANKS} | by_words)} if encoder else {}),
    }


def changed(indexes: Indexes, **changes: Any) -> Indexes:
    return {key: replace(index, options=replace(index.options, **changes)) for key, index in indexes.items()}


def differences(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    others = [("hero", name) for name in ("bm25", "dense", "fusion", "hero by ranks")]
    return [(one, other) for one, other in [*others, ("hero by words", "bm25")] if one in found and other in found]


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
    parser.add_argument("--corpora", default=",".join(CORPORA), help="with commas (default: %(default)s)")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    arguments.reads = cross_encoder(arguments.reranker, arguments.threads) if arguments.reranker else None
    with tempfile.TemporaryDirectory() as scratch:
        arguments.cache = arguments.cache or Path(scratch)
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    encoder = encoder_of(arguments)
    for name in arguments.corpora.split(","):
        if name == "nih" and not arguments.data.is_dir():
            print(f"\n{arguments.data} is not there: nih is left out")
            continue
        corpus: Corpus = CORPORA[name](arguments.data).half(arguments.half)
        for texts, documents in conditions(corpus.documents) if corpus.tasks else ():
            print(
                f"\n{name}, {texts}: {len(documents)} handbooks, {len(corpus.tasks):,} questions put to them ({arguments.half})"
            )
            compare(documents, corpus.tasks, arguments, encoder)


if __name__ == "__main__":
    main()
