"""Searches one handbook for everything that is asked of it: plain data in, files out, so that any process can do it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.corpus.documents import read_document
from audit.embedding.encoders import FULL_PRECISION, LEXICAL, Encoder, cached_encoder, sentence_encoder
from audit.pipeline.build_cache import write_lines
from audit.retrieval.index import build_index
from audit.retrieval.model import Query, Retrieval
from audit.retrieval.retrievers import cross_encoder
from audit.retrieval.settings import RetrievalSettings
from audit.retrieval.strategies import make_strategy

MAX_RANKED = 20
"""Sections that a trial keeps, best first."""


@dataclass(frozen=True)
class HandbookSearch:
    """What to search, how, and where to write the result.

    strategies  answers are written from the passages of the first; all are compared where `trials` is a file
    gold        question -> the sections that contain its answer, where that is known
    precision   of the model (audit.embedding.encoders: FULL_PRECISION, or HALF, whose vectors differ slightly)
    threads     of the model
    """

    handbook_id: str
    document: Path
    questions: tuple[Mapping[str, Any], ...]
    strategies: tuple[str, ...]
    options: RetrievalSettings
    encoder: str
    reranker: str
    cache: Path
    out: Path
    trials: Path | None = None
    gold: Mapping[str, Sequence[str]] | None = None
    precision: str = FULL_PRECISION
    threads: int = 1


def search_handbook(task: HandbookSearch) -> dict[str, Any]:
    """Search one handbook and write what was retrieved; returns how many questions and chunks there were."""
    index = build_index(read_document(task.document), task.options, _encoder(task), task.cache / "indexes")
    queries = [query_of(question) for question in task.questions]
    reranker = cross_encoder(task.reranker) if task.reranker else None
    retrievals = {name: list(map(make_strategy(name, index, reranker).retrieve, queries)) for name in task.strategies}
    records = [
        {"question_id": query.question_id, "handbook_id": task.handbook_id, "retrieval": _record(retrieval)}
        for query, retrieval in zip(queries, retrievals[task.strategies[0]], strict=True)
    ]
    write_lines(task.out, records)
    if task.trials is not None:
        write_lines(task.trials, _trials(task, queries, retrievals))
    return {"questions": len(queries), "chunks": len(index.chunks)}


def query_of(question: Mapping[str, Any]) -> Query:
    """A question's record as retrieval takes it."""
    return Query(question["question_id"], question["question"], question["organ"], tuple(question.get("topics") or ()))


def _encoder(task: HandbookSearch) -> Encoder | None:
    """The model, with its vectors cached; None without a model: HERO-QA then searches by words alone."""
    if task.encoder == LEXICAL:
        return None
    return cached_encoder(sentence_encoder(task.encoder, task.threads, task.precision), task.cache / "vectors")


def _record(retrieval: Retrieval) -> dict[str, Any]:
    # Seconds differ between runs. They are kept in the trials only, so that the same search writes the same bytes here.
    return {name: value for name, value in retrieval.record().items() if name != "seconds"}


def _trials(
    task: HandbookSearch, queries: Sequence[Query], retrievals: Mapping[str, Sequence[Retrieval]]
) -> Iterator[dict[str, Any]]:
    gold = task.gold or {}
    for position, query in enumerate(queries):
        for name, by_query in retrievals.items():
            retrieval = by_query[position]
            yield {
                "question_id": query.question_id, "handbook_id": task.handbook_id, "strategy": name, "mode": retrieval.mode,
                "ranked": list(retrieval.ranked[:MAX_RANKED]), "gold": list(gold.get(query.question_id, ())),
                "reason": retrieval.reason, "seconds": round(retrieval.seconds, 4),
            }  # fmt: skip
