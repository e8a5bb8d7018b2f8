"""Every handbook searched for the questions that are put to it, one piece each, in one process or in many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit.corpus.documents import Document
from audit.generation.pairing import meets
from audit.pipeline.cluster import carried_out, check_workers
from audit.pipeline.ledger import Piece, code_of, digest_of
from audit.pipeline.meeting import check_met
from audit.pipeline.searching import Search, query_of, search
from audit.pipeline.shop import Book, FromLedger, Outcome
from audit.retrieval.gold import Gold, read_gold, unused_gold

CODE = ("retrieval", "embedding", "text", "pipeline/searching.py")


@dataclass
class Retrieve(FromLedger):
    """A piece is a handbook."""

    name = "retrieve"

    def pieces(self) -> list[Piece]:
        """Each handbook's text, the questions that are put to it, and how it is searched."""
        check_workers(self.shop.config.retrieval.workers)
        check_met(self.shop, 1)
        return [self._piece(book, self._job(book)) for book in self.shop.present]

    def _piece(self, book: Book, job: Search) -> Piece:
        digest = self.shop.ledger.digest
        inputs = {
            "document": digest(book.document), "questions": digest_of(job.questions) if job.questions else None,
            "strategies": job.strategies, "trials": job.trials is not None, "options": self._options(), "encoder": job.encoder,
            "reranker": job.reranker, "gold": digest_of(job.gold), "code": code_of(*CODE),
        }  # fmt: skip
        return Piece(self.name, book.handbook_id, inputs, tuple(filter(None, (job.out, job.trials))), book.handbook_id)

    def _options(self) -> dict[str, Any]:
        """The settings, with the words that mean the same by their content: a file may change under its name."""
        options = self.shop.config.retrieval.options
        digest = self.shop.ledger.digest(options.expansion) if options.expansion else None
        return options.record() | {"expansion": digest}

    def _job(self, book: Book) -> Search:
        said, work = self.shop.config.retrieval, self.shop.work
        return Search(
            book.handbook_id, book.document, tuple(q for q in self.shop.questions() if meets(query_of(q), book)),
            tuple(dict.fromkeys((said.strategy, *said.compare))), said.options, said.encoder, said.reranker,
            self.shop.settings.data_dir.resolve() / "retrieval", work.retrieval(book.handbook_id),
            work.trials(book.handbook_id) if said.compare else None, self._gold.get(book.handbook_id),
        )  # fmt: skip

    @cached_property
    def _gold(self) -> Gold:
        path = self.shop.config.retrieval.gold
        return read_gold(path, self._documents()) if path else {}

    def _documents(self) -> Iterator[Document]:
        return (self.shop.document(book) for book in self.shop.present if book.document.is_file())

    def remark(self) -> str:
        """What of the file of gold sections counts nowhere."""
        path = self.shop.config.retrieval.gold
        return unused_gold(path, self._documents(), {each["question_id"] for each in self.shop.questions()}) if path else ""

    def carry_out(self, pieces: Sequence[Piece]) -> Iterator[Outcome]:
        """By as many workers as the config says."""
        said = self.shop.config
        jobs = {piece.handbook: piece for piece in pieces}
        tasks = [self._job(book) for book in self.shop.present if book.handbook_id in jobs]
        done = carried_out(said.retrieval.workers, said.cluster, search, tasks, self.shop.work.root / "slurm")
        for task, became in done:
            yield jobs[task.handbook_id], became
