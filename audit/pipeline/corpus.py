"""What a judge is given: the answers of all handbooks, question by question, and the pairs of those that answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from audit.corpus.documents import Document
from audit.judging.corpus import AnswerToJudge, Corpus, QuestionToJudge
from audit.pipeline.config import EXTRACTIVE
from audit.pipeline.shop import Book, Record, Shop

HANDBOOK = ("handbook_id", "organ", "center", "phase", "title", "url", "pages")
SECTION = ("section_id", "heading", "text", "url")


def corpus_of(shop: Shop, generator: str = EXTRACTIVE) -> Corpus:
    """The answers that were written, as a judge takes them; `generator` is what wrote them, in words. Reads files as it goes."""
    books = shop.present
    documents = [shop.document(book) for book in books]
    trials = partial(_trials, shop, books) if shop.config.retrieval.compare else None
    return Corpus(
        run_of(shop, generator), tuple(map(_handbook, documents)), partial(_items, shop, books),
        sections=partial(_sections, documents), trials=trials,
    )  # fmt: skip


def run_of(shop: Shop, generator: str) -> dict[str, Any]:
    """What the manifest says of the run, but for its judge."""
    config = shop.config
    retriever = [config.retrieval.strategy, f"encoder {config.retrieval.encoder}"]
    retriever += [f"reranker {config.retrieval.reranker}"] if config.retrieval.reranker else ["no reranker"]
    told = {
        "run_id": config.release.run_id, "title": config.release.title or config.release.run_id,
        "licence": config.release.licence, "synthetic": config.release.synthetic, "terms": config.corpus.terms,
        "generator": generator, "retriever": ", ".join(retriever), "left_out": shop.left_out,
        "asked": "organ",
    }  # fmt: skip
    return {name: value for name, value in told.items() if value}


def _handbook(document: Document) -> Record:
    return {name: getattr(document, name) for name in HANDBOOK}


def _sections(documents: Sequence[Document]) -> Iterator[Record]:
    for document in documents:
        for section in document.sections:
            told = {name: getattr(section, name) for name in SECTION}
            lists = {"above": list(section.above), "pages": list(section.pages)}
            yield {"handbook_id": document.handbook_id, **told, **lists}


def _trials(shop: Shop, books: Sequence[Book]) -> Iterator[Record]:
    for book in books:
        yield from lines(shop.work.trials(book.handbook_id))


def _items(shop: Shop, books: Sequence[Book]) -> Iterator[QuestionToJudge]:
    """One question at a time: each handbook's answers stand in the order of the questions, so all files are read side by side."""
    with ExitStack() as stack:
        heads = {book.handbook_id: Head(stack.enter_context(_opened(shop.work.answers(book.handbook_id)))) for book in books}
        for question in shop.questions():
            found = {handbook: head.take(question["question_id"]) for handbook, head in heads.items()}
            answers = {handbook: _answer(record) for handbook, record in found.items() if record is not None}
            yield QuestionToJudge(question, answers, tuple(combinations(answers, 2)))


def _opened(path: Path) -> Any:
    return path.open(encoding="utf-8")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file of JSON lines, one at a time."""
    with _opened(path) as file:
        yield from map(json.loads, file)


class Head:
    """A file of answers and the next one in it."""

    def __init__(self, file: Iterator[str]) -> None:
        self.file = file
        self._draw()

    def _draw(self) -> None:
        line = next(self.file, None)
        self.record: dict[str, Any] | None = json.loads(line) if line else None

    def take(self, question_id: str) -> Mapping[str, Any] | None:
        """The answer to a question, if it is the next one."""
        found = self.record
        if found is None or found["question_id"] != question_id:
            return None
        self._draw()
        return found


def _answer(record: Mapping[str, Any]) -> AnswerToJudge:
    return AnswerToJudge(
        record["answer"], record["absent"], record["absence_method"], record.get("retrieval"), record.get("unread_reason"),
        record.get("usage"),
    )  # fmt: skip
