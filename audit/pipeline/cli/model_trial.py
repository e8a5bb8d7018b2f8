"""A trial of a model: its speed, and how many of a few made-up answers and verdicts can be read and used."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.generation.model_generator import answer_task, load_answer_prompt, model_answers
from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, QuestionToJudge
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.protocols import Protocol
from audit.pipeline.judging.verdict_sources import ModelVerdicts
from audit.pipeline.llm.calls import ANSWERED, CUT, Call
from audit.pipeline.llm.client import Client, Endpoint
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.prompts import thinking_fields
from audit.pipeline.llm.tasks import LlmTask, ask_stages
from audit.pipeline.retrieval.model import Query
from audit.release.journal_files import Reply
from audit.text.documents import Document, Section

# Made up: texts as handbooks have them, and what each question is about is in both, in different words and figures.
QUESTIONS = {
    "fever": "When should I call about a fever?",
    "lifting": "How much may I lift after the operation?",
}
TEXTS = {
    "alder": {
        "fever": "Call the transplant team at once if your temperature is above 38 degrees.",
        "lifting": "Do not lift more than 5 kilograms for six weeks.",
    },
    "birch": {
        "fever": "Call your coordinator if you have a fever above 38.5 degrees for more than one day.",
        "lifting": "You may lift up to 10 kilograms after four weeks.",
    },
}
FILLER = "The clinic opens at eight and closes at six on weekdays, and the ward desk answers at any hour. "
REPLY_TOKENS, LONG_PROMPT = 48, 24
# A usual reply has a hundred; a small model may go on to any limit
MOST_TOKENS = 300


@dataclass(frozen=True)
class Trial:
    """What a model did.

    prompt_rate, reply_rate  tokens a second of one call alone; None where its server counts no tokens
    read   what was asked for -> (usable, asked)
    faults why the others are not usable
    """

    prompt_rate: float | None
    reply_rate: float | None
    read: dict[str, tuple[int, int]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def try_model(endpoint: Endpoint, limits: Limits, context: int) -> Trial:
    """Measure the model's speed, and have it write and judge answers to made-up questions. Raises AuditError on a lost server."""
    rates = asyncio.run(speeds(endpoint, limits))
    with tempfile.TemporaryDirectory(prefix="model-trial-") as folder:
        answers, answer_faults = _answers(endpoint, limits, context, Path(folder))
        verdicts, verdict_faults = _verdicts(endpoint, limits, Path(folder))
    read = {"answers that cite their passages": answers, "verdicts on pairs": verdicts}
    return Trial(*rates, read, tuple(dict.fromkeys([*answer_faults, *verdict_faults])))


async def speeds(endpoint: Endpoint, limits: Limits) -> tuple[float | None, float | None]:
    """Tokens a second of prompts, by a long prompt with a reply of one token, and of replies, by a short one with many."""
    async with Client(endpoint, limits) as client:
        long = await client.ask(_plain(endpoint, FILLER * LONG_PROMPT, 1))
        short = await client.ask(_plain(endpoint, "Write about the sea.", REPLY_TOKENS))
    return _rate(long, "prompt_tokens"), _rate(short, "completion_tokens")


def _plain(endpoint: Endpoint, text: str, max_tokens: int) -> Call:
    body = {"model": endpoint.model, "messages": [{"role": "user", "content": text}], "max_tokens": max_tokens, "temperature": 0}
    return Call({**body, **thinking_fields(0)}, "speed", "speed")


def _rate(reply: object, counted: str) -> float | None:
    if not isinstance(reply, Reply) or reply.outcome not in (ANSWERED, CUT) or not reply.latency_s:
        return None
    return reply.usage[counted] / reply.latency_s if reply.usage.get(counted) else None


def _asked(task: LlmTask, endpoint: Endpoint, limits: Limits, journal: Journal) -> None:
    """Each call once: a run asks again what was cut or lost, which here would only take longer."""

    async def once(calls: Iterable[Call]) -> None:
        async with Client(endpoint, limits) as client:
            for call in calls:
                if isinstance(reply := await client.ask(call), Reply):
                    journal.put(reply)

    ask_stages(task, journal.latest, lambda _, calls: asyncio.run(once(calls)))


def _documents() -> list[Document]:
    return [
        Document(
            center, "kidney", center, "post", sections=tuple(Section(name, name.title(), text) for name, text in texts.items())
        )
        for center, texts in TEXTS.items()
    ]


def _answers(endpoint: Endpoint, limits: Limits, context: int, folder: Path) -> tuple[tuple[int, int], Sequence[str]]:
    questions = [
        GroundedQuestion(Query(name, question, "kidney"), document, {"mode": "passages", "passages": _passages(document)})
        for document in _documents()
        for name, question in QUESTIONS.items()
    ]
    task = answer_task(replace(load_answer_prompt(), max_tokens=MOST_TOKENS), endpoint.model, lambda: questions, context)
    with Journal(folder / "answers.journal", task.plan()) as journal:
        _asked(task, endpoint, limits, journal)
        records = list(model_answers(task, journal.latest))
    used = [record for record in records if record["answer"] and not record["absent"]]
    faults = ["says that the passages do not answer" if record["absent"] else record["unread_reason"] for record in records]
    return (len(used), len(questions)), [f"answers: {fault}" for fault in faults if fault]


def _passages(document: Document) -> list[dict[str, object]]:
    return [{"section_id": section.section_id, "text": section.text} for section in document.sections]


def _verdicts(endpoint: Endpoint, limits: Limits, folder: Path) -> tuple[tuple[int, int], Sequence[str]]:
    pair = tuple(TEXTS)
    items = [
        QuestionToJudge(
            {"question_id": name, "question": question, "organ": "kidney"},
            {center: AnswerToJudge(texts[name]) for center, texts in TEXTS.items()},
            ((pair[0], pair[1]),),
        )
        for name, question in QUESTIONS.items()
    ]
    corpus = Corpus({"run_id": "trial"}, tuple(vars(document) for document in _documents()), lambda: iter(items))
    prompts = {name: replace(prompt, max_tokens=MOST_TOKENS) for name, prompt in load_prompts().items()}
    task = Protocol("structured", endpoint.model, prompts).task(corpus)
    with Journal(folder / "verdicts.journal", task.plan()) as journal:
        _asked(task, endpoint, limits, journal)
        source = ModelVerdicts(task.protocol, corpus, journal.latest)
        pairs = [found for item in items for found in source.pairs(item)]
    return (sum(found["classification"] is not None for found in pairs), len(items)), [
        f"verdicts: {why}" for why in source.summary.reasons
    ]
