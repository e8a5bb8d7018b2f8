"""`audit retrieve`: the passages of each handbook that speak to each question, by one strategy or several."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.arguments import count, count_or_none, share
from audit.cli.command import OK, add_command
from audit.corpus.documents import Document
from audit.corpus.documents.files import documents_and_files
from audit.embedding.encoders import FULL_PRECISION, HALF_PRECISION, LEXICAL, default_model
from audit.errors import RetrievalError
from audit.generation.files import read_questions
from audit.generation.pairing import meets
from audit.pipeline.build_cache import BuildCache, Task, code_digest, digest_of, read_lines, write_lines
from audit.pipeline.handbook_search import HandbookSearch, search_handbook
from audit.retrieval.gold import Gold, read_gold, unused_gold
from audit.retrieval.model import Query
from audit.retrieval.settings import FUSIONS, SCORES, RetrievalSettings
from audit.retrieval.strategies import STRATEGIES
from audit.settings import Settings

TRIALS, CODE = "trials", ("retrieval", "embedding", "text", "pipeline/handbook_search.py")
TUNED = ("whole_characters", "passages", "chunk_words", "overlap_words", "depth", "sufficient", "fallback_characters")
ABOUT = """A question is put to the handbooks of its organ; general questions to all, and all questions to general handbooks.
Writes DIR/HANDBOOK_ID.jsonl, the passages of the first strategy, and DIR/trials.jsonl, what every strategy ranked. A handbook
that was searched before in the same way is not searched again; its index is kept in the data folder, under retrieval.
Exit code: 0 written, 2 nothing was written, or not all."""


def register(commands: Any) -> None:
    """Add the command."""
    command = add_command(
        commands, "retrieve", retrieve, "Find the passages of each handbook that speak to each question.", ABOUT
    )
    command.add_argument(
        "documents", type=Path, metavar="DOCUMENTS", help="folder of handbooks as texts (`audit extract`), or one"
    )
    command.add_argument("--questions", type=Path, required=True, metavar="FILE.jsonl", help="what `audit questions` wrote")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for what is found")
    command.add_argument(
        "--strategy", nargs="+", choices=STRATEGIES, default=["hero"], metavar="NAME",
        help=f"{', '.join(STRATEGIES)}; answers are written from the first one's passages (default: hero)",
    )  # fmt: skip
    command.add_argument("--gold", type=Path, metavar="FILE.jsonl", help="the sections known to answer; kept with the trials")
    command.add_argument(
        "--encoder", metavar="NAME|PATH",
        help=f"sentence model, such as BAAI/bge-large-en-v1.5, or '{LEXICAL}': none (default: MiniLM where installed)",
    )  # fmt: skip
    command.add_argument(
        "--precision", choices=(FULL_PRECISION, HALF_PRECISION), default=FULL_PRECISION,
        help="of the model; bfloat16 takes half the time on processors that multiply such numbers (default: %(default)s)",
    )  # fmt: skip
    command.add_argument("--threads", type=count, default=1, metavar="N", help="of the model (default: %(default)s)")
    command.add_argument("--reranker", metavar="NAME|PATH", help="cross-encoder that reads the best again (default: none)")
    command.add_argument("--expansion", type=Path, metavar="FILE.toml", help="words that mean the same (default: medical ones)")
    command.add_argument(
        "--fusion", choices=FUSIONS, default=SCORES,
        help="how HERO-QA makes one ranking of four: scores, weighed and added; ranks: as in the paper (default: %(default)s)",
    )  # fmt: skip
    for name in TUNED:
        default = getattr(RetrievalSettings, name)
        command.add_argument(
            f"--{name.replace('_', '-')}", type=KINDS.get(name, count_or_none), default=default, metavar="N",
            help=f"{HELP[name]} (default: %(default)s)",
        )  # fmt: skip


KINDS = {"passages": count, "chunk_words": count, "depth": count, "sufficient": share}
HELP = {
    "whole_characters": "a handbook of at most so many characters goes whole; 0: none does",
    "passages": "passages for each question",
    "chunk_words": "words of a chunk",
    "overlap_words": "words that a chunk shares with the one before",
    "depth": "hits that each retriever hands on",
    "sufficient": "share of the question's words, by weight, that passages must hold, 0 to 1",
    "fallback_characters": "where they hold less, a handbook of at most so many characters goes whole",
}


def retrieve(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit retrieve DOCUMENTS --questions FILE --out DIR`"""
    jobs = _jobs(arguments, settings)
    cache = BuildCache(arguments.out / ".done")
    tasks = [(job, _task(job, cache)) for job in jobs]
    left = [(job, task) for job, task in tasks if not cache.done(task)]
    for job, task in tqdm(left, desc="retrieve", unit="handbook", disable=None, dynamic_ncols=True):
        cache.store(task, search_handbook(job))
    lines = [line for job in jobs if job.trials for line in read_lines(job.trials)]
    write_lines(arguments.out / f"{TRIALS}.jsonl", lines)
    asked = sum(len(job.questions) for job in jobs)
    print(f"Handbooks: {len(jobs):,}, of which {len(jobs) - len(left):,} were searched before. Questions put: {asked:,}.")
    print(f"Strategies: {', '.join(arguments.strategy)}. Encoder: {jobs[0].encoder}. Trials: {len(lines):,}. {arguments.out}")
    return OK


