"""What is asked of a handbook, and what retrieval gives back: passages, and how each of them was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

Mode = Literal["full_document", "passages", "full_document_fallback"]
FULL_DOCUMENT: Final = "full_document"
PASSAGES: Final = "passages"
FALLBACK: Final = "full_document_fallback"
Origin = Literal["hit", "parent", "neighbour", "document"]
SHOWN = 10
"""How many hits of a layer, or sections of a handbook that went whole, a record keeps."""


@dataclass(frozen=True)
class Query:
    """A question as it is asked of every handbook."""

    question_id: str
    text: str
    organ: str = "general"
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """Characters `start` to `end` of a section's text, found by a layer; `score` is the layer's own, higher is better."""

    section_id: str
    start: int
    end: int
    score: float

    def record(self) -> dict[str, Any]:
        """The place as a release keeps it."""
        return {"section_id": self.section_id, "start": self.start, "end": self.end, "score": _short(self.score)}


@dataclass(frozen=True)
class Layer:
    """What one step of a strategy left, best first; or why it did nothing."""

    name: str
    hits: tuple[Hit, ...] = ()
    skipped: str | None = None

    def record(self) -> dict[str, Any]:
        """The layer as a release keeps it: how many hits it left and its first ten, or why it was skipped."""
        if self.skipped is not None:
            return {"layer": self.name, "skipped": self.skipped}
        return {"layer": self.name, "kept": len(self.hits), "top": [hit.record() for hit in self.hits[:SHOWN]]}


@dataclass(frozen=True)
class Found:
    """Where a passage stood in the list of one retriever: rank from 1, and that retriever's score."""

    rank: int
    score: float


@dataclass(frozen=True)
class Passage:
    """A part of a section that is given to the generator: characters `start` to `end` of its text.

    origin      hit: as it was found; parent: the section it was found in; neighbour: with the text around it; document: the
                handbook went whole
    rank        from 1; by merit, also where a whole handbook keeps its reading order
    score       of the last layer that ranked it; higher is better
    retrievers  name -> where each first-stage retriever had it
    """

    section_id: str
    start: int
    end: int
    text: str
    score: float
    rank: int
    origin: Origin
    retrievers: Mapping[str, Found] = field(default_factory=dict)

    @property
    def hit(self) -> Hit:
        """The passage as a place."""
        return Hit(self.section_id, self.start, self.end, self.score)

    def record(self, number: int) -> dict[str, Any]:
        """The passage as a release keeps it, `number` is what a citation says; with its text, unless the handbook went whole."""
        return {
            "passage": number,
            "section_id": self.section_id,
            "start": self.start,
            "end": self.end,
            "origin": self.origin,
            "rank": self.rank,
            "score": _short(self.score),
            "retrievers": {name: {"rank": found.rank, "score": _short(found.score)} for name, found in self.retrievers.items()},
            **({} if self.origin == "document" else {"text": self.text}),
        }


@dataclass(frozen=True)
class Retrieval:
    """What a strategy found for one question in one handbook.

    passages  best first; where the handbook went whole, its sections in reading order
    ranked    the ids of the sections it found, best first, each once
    queries   what was looked for: the question, then what expansion made of it
    reason    why it fell back to the whole handbook, or why it would have and could not; else None
    seconds   CPU time
    layers    what each step left, in order
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
    """Section id -> title, of the sections that the passages are from."""

    def record(self) -> dict[str, Any]:
        """The `retrieval` object of answers.jsonl, with each passage's text; of a handbook that went whole, its best sections."""
        numbered = [
            (number, each) for number, each in enumerate(self.passages, 1) if each.origin != "document" or each.rank <= SHOWN
        ]
        touched = dict.fromkeys(passage.section_id for _, passage in numbered)
        return {
            "strategy": self.strategy,
            "mode": self.mode,
            "reason": self.reason,
            "sections": [self.titles.get(section_id) or section_id for section_id in touched],
            "queries": list(self.queries),
            "passages": [passage.record(number) for number, passage in numbered],
            "layers": [layer.record() for layer in self.layers],
            "seconds": round(self.seconds, 4),
        }


class Strategy(Protocol):
    """One way to find the passages of one handbook that speak to a question."""

    @property
    def name(self) -> str:
        """As records and the command line know it."""

    def retrieve(self, question: Query) -> Retrieval:
        """The same question gives the same retrieval, but for its seconds."""


def _short(score: float) -> float:
    """Six digits are plenty, and the last bits of a sum differ between processors."""
    return float(f"{score:.6g}")
