"""A small release of stress tests: two questions, three tests, two systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audit.release.write import write_release
from audit.store.connection import Connection, open_store
from audit.vocabulary import STRESS_TESTS
from tests.support.loading import load

Record = dict[str, Any]
Tables = dict[str, list[Record]]
OPTIONS = {"A": "yes", "B": "no"}


def document(name: str, *, signal: bool = True, **others: Any) -> Record:
    """A document of an instance."""
    return {"document_id": name, "text": f"Text of {name}.", "is_signal": signal, **others}


def altered(name: str, before: str = "3 days", after: str = "9 days") -> Record:
    """A document with a planted error and a sub-question."""
    edit = {"kind": "amount", "before": before, "after": after, "start": 0}
    text = {"is_factual": False, "edited_from": name.removesuffix("~"), "edit": edit, "sub_question": f"How long in {name}?"}
    return document(name, **text, sub_answer=before, false_answer=after)


def instance(question_id: str, test: str, share: int, *documents: Record, **others: Any) -> Record:
    """One record of stress_instances.jsonl; its id is like "q1-robustness-50"."""
    return {
        "instance_id": f"{question_id}-{test}-{share}", "test": test, "question_id": question_id,
        "question": f"Is {question_id} so?", "options": OPTIONS, "gold": "A", "signal_share": share, "size": len(documents),
        "documents": list(documents), "dataset": "own", "seed": 1, **others,
    }  # fmt: skip


def replied(instance_id: str, system_id: str, choice: str | None = "A", **others: Any) -> Record:
    """One record of stress_replies.jsonl; `called` and `answered` map documents to calls and sub-answers."""
    called, answered = others.pop("called", {}), others.pop("answered", {})
    return {
        "instance_id": instance_id, "system_id": system_id, "reasoning": "Because.", "choice": choice,
        "documents": [{"document_id": name, "call": call} for name, call in called.items()],
        "sub_answers": [{"document_id": name, "answer": answer} for name, answer in answered.items()], **others,
    }  # fmt: skip


def stress_tables() -> Tables:
    """`good` is right throughout; `weak` is wrong once, insufficient once, unreadable once, and was not asked the last one."""
    return {
        "systems": [{"system_id": "good", "mode": "retrieval", "model": "m"}, {"system_id": "weak", "mode": "other"}],
        "stress_instances": [
            instance("q1", "standard", 100, document("a")),
            instance("q1", "sufficiency", 50, document("a"), document("x", signal=False)),
            instance("q1", "robustness", 50, document("b"), altered("a~")),
            instance(
                "q2", "integration", 100, document("c", sub_question="How much?", sub_answer="2 mg"), options={}, gold="2 mg"
            ),
        ],
        "stress_replies": [
            replied("q1-standard-100", "good", usage={"input_tokens": 90, "latency_s": 0.5}),
            replied("q1-sufficiency-50", "good", called={"a": "relevant", "x": "noise"}),
            replied("q1-robustness-50", "good", called={"a~": "wrong", "b": "factual"}, answered={"a~": "3 days"}),
            replied("q2-integration-100", "good", "2 mg", answered={"c": "2 mg"}),
            replied("q1-standard-100", "weak", "B"),
            replied("q1-sufficiency-50", "weak", None, insufficient=True, called={"a": "noise"}),
            replied("q1-robustness-50", "weak", None, unread_reason="cut"),
        ],
    }  # fmt: skip


def stress_release(folder: Path, tables: Tables | None = None, questions: tuple[str, ...] = ("q1", "q2")) -> Path:
    """Write such a release: no handbooks, answers or pairs."""
    return write_release(
        folder,
        manifest={"run_id": "stress", "title": "Stress tests"},
        questions=[{"question_id": name, "question": f"Is {name} so?"} for name in questions],
        systems=tables or stress_tables(),
    )


def stress_store(folder: Path, tables: Tables | None = None, questions: tuple[str, ...] = ("q1", "q2")) -> Connection:
    """The open store of such a release."""
    return open_store(load(stress_release(folder / "release", tables, questions), folder / "data").run.path)


def stress_context(number: int, test: str) -> Record:
    """An instance of question `number` with two documents."""
    signal_document = document(f"d{number}", sub_question=f"How long in {number}?", sub_answer="3 days")
    other = altered(f"e{number}~") if test == "robustness" else document(f"x{number}", signal=False)
    return instance(f"q{number}", test, 50, signal_document, other)


def built_release(folder: Path, questions: int = 3, **changes: Any) -> Path:
    """What `audit stress build` writes: instances of each test and a manifest, and nothing else."""
    folder.mkdir()
    records = [stress_context(number, test) | changes for test in STRESS_TESTS for number in range(questions)]
    (folder / "stress_instances.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "manifest.json").write_text(json.dumps({"run_id": "built"}))
    return folder


def replies_in(folder: Path, system: str = "judge-2") -> dict[str, Record]:
    records = [json.loads(line) for line in (folder / "stress_replies.jsonl").read_text().splitlines()]
    return {record["instance_id"]: record for record in records if record["system_id"] == system}
