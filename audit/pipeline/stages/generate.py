"""Passages into answers, handbook by handbook, as `audit generate` does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from audit.corpus.documents import Document
from audit.generation.evidence import GroundedQuestion
from audit.generation.extractive_generator import ExtractiveSettings, extractive_answers
from audit.pipeline.config import EXTRACTIVE
from audit.pipeline.corpus import lines
from audit.pipeline.ledger import Piece, code_of, digest_of, write_lines
from audit.pipeline.searching import query_of
from audit.pipeline.shop import Book, Figures, Outcome, PieceByPiece, Shop

CODE = ("generation", "text")
Records = Iterable[dict[str, Any]]
Generator = Callable[[Shop, Sequence[GroundedQuestion]], Records]
"""What a model writes to everything that is asked, in its order."""


@dataclass
class Generate(PieceByPiece):
    """A piece is a handbook. A model is asked for all that are open together; its replies stand in a journal."""

    by_model: Generator
    name = "generate"

    def pieces(self) -> list[Piece]:
        """What was found in each handbook, its text, and who writes."""
        said, settings = self.shop.config.generate, self.shop.settings
        model = settings.judge_model if said.generator != EXTRACTIVE else ""
        how = {"generate": {**asdict(said), "url": ""}, "model": model, "code": code_of(*CODE)}
        asked = digest_of(self.shop.questions())
        return [self._piece(book, {**how, "asked": asked}) for book in self.shop.present]

    def _piece(self, book: Book, how: dict[str, Any]) -> Piece:
        digest, work = self.shop.ledger.digest, self.shop.work
        found, answers = work.retrieval(book.handbook_id), work.answers(book.handbook_id)
        inputs = {"retrieval": digest(found), "document": digest(book.document), **how}
        return Piece(self.name, book.handbook_id, inputs, (answers,), book.handbook_id)

    def carry_out(self, pieces: Sequence[Piece]) -> Iterator[Outcome]:
        """Without a model one after the other; a model is asked once for all of them, so that it is always busy."""
        if self.shop.config.generate.generator == EXTRACTIVE or not pieces:
            yield from super().carry_out(pieces)
            return
        books = {book.handbook_id: book for book in self.shop.present}
        asked = [one for piece in pieces for one in asked_of(self.shop, books[piece.handbook])]
        written: dict[str, list[dict[str, Any]]] = {piece.handbook: [] for piece in pieces}
        for record in self.by_model(self.shop, asked):
            written[record["handbook_id"]].append(record)
        for piece in pieces:
            yield piece, self._write(piece, written[piece.handbook])

    def carry(self, piece: Piece) -> Figures:
        """The best sentences of what was found."""
        said = self.shop.config.generate
        settings = ExtractiveSettings() if said.threshold is None else ExtractiveSettings(threshold=said.threshold)
        book = next(each for each in self.shop.present if each.handbook_id == piece.handbook)
        return self._write(piece, list(map(_untimed, extractive_answers(asked_of(self.shop, book), settings))))

    def _write(self, piece: Piece, records: Sequence[dict[str, Any]]) -> Figures:
        write_lines(piece.outputs[0], records)
        unread = sum(record["answer"] is None for record in records)
        absent = sum(record["absent"] is True for record in records)
        return {"answers": len(records), "absent": absent, "findings": unread}


def _untimed(record: dict[str, Any]) -> dict[str, Any]:
    """The record without seconds, which differ from run to run: the same passages leave the same bytes, and the same release."""
    usage = record.get("usage")
    return record if usage is None else {**record, "usage": {name: value for name, value in usage.items() if name != "seconds"}}


def asked_of(shop: Shop, book: Book) -> list[GroundedQuestion]:
    """Everything that was looked for in a handbook, with what was found, in the order of the questions."""
    document: Document = shop.document(book)
    queries = {question["question_id"]: query_of(question) for question in shop.questions()}
    found = lines(shop.work.retrieval(book.handbook_id))
    return [
        GroundedQuestion(queries[each["question_id"]], document, each["retrieval"])
        for each in found
        if each["question_id"] in queries
    ]
