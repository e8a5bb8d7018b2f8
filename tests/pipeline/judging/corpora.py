"""A small corpus as a table, and a judge that answers from a table instead of over a network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, QuestionToJudge
from audit.pipeline.judging.parse import VERDICT_SCHEMA, load_prompts
from audit.pipeline.judging.protocols import Protocol
from audit.pipeline.llm.calls import ANSWERED, Call
from audit.pipeline.llm.tasks import StageCost
from audit.release.journal_files import Reply

RUN = {"run_id": "tiny", "digest": "d" * 64, "title": "A tiny run", "synthetic": True, "terms": {"handbook": "leaflet"}}
ANSWERS = {
    "q1": {"a": "Wait 3 months.", "b": "Wait 12 months.", "c": "Ask Birch Clinic.", "d": "NOT ADDRESSED: nothing."},
    "q2": {"a": "Yes.", "b": "No.", "c": "Yes.", "d": "NOT ADDRESSED"},
}


def corpus(answers: dict[str, dict[str, str]] = ANSWERS) -> Corpus:
    """All pairs of `answers`; an answer is absent when it begins with the canonical prefix."""
    letters = sorted({letter for by_letter in answers.values() for letter in by_letter})
    handbooks = tuple(
        {"handbook_id": letter, "organ": "kidney", "center": f"{name} Clinic", "phase": "combined", "title": None}
        for letter, name in zip(letters, ("Alder", "Birch", "Cedar", "Dogwood"), strict=False)
    )
    return Corpus(RUN, handbooks, lambda: _items(answers))


def _items(answers: dict[str, dict[str, str]]) -> Iterator[QuestionToJudge]:
    for question, texts_by_letter in answers.items():
        answers_by_letter = {letter: AnswerToJudge(text) for letter, text in texts_by_letter.items()}
        checked = {
            letter: AnswerToJudge(answer.text, answer.says_absence, "prefix" if answer.says_absence else None)
            for letter, answer in answers_by_letter.items()
        }
        pairs = tuple((a, b) for a in texts_by_letter for b in texts_by_letter if a < b)
        record = {"question_id": question, "question": f"What about {question}?", "organ": "kidney", "topics": ["travel"]}
        yield QuestionToJudge(record | {"subtopics": [], "source": None}, checked, pairs)


def protocol(name: str = "structured", **options: Any) -> Protocol:
    return Protocol(name, "tiny-model", load_prompts(), **options)


def texts(call: Call) -> dict[str, str]:
    """Tag -> the text between its tags in a call's prompt."""
    user = call.body["messages"][1]["content"]
    return {tag: text.strip() for tag, text in re.findall(r"<(\w+)>\n(.*?)\n</\1>", user, re.DOTALL)}


def verdict(label: str, significance: str | None = None) -> str:
    fields = dict.fromkeys(VERDICT_SCHEMA["properties"])
    return json.dumps(fields | {"reasoning": "so", "classification": label, "clinical_significance": significance})


class Judge:
    """Answers every call with what `say` returns for it, and remembers the calls."""

    def __init__(self, put: Callable[[Reply], None], say: Callable[[Call], str | Reply]) -> None:
        self.put, self.say = put, say
        self.asked: list[Call] = []

    def __call__(self, cost: StageCost, calls: Iterable[Call]) -> None:
        for call in calls:
            self.asked.append(call)
            answer = self.say(call)
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 64}
            reply = Reply(call.key, ANSWERED, text=answer, usage=usage, latency_s=0.5) if isinstance(answer, str) else answer
            self.put(reply)


class Shelf(dict[str, Reply]):
    """Replies in memory."""

    def put(self, reply: Reply) -> None:
        self[reply.key] = reply

    def latest(self, keys: Iterable[str]) -> dict[str, Reply]:
        return {key: self[key] for key in keys if key in self}
