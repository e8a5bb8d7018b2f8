"""PDF files into documents, one piece each, as `audit extract` does it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from audit.corpus.documents import write_document
from audit.corpus.extraction.engines import engine_named
from audit.corpus.extraction.run import extract
from audit.pipeline.ledger import Piece, code_of
from audit.pipeline.shop import Book, Figures, PieceByPiece

CODE = ("corpus/extraction", "corpus/documents.py")


@dataclass
class Extract(PieceByPiece):
    """A piece is a PDF; handbooks that come as documents need none."""

    name = "extract"

    def pieces(self) -> list[Piece]:
        """Each PDF with whose it is, the engine and its version."""
        return [self._piece(book) for book in self.shop.present if book.identity]

    def _piece(self, book: Book) -> Piece:
        assert book.identity is not None
        inputs = {
            "pdf": self.shop.ledger.digest(book.source), "identity": asdict(book.identity), "file": book.source.name,
            "engine": engine_named(self.shop.config.corpus.engine or None).version, "code": code_of(*CODE),
        }  # fmt: skip
        return Piece(self.name, book.handbook_id, inputs, (book.document,), book.handbook_id)

    def carry(self, piece: Piece) -> Figures:
        """Extract one."""
        book = next(each for each in self.shop.present if each.handbook_id == piece.handbook)
        assert book.identity is not None
        document = extract(
            book.source, book.identity, self.shop.config.corpus.engine or None,
            lambda done, total: self.shop.watch(book.source.name, done, total),
        )  # fmt: skip
        book.document.parent.mkdir(parents=True, exist_ok=True)
        write_document(document, book.document)
        return {"pages": document.pages or 0, "sections": len(document.sections)}
