"""An instance of a stress test: a question, the documents in the prompt, and the truth about each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.vocabulary import StressTest

INSTANCES_FILE = "stress_instances.jsonl"


@dataclass(frozen=True)
class StressDocument:
    """A document in the prompt.

    is_signal     it belongs to the question; noise belongs to another one
    is_factual    False where an error was planted: `text` is then the edited copy of document `edited_from`
    edit          kind, before, after and start of the planted error
    sub_question  a question that this document answers, with `sub_answer`, a string of the true document; None: not asked
    false_answer  the answer according to the edited document
    """

    document_id: str
    text: str
    is_signal: bool
    is_factual: bool = True
    edited_from: str | None = None
    edit: Mapping[str, Any] | None = None
    sub_question: str | None = None
    sub_answer: str | None = None
    false_answer: str | None = None

    def record(self) -> dict[str, Any]:
        """The document as stress_instances.jsonl has it, without fields that are empty."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class StressInstance:
    """One question with one context.

    options       letter -> text; empty for an open question
    gold          the letter of the right option, or the answer's text for an open question
    signal_share  0 to 100, the requested share of signal (in `robustness`: of factually correct documents); with few signal
                  documents the actual share, to be computed from `documents`, matches it only on average
    size          the requested number of documents; the context has fewer where the question has few signal documents
    documents     in the order in which they are shown
    dataset       the data set of the question
    retrieval     how its documents were found: offline (in a library) or online (on the web); None: they came with it
    """

    instance_id: str
    test: StressTest
    question_id: str
    question: str
    gold: str
    signal_share: int
    size: int
    options: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[StressDocument, ...] = ()
    dataset: str | None = None
    seed: int | None = None
    retrieval: str | None = None

    def record(self) -> dict[str, Any]:
        """The instance as a record of stress_instances.jsonl."""
        return {
            "instance_id": self.instance_id, "test": str(self.test), "question_id": self.question_id, "question": self.question,
            "options": dict(self.options), "gold": self.gold, "signal_share": self.signal_share, "size": self.size,
            "documents": [document.record() for document in self.documents], "dataset": self.dataset, "seed": self.seed,
            **({"retrieval": self.retrieval} if self.retrieval else {}),
        }  # fmt: skip


def instance_of(record: Mapping[str, Any]) -> StressInstance:
    """The instance of a record that has all required fields, as `StressInstance.record` writes it."""
    documents = tuple(StressDocument(**document) for document in record["documents"])
    return StressInstance(**{**record, "test": StressTest(record["test"]), "documents": documents})
