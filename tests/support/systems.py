"""Small releases of answering systems: two systems, three questions, and every table that such a release may have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.evaluation.criteria import CRITERIA, REFERENCE
from audit.release.write import write_release
from audit.store.connection import Connection, open_store
from tests.support.loading import load

Record = dict[str, Any]
QUESTIONS = ("q1", "q2", "q3")
GOOD = (1, 0, 0, 0, 0, 0, 1, 1)
"""Scores on the eight criteria in their order: the sum is 3, the composite 13/14 x 10."""


def scores(*values: int | None) -> Record:
    """Scores on the eight criteria in their order, under their names."""
    return dict(zip(CRITERIA, values, strict=True))


def judged(question_id: str, system_id: str, *values: int | None, **others: Any) -> Record:
    """One record of criteria.jsonl by the judge `judge-1`."""
    return {"question_id": question_id, "system_id": system_id, "judge": "judge-1", **scores(*(values or GOOD)), **others}


def answered(question_id: str, system_id: str, answer: str | None, **others: Any) -> Record:
    """One record of system_answers.jsonl."""
    return {"question_id": question_id, "system_id": system_id, "answer": answer, **others}


def preferred(question_id: str, preference: str, rater: str | None = "rater-1", **others: Any) -> Record:
    """One record of preferences.jsonl about `alone` (A) and `rag` (B)."""
    return {
        "question_id": question_id, "system_a": "alone", "system_b": "rag", "preference": preference, "rater": rater,
        "rater_kind": "human", **others,
    }  # fmt: skip


def measured(question_id: str, system_id: str, measure: str, value: float | None) -> Record:
    """One record of measures.jsonl."""
    return {"question_id": question_id, "system_id": system_id, "measure": measure, "value": value}


def system_tables() -> dict[str, list[Record]]:
    """The tables of the release: q1 and q2 answered by both systems, q3 refused by `rag` and unreadable from `alone`."""
    evidence = [{"section_id": "s1", "score": 0.9, "text": "Drink water."}, {"section_id": "s2", "score": 0.5, "rank": 2}]
    return {
        "systems": [
            {"system_id": "alone", "name": "Model alone", "model": "m", "mode": "closed_book", "settings": {"temperature": 0.1}},
            {"system_id": "rag", "name": "Model with retrieval", "model": "m", "mode": "retrieval", "retriever": "bm25"},
        ],
        "references": [
            {
                "question_id": "q1", "answers": ["Drink; rest.", "Drink more."], "question_type": "treatment",
                "gold_sections": ["s1"],
            },
            {"question_id": "q2", "answers": ["Call us."], "question_type": "information", "url": "https://example.org/2"},
        ],
        "system_answers": [
            answered("q1", "alone", "Drink."),
            answered("q1", "rag", "Drink water.", evidence=evidence, usage={"input_tokens": 90}),
            answered("q2", "alone", "Wait."), answered("q2", "rag", "Call us."),
            answered("q3", "alone", None, unread_reason="cut_short"), answered("q3", "rag", "I cannot say.", refused=True),
        ],
        "criteria": [
            judged("q1", "alone"), judged("q1", "rag"), judged("q2", "alone", 0, 0, -1, 0, 0, 0, 0, 1), judged("q2", "rag"),
            judged("q1", REFERENCE), judged("q2", REFERENCE),
        ],
        "preferences": [preferred("q1", "tie"), preferred("q2", "B", shown_first="A"), preferred("q2", "B", None)],
        "measures": [
            measured("q1", "rag", "bleu_1", 0.5), measured("q1", "rag", "p_at_5", 0.2),
        ],
    }  # fmt: skip


def systems_release(
    folder: Path, tables: dict[str, list[Record]] | None = None, questions: Sequence[str] = QUESTIONS, **manifest: Any
) -> Path:
    """Write a release of answering systems alone: no handbooks, answers or comparisons."""
    return write_release(
        folder,
        manifest={"run_id": "systems", "title": "Two systems", **manifest},
        questions=[{"question_id": name, "question": f"What about {name}?"} for name in questions],
        systems=tables or system_tables(),
    )


def systems_store(folder: Path, tables: dict[str, list[Record]], questions: Sequence[str] = QUESTIONS) -> Connection:
    """The open store of such a release."""
    return open_store(load(systems_release(folder / "release", tables, questions), folder / "data").run.path)
