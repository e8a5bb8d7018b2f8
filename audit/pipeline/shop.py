"""What the stages of one run share: the config, where things stand, which handbooks there are and which had to be left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from audit.corpus.documents import Document, read_document
from audit.corpus.extraction.identity import Identity
from audit.pipeline.config import Config
from audit.pipeline.ledger import Ledger, Piece, read_lines
from audit.settings import Settings

Record = Mapping[str, Any]
Figures = Mapping[str, Any]
Outcome = tuple[Piece, "Figures | Exception"]
Watch = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class Book:
    """A handbook of the corpus.

    `source` is the file it comes from, `document` where its text stands (or will stand), `identity` whose it is, where the
    source is a PDF.
    """

    handbook_id: str
    organ: str
    source: Path
    document: Path
    identity: Identity | None = None


@dataclass(frozen=True)
class Work:
    """The folder of everything that stands between the stages."""

    root: Path

    @property
    def documents(self) -> Path:
        """The handbooks as texts, `<handbook_id>.json` each."""
        return self.root / "documents"

    @property
    def questions(self) -> Path:
        """What is asked, one question a line."""
        return self.root / "questions.jsonl"

    @property
    def release(self) -> Path:
        """The result; complete as soon as there is one."""
        return self.root / "release"

    def retrieval(self, handbook: str) -> Path:
        """What was found in a handbook, one question a line."""
        return self.root / "retrieval" / f"{handbook}.jsonl"

    def trials(self, handbook: str) -> Path:
        """The same by every strategy that is compared, one question and strategy a line."""
        return self.root / "trials" / f"{handbook}.jsonl"

    def answers(self, handbook: str) -> Path:
        """What a handbook answers, one question a line."""
        return self.root / "answers" / f"{handbook}.jsonl"

    def journal(self, stage: str, plan: str) -> Path:
        """The replies of a model to one stage under one plan (see `audit.llm.journal`)."""
        return self.root / "journals" / f"{stage}-{plan[:12]}.journal"


@dataclass
class Shop:
    """One run at work.

    books      the handbooks of the corpus; `present` are those without the ones left out
    left_out   handbook -> why, in one sentence; grows while the stages run
    expected   the questions that a plan goes by, where they are not imported yet
    """

    config: Config
    settings: Settings
    work: Work
    books: Sequence[Book]
    left_out: dict[str, str] = field(default_factory=dict)
    watch: Watch = lambda *_: None
    expected: Sequence[dict[str, Any]] | None = None
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        """Open the ledger of the work folder."""
        self.ledger = Ledger(self.work.root / "state")

    @property
    def present(self) -> list[Book]:
        """The handbooks that are not left out, by id."""
        return [book for book in self.books if book.handbook_id not in self.left_out]

    def document(self, book: Book) -> Document:
        """A handbook's text. Raises DocumentError."""
        return read_document(book.document)

    def questions(self) -> list[dict[str, Any]]:
        """The records of the questions that are asked; none before they were read."""
        found = read_lines(self.work.questions) if self.expected is None and self.work.questions.is_file() else []
        return list(self.expected or found)[: self.config.questions.first or None]


class Stage(Protocol):
    """One step from handbooks to a run."""

    name: str

    def pieces(self) -> list[Piece]:
        """All its pieces of work as the stages before it stand now."""

    def done(self, piece: Piece) -> bool:
        """Whether a piece is done already."""

    def remark(self) -> str:
        """What is to be said of what it works on, whether anything is to be done or not; empty: nothing."""

    def carry_out(self, pieces: Sequence[Piece]) -> Iterator[Outcome]:
        """Carry out some pieces; yields each with what became of it, or why it failed."""


@dataclass
class FromLedger:
    """A stage that knows from the ledger what is done."""

    shop: Shop
    name = ""

    def done(self, piece: Piece) -> bool:
        """Whether the ledger says so."""
        return self.shop.ledger.done(piece)

    def remark(self) -> str:
        """Nothing."""
        return ""


class PieceByPiece(FromLedger, ABC):
    """One that does one piece after the other."""

    def carry_out(self, pieces: Sequence[Piece]) -> Iterator[Outcome]:
        """One after the other; one that fails does not keep the others from being done."""
        for piece in pieces:
            try:
                yield piece, self.carry(piece)
            except Exception as error:  # what a stranger's file brings a library to raise must not cost the other files
                yield piece, error

    @abstractmethod
    def carry(self, piece: Piece) -> Figures:
        """Do it; leaves the piece's outputs, each whole or not at all."""
