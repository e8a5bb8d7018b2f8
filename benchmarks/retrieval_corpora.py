"""The corpora that `benchmarks.retrieval` measures on: handbooks, and questions whose gold sections are known."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.evaluation.gold import read_gold
from audit.pipeline.retrieval.model import Query
from audit.text.documents import Document, Section, read_documents
from tests.simulator.config import small_config
from tests.simulator.retrieval import HandbookTexts, section_id, sections
from tests.simulator.world import World, draw_world

TENANCY = Path(__file__).resolve().parents[1] / "examples" / "tenancy"
DEMO_SEED = 7


@dataclass(frozen=True)
class Task:
    """A question, the handbook it is put to, and the sections that answer it."""

    question: Query
    handbook_id: str
    gold: tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """Handbooks and tasks. `tuned`: half of its questions were used to choose the weights of HERO-QA."""

    documents: list[Document]
    tasks: list[Task]
    tuned: bool

    def half(self, half: str) -> Corpus:
        """The tasks of that half ("all", "tuning", "held-out"); in a corpus that was not tuned on, all are held out."""
        return replace(self, tasks=[task for task in self.tasks if half in ("all", self._half_of(task.question.question_id))])

    def _half_of(self, question_id: str) -> str:
        odd = int(hashlib.sha256(question_id.encode()).hexdigest(), 16) % 2
        return "held-out" if odd or not self.tuned else "tuning"


def nih_corpus(data: Path) -> Corpus:
    """The nine handbooks of the NIH; many of their questions repeat a heading."""
    documents = read_documents(data / "nih_handbooks")
    return Corpus(documents, _tasks(data / "nih_handbooks_gold.jsonl.gz", documents), tuned=True)


def simulated_corpus(_data: Path) -> Corpus:
    """The 24 simulated handbooks of `audit demo`; patients ask in words of their own."""
    world = draw_world(small_config(DEMO_SEED))
    library = HandbookTexts(world)
    tasks = [
        Task(Query(question.id, question.text), handbook.id, (section_id(int(library.position[question.policy, number])),))
        for question, present in zip(world.questions, world.present, strict=True)
        for number, handbook in enumerate(world.handbooks)
        if present[number]
    ]
    return Corpus(simulated_documents(world, library), tasks, tuned=True)


def simulated_documents(world: World, library: HandbookTexts) -> list[Document]:
    """The handbooks of a simulated world."""
    texts: dict[str, list[Section]] = {handbook.id: [] for handbook in world.handbooks}
    for record in sections(library):
        section = Section(record["section_id"], record["heading"], record["text"], tuple(record["above"]))
        texts[record["handbook_id"]].append(section)
    return [
        Document(handbook.id, handbook.organ, f"center {handbook.center}", handbook.phase, tuple(texts[handbook.id]))
        for handbook in world.handbooks
    ]


def tenancy_corpus(_data: Path) -> Corpus:
    """The eight short codes of examples/tenancy; no weight was chosen on them."""
    documents = read_documents(TENANCY / "documents")
    return Corpus(documents, _tasks(TENANCY / "gold.jsonl", documents), tuned=False)


CORPORA: Mapping[str, Callable[[Path], Corpus]] = {
    "nih": nih_corpus,
    "demo": simulated_corpus,
    "tenancy": tenancy_corpus,
}


def _tasks(path: Path, documents: Sequence[Document]) -> list[Task]:
    texts = {record["question_id"]: record["question"] for record in _records(path)}
    return [
        Task(Query(question_id, texts[question_id]), handbook_id, section_ids)
        for handbook_id, gold in read_gold(path, documents).items()
        for question_id, section_ids in gold.items()
    ]


def _records(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def without_headings(document: Document) -> Document:
    """The handbook without its headings."""
    return replace(document, sections=tuple(replace(section, heading="", above=()) for section in document.sections))
