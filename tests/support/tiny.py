"""Small releases written as a table that a person can check by eye.

    release_from(tmp_path, '''
        q1 kidney topics=diet   ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=ABSENT  d=absent
        q2 general              ab=UNSCORED  c=absent  d=notasked
    ''')

Handbooks are single letters. A pair with an absent answer is pre-screened and need not be named; `bc=ABSENT` between
two present answers was judged ABSENT; `d=notasked` has neither answer nor pairs; a pair of present answers that is
not named was never judged and stands in no file.

    ab=DIVERGENT/high!lenient+swap:CONSISTENT+repeat:DIVERGENT/low   read leniently; judged again, swapped and repeated
    ab=UNSCORED!none:cut_short                                       nothing could be read, and why
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from audit.release.write import write_release
from audit.vocabulary import NOT_ADDRESSED


def handbook(letter: str, organ: str = "kidney", center: str = "", phase: str = "combined") -> dict[str, Any]:
    center = center or f"center_{letter}"
    return {"handbook_id": letter, "organ": organ, "center": center, "phase": phase}


def release_from(root: Path, table: str, handbooks: list[dict[str, Any]] | None = None, **manifest: Any) -> Path:
    """Write the release that `table` describes below `root` and return its folder."""
    questions = [_parse(line) for line in table.strip().splitlines() if line.strip()]
    letters = sorted({letter for q in questions for letter in q["letters"]})
    handbooks = handbooks or [handbook(letter) for letter in letters]
    order = [h["handbook_id"] for h in handbooks]
    folder = root / manifest.get("run_id", "tiny")
    write_release(
        folder,
        manifest={"run_id": "tiny", "title": "A tiny release", **manifest},
        handbooks=handbooks,
        questions=[{k: q[k] for k in ("question_id", "question", "organ", "topics", "subtopics")} for q in questions],
        answers=[answer for q in questions for answer in _answers(q, order)],
        comparisons=[_comparison(q, order) for q in questions],
    )
    return folder


def _parse(line: str) -> dict[str, Any]:
    question_id, organ, *tokens = line.split()
    values = dict(token.split("=", 1) for token in tokens)
    topics = values.pop("topics", "").split(",") if "topics" in values else []
    subtopics = values.pop("subtopics", "").split(",") if "subtopics" in values else []
    letters = sorted({letter for key in values for letter in key})
    return {
        "question_id": question_id, "question": f"What about {question_id}?", "organ": organ, "topics": topics,
        "subtopics": subtopics, "values": values, "letters": letters,
    }  # fmt: skip


def _asked(question: dict[str, Any], order: list[str]) -> list[str]:
    return [h for h in order if h in question["letters"] and question["values"].get(h) != "notasked"]


def _answers(question: dict[str, Any], order: list[str]) -> list[dict[str, Any]]:
    return [_answer(question, letter) for letter in _asked(question, order)]


def _answer(question: dict[str, Any], letter: str) -> dict[str, Any]:
    absent = question["values"].get(letter) == "absent"
    text = f"{NOT_ADDRESSED}: nothing on this." if absent else f"Handbook {letter} on {question['question_id']}."
    method = "prefix" if absent else None
    return {
        "question_id": question["question_id"], "handbook_id": letter, "answer": text, "absent": absent,
        "absence_method": method, "retrieval": None,
    }  # fmt: skip


def _comparison(question: dict[str, Any], order: list[str]) -> dict[str, Any]:
    asked = _asked(question, order)
    pairs = [pair for a, b in itertools.combinations(asked, 2) if (pair := _pair(question["values"], a, b))]
    return {"question_id": question["question_id"], "handbooks": asked, "pairs": pairs}


def _pair(values: dict[str, str], a: str, b: str) -> dict[str, Any] | None:
    verdict = values.get(a + b) or values.get(b + a)
    if verdict is None and "absent" in (values.get(a), values.get(b)):
        return _judgement(a, b, "ABSENT", None, asked=False)
    if verdict is None:
        return None
    said, *further = verdict.split("+")
    said, _, reading = said.partition("!")
    label, significance = _label(said)
    pair = _judgement(a, b, label, significance, asked=True)
    if reading:
        parse, _, reason = reading.partition(":")
        pair["judge_metadata"] |= {"parse": parse, "unscored_reason": reason or None}
    return pair | ({"checks": [_check(text) for text in further]} if further else {})


def _label(text: str) -> tuple[str | None, str | None]:
    label, _, significance = text.partition("/")
    return None if label == "UNSCORED" else label, significance or None


def _check(text: str) -> dict[str, Any]:
    kind, _, said = text.partition(":")
    label, significance = _label(said)
    return {"kind": kind, "classification": label, "clinical_significance": significance}


def _judgement(a: str, b: str, label: str | None, significance: str | None, *, asked: bool) -> dict[str, Any]:
    usage = {"input_tokens": 100, "output_tokens": 10, "latency_s": 0.5} if asked else None
    topic = f"topic of {a}{b}" if label in ("DIVERGENT", "CONTRADICTORY", "COMPLEMENTARY") else None
    return {
        "handbook_a": a, "handbook_b": b, "classification": label, "reasoning": f"{a} against {b}" if asked else None,
        "divergence_topic": topic, "clinical_significance": significance, "judge_metadata": usage,
    }  # fmt: skip
