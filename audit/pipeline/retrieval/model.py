"""The question that retrieval is asked and the result that it returns: passages, and how each of them was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Mode = Literal["full_document", "passages", "full_document_fallback"]
FULL_DOCUMENT: Final = "full_document"
PASSAGES: Final = "passages"
FULL_DOCUMENT_FALLBACK: Final = "full_document_fallback"
Origin = Literal["hit", "parent", "neighbour", "document"]
# Hits per layer, and sections of a handbook used in full, that a record keeps.
MAX_RECORDED = 10


@dataclass(frozen=True)
class Query:
    """A question as it is put to every handbook; `question_type` is that of its reference answer, empty where none is stated."""

    question_id: str
    text: str
    organ: str = "general"
    topics: tuple[str, ...] = ()
    question_type: str = ""

    @classmethod
    def of(cls, question: Mapping[str, Any]) -> Query:
        """The query that a question's record asks."""
        return cls(question["question_id"], question["question"], question["organ"], tuple(question.get("topics") or ()))


@dataclass(frozen=True, slots=True)
class Hit:
    """Characters `start` to `end` of a section's text, found by a layer; `score` is the layer's own, higher is better."""

    section_id: str
    start: int
    end: int
    score: float

    def record(self) -> dict[str, Any]:
        """The hit as a release stores it."""
        return {"section_id": self.section_id, "start": self.start, "end": self.end, "score": _rounded(self.score)}


@dataclass(frozen=True)
class Layer:
    """The hits that one layer of a strategy kept, best first, or the reason why the layer was skipped."""

    name: str
    hits: tuple[Hit, ...] = ()
    skipped: str | None = None

    def record(self) -> dict[str, Any]:
        """The layer as a release stores it: the number of hits and the first MAX_RECORDED, or why it was skipped."""
        if self.skipped is not None:
            return {"layer": self.name, "skipped": self.skipped}
        return {"layer": self.name, "kept": len(self.hits), "top": [hit.record() for hit in self.hits[:MAX_RECORDED]]}


@dataclass(frozen=True)
class RetrieverRank:
    """Where one retriever ranked a passage: rank from 1, and that retriever's score."""

    rank: int
    score: float


@dataclass(frozen=True)
class Passage:
    """A part of a section in the retrieved context: characters `start` to `end` of the section's text.

    origin      hit: the chunk itself; parent: its section; neighbour: the chunk and those around it, or a section next to that
                of a hit; document: a section of a handbook that is used in full
    rank        from 1, by merit, also in full-document mode, where passages are in reading order
    score       of the last layer that ranked the passage; higher is better
    retrievers  name -> rank and score in each first-stage retriever that found it
    """

    section_id: str
    start: int
    end: int
    text: str
    score: float
    rank: int
    origin: Origin
    retrievers: Mapping[str, RetrieverRank] = field(default_factory=dict)

    @property
    def hit(self) -> Hit:
        """The passage without its text."""
        return Hit(self.section_id, self.start, self.end, self.score)

    def record(self, number: int) -> dict[str, Any]:
        """The passage as a release stores it, with its text unless the handbook is used in full.

        number  the number by which an answer cites the passage
        """
        ranks = {name: {"rank": ranked.rank, "score": _rounded(ranked.score)} for name, ranked in self.retrievers.items()}
        return {
            "passage": number,
            "section_id": self.section_id,
            "start": self.start,
            "end": self.end,
            "origin": self.origin,
            "rank": self.rank,
            "score": _rounded(self.score),
            "retrievers": ranks,
            **({} if self.origin == "document" else {"text": self.text}),
        }


@dataclass(frozen=True)
class Retrieval:
    """The result of one strategy for one question in one handbook.

    passages  the retrieved context, best first; in full-document mode the sections in reading order
    ranked    ids of the sections found, best first, without repetition
    queries   the texts searched for: the question, then its expansion
    reason    why the full document is used after all, or why it was too long for that; else None
    seconds   CPU time
    layers    the hits of each layer, in order
    titles    section id -> title, for the sections of the passages
    encoder   what texts were compared with, where a score means something by that alone; else None
    """

    strategy: str
    mode: Mode
    passages: tuple[Passage, ...]
    ranked: tuple[str, ...]
    queries: tuple[str, ...]
    reason: str | None
    seconds: float
    layers: tuple[Layer, ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    encoder: str | None = None

    def record(self) -> dict[str, Any]:
        """The `retrieval` object of answers.jsonl; of a handbook used in full it has only the best sections, without text."""
        numbered = [
            (number, passage)
            for number, passage in enumerate(self.passages, 1)
            # A full handbook is in the release already, and would be stored again with every answer.
            if passage.origin != "document" or passage.rank <= MAX_RECORDED
        ]
        section_ids = dict.fromkeys(passage.section_id for _, passage in numbered)
        return {
            "strategy": self.strategy,
            **({} if self.encoder is None else {"encoder": self.encoder}),
            "mode": self.mode,
            "reason": self.reason,
            "sections": [self.titles.get(section_id) or section_id for section_id in section_ids],
            "queries": list(self.queries),
            "passages": [passage.record(number) for number, passage in numbered],
            "layers": [layer.record() for layer in self.layers],
            "seconds": round(self.seconds, 4),
        }


def _rounded(score: float) -> float:
    # The last bits of a sum differ between processors; with six digits the same search gives the same record everywhere.
    return float(f"{score:.6g}")
