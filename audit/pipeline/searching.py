"""One handbook searched for everything that is asked of it: plain data in, files out, so that any process can do it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.corpus.documents import read_document
from audit.embedding.encoders import FULL_PRECISION, LEXICAL, Encoder, cached_encoder, sentence_encoder
from audit.pipeline.ledger import write_lines
from audit.retrieval.index import build_index
from audit.retrieval.model import Query, Retrieval
from audit.retrieval.retrievers import cross_encoder
from audit.retrieval.settings import RetrievalSettings
from audit.retrieval.strategies import make_strategy

MOST_RANKED = 20


@dataclass(frozen=True)
class Search:
    """What is to be searched, how, and where the result goes.

    strategies  the first one's passages are what answers are written from; all are compared, where `trials` is a file
    gold        question -> the sections that hold its answer, as far as it is known
    precision   of the model (audit.embedding.encoders: FULL, or HALF, whose vectors differ a little)
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


def search(job: Search) -> dict[str, Any]:
    """Search one handbook, write what was found, and say how much it was."""
    index = build_index(read_document(job.document), job.options, _encoder(job), job.cache / "indexes")
    queries = [query_of(question) for question in job.questions]
    reranker = cross_encoder(job.reranker) if job.reranker else None
    found = {name: list(map(make_strategy(name, index, reranker).retrieve, queries)) for name in job.strategies}
    # Seconds differ from run to run: they stand in the trials, so that the same search leaves the same bytes here.
    told = [
        {"question_id": q.question_id, "handbook_id": job.handbook_id, "retrieval": _record(r)}
        for q, r in zip(queries, found[job.strategies[0]], strict=True)
    ]
    write_lines(job.out, told)
    if job.trials is not None:
        write_lines(job.trials, _trials(job, queries, found))
    return {"questions": len(queries), "chunks": len(index.chunks)}


def query_of(question: Mapping[str, Any]) -> Query:
    """A question's record as retrieval takes it."""
    return Query(question["question_id"], question["question"], question["organ"], tuple(question.get("topics") or ()))


def _encoder(job: Search) -> Encoder | None:
    """The model, whose vectors are kept; None without one: HERO-QA then looks up by words alone."""
    if job.encoder == LEXICAL:
        return None
    return cached_encoder(sentence_encoder(job.encoder, job.threads, job.precision), job.cache / "vectors")


def _record(found: Retrieval) -> dict[str, Any]:
    return {name: value for name, value in found.record().items() if name != "seconds"}


def _trials(job: Search, queries: Sequence[Query], found: Mapping[str, Sequence[Retrieval]]) -> Iterator[dict[str, Any]]:
    gold = job.gold or {}
    for place, query in enumerate(queries):
        for name, retrievals in found.items():
            told = retrievals[place]
            yield {
                "question_id": query.question_id, "handbook_id": job.handbook_id, "strategy": name, "mode": told.mode,
                "ranked": list(told.ranked[:MOST_RANKED]), "gold": list(gold.get(query.question_id, ())),
                "reason": told.reason, "seconds": round(told.seconds, 4),
            }  # fmt: skip