def _jobs(arguments: argparse.Namespace, settings: Settings) -> list[HandbookSearch]:
    found = documents_and_files(arguments.documents)
    questions = read_questions(arguments.questions)
    gold = _gold(arguments.gold, [document for document, _ in found], questions) if arguments.gold else {}
    out, encoder, options = arguments.out, _encoder(arguments), _options(arguments)
    return [
        HandbookSearch(
            document.handbook_id, path, tuple(_record(question) for question in questions if meets(question, document)),
            tuple(dict.fromkeys(arguments.strategy)), options, encoder, arguments.reranker or "",
            settings.data_dir.resolve() / "retrieval", out / f"{document.handbook_id}.jsonl",
            out / TRIALS / f"{document.handbook_id}.jsonl", gold.get(document.handbook_id),
            arguments.precision, arguments.threads,
        )
        for document, path in found
    ]  # fmt: skip


def _gold(path: Path, documents: Sequence[Document], questions: Sequence[Query]) -> Gold:
    """What is known of these handbooks; what of the file counts nowhere, and that there is none, is said."""
    gold = read_gold(path, documents)
    if not any(gold.values()):
        print(f"{path}: there is no gold in it for these handbooks, so trials cannot be measured.", file=sys.stderr)
    if told := unused_gold(path, documents, {question.question_id for question in questions}):
        print(told, file=sys.stderr)
    return gold


def _record(question: Query) -> dict[str, Any]:
    return {"question_id": question.question_id, "question": question.text, "organ": question.organ, "topics": question.topics}


def _options(arguments: argparse.Namespace) -> RetrievalSettings:
    try:
        tuned = {name: getattr(arguments, name) for name in TUNED}
        return RetrievalSettings(expansion=arguments.expansion, fusion=arguments.fusion, **tuned)
    except ValueError as error:
        raise RetrievalError(f"With these settings {error}. Nothing was retrieved.") from error


def _encoder(arguments: argparse.Namespace) -> str:
    """The model; where none is named or installed, words alone, and that is said."""
    if arguments.encoder or (model := default_model()) is None:
        if not arguments.encoder:
            print("No sentence model is installed (extras retrieval and minilm): passages are found by words.", file=sys.stderr)
        return arguments.encoder or LEXICAL
    return model


def _task(job: HandbookSearch, cache: BuildCache) -> Task:
    expansion = cache.digest(job.options.expansion) if job.options.expansion else "shipped"
    inputs = {
        "document": cache.digest(job.document), "questions": digest_of(job.questions), "strategies": job.strategies,
        "options": job.options.record(), "expansion": expansion, "encoder": (job.encoder, job.precision),
        "reranker": job.reranker,
        "gold": digest_of(job.gold), "code": code_digest(*CODE),
    }  # fmt: skip
    return Task("retrieve", job.handbook_id, inputs, (job.out, job.trials) if job.trials else (job.out,), job.handbook_id)
