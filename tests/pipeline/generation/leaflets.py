"""Two small handbooks, questions to them, and what a retrieval would have left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.retrieval.model import Query
from audit.text.documents import Document, Section, write_document

TRAVEL = "You may travel abroad three months after surgery. Carry your medicines in your hand luggage. Call us before you book."
FEVER = "A fever above 38 degrees is an emergency [12]. Call the clinic at once."
FOOD = "Do not eat raw fish. Wash all fruit."
SECTIONS = (
    Section("s1", "When you travel", TRAVEL, ("Life at home",)),
    Section("s2", "Fever", FEVER),
    Section("s3", "Eating", FOOD),
)
ALDER = Document("kidney_alder_post", "kidney", "Alder", "post", SECTIONS)
BIRCH = Document("liver_birch_post", "liver", "Birch", "post", (*SECTIONS, Section("s4", "Bathing", "Do not swim in lakes.")))
QUESTIONS = (
    Query("q1", "How long after surgery may I travel abroad?", "kidney"),
    Query("q2", "Is a fever an emergency?", "general"),
    Query("q3", "May I keep a parrot?", "liver"),
)


def found(document: Document, *section_ids: str, mode: str = "passages") -> dict[str, Any]:
    """A retrieval of whole sections, in this order."""
    sections = [document.by_id[section_id] for section_id in section_ids]
    passages = [
        {"passage": n, "section_id": s.section_id, "start": 0, "end": len(s.text), "origin": "parent", "rank": n, "text": s.text}
        for n, s in enumerate(sections, 1)
    ]
    return {"strategy": "bm25", "mode": mode, "reason": None, "sections": [s.title for s in sections], "passages": passages}


def asked(text: str, *section_ids: str, mode: str = "passages", document: Document = ALDER) -> GroundedQuestion:
    return GroundedQuestion(Query("q1", text), document, found(document, *section_ids, mode=mode))


def near(document: Document, *scores: float, **other: Any) -> dict[str, Any]:
    """A retrieval of the closest passages by words: whole sections in reading order, with these scores."""
    record = found(document, *(section.section_id for section, _ in zip(document.sections, scores, strict=False)))
    for passage, score in zip(record["passages"], scores, strict=True):
        passage |= {"score": score, "origin": "hit"}
    return record | {"strategy": "closest", "encoder": "words"} | other


def scored(query: Query, document: Document, section_ids: tuple[str, ...], mode: str) -> dict[str, Any]:
    """A retrieval by `closest`, by which a handbook answers everything but the question about a parrot."""
    record = found(document, *section_ids, mode=mode)
    for passage in record["passages"]:
        passage["score"] = 0.0 if "parrot" in query.text else 0.9
    return record | {"strategy": "closest", "encoder": "words"}


def work_folder(root: Path, *, mode: str = "passages", extra: tuple[Query, ...] = ()) -> list[str]:
    """Documents, questions and retrieval as files; the arguments of `audit generate` that name them."""
    (root / "retrieval").mkdir(parents=True)
    (root / "documents").mkdir()
    questions = [*QUESTIONS, *extra]
    lines = [{"question_id": q.question_id, "question": q.text, "organ": q.organ, "topics": []} for q in questions]
    (root / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for document in (ALDER, BIRCH):
        last = document.sections[-1].section_id
        write_document(document, root / "documents" / f"{document.handbook_id}.json")
        retrievals = [
            {"question_id": q.question_id, "handbook_id": document.handbook_id, "retrieval": scored(q, document, ids, mode)}
            for q, ids in zip(questions, [("s1", "s3"), ("s2", last), ("s3", "s2"), *[("s1", last)] * len(extra)], strict=True)
        ]
        path = root / "retrieval" / f"{document.handbook_id}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in retrievals))
    return [str(root / "retrieval"), "--questions", str(root / "questions.jsonl"), "--documents", str(root / "documents")]
