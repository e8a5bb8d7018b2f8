"""An independent server, with a model that knows nothing: the tests check the client, not the answers.

AUDIT_TEST_VLLM_URL (and AUDIT_TEST_VLLM_MODEL, AUDIT_TEST_VLLM_KEY) runs the same tests against a real vLLM.
"""

from __future__ import annotations

import asyncio
import json
import os

import pytest
from jsonschema import Draft202012Validator

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, CUT, REFUSED
from audit.pipeline.llm.client import Client, Endpoint
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.probe import probe_endpoint
from audit.pipeline.llm.runner import CallStats, run_calls
from audit.release.journal_files import Reply
from tests.pipeline.llm.helpers import LENIENT, SCHEMA, call, readable
from tests.support.llm.real_server import MODEL
from tests.support.llm.tiny_model import write_model

LIMITS = Limits(concurrency=16, start=16, **LENIENT)
QUIET = {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.fixture(scope="session", params=["llama.cpp", "vllm"])
def endpoint(request) -> Endpoint:
    if request.param == "llama.cpp":
        return Endpoint(request.getfixturevalue("real_judge"), MODEL)
    if not os.environ.get("AUDIT_TEST_VLLM_URL"):
        pytest.skip("AUDIT_TEST_VLLM_URL names no vLLM server")
    environment = [os.environ.get(f"AUDIT_TEST_VLLM_{name}", "") for name in ("URL", "MODEL", "KEY")]
    return asyncio.run(probe_endpoint(Endpoint(*environment), LIMITS)).endpoint


def asked(endpoint: Endpoint, text: str, **body) -> Reply:
    async def once():
        async with Client(endpoint, LIMITS) as client:
            return await client.ask(call(text, model=endpoint.model, **QUIET, **body))

    reply = asyncio.run(once())
    assert isinstance(reply, Reply)
    return reply


def judged(endpoint: Endpoint, count: int) -> tuple[CallStats, list[Reply]]:
    calls = [
        call(f"Question {n // 6}: may one travel {n * n} days after?", group=f"q{n // 6}", model=endpoint.model, **QUIET)
        for n in range(count)
    ]
    replies: list[Reply] = []
    stats = asyncio.run(run_calls(calls, [endpoint], replies.append, readable=readable, limits=LIMITS))
    return stats, replies


def test_the_probe_accepts_it(endpoint):
    report = asyncio.run(probe_endpoint(endpoint, LIMITS, call("word " * 200, model=endpoint.model, **QUIET)))
    assert report.endpoint.model == endpoint.model
    assert report.context is not None


def test_the_probe_reports_a_prompt_that_does_not_fit(endpoint):
    with pytest.raises(AuditError, match="Nothing was asked"):
        asyncio.run(probe_endpoint(endpoint, LIMITS, call("word " * 60_000, model=endpoint.model, **QUIET)))


def test_the_probe_reports_a_missing_model(endpoint):
    with pytest.raises(AuditError, match=f"no model 'none-such'.*Available: .*{endpoint.model}"):
        asyncio.run(probe_endpoint(Endpoint(endpoint.base_url, "none-such", endpoint.key), LIMITS))


def test_every_text_obeys_the_schema(endpoint):
    stats, replies = judged(endpoint, 60)
    assert stats.answered == 60
    final = {reply.key: reply for reply in replies}
    for reply in final.values():
        Draft202012Validator(SCHEMA).validate(json.loads(reply.text or "", strict=False))


def test_different_prompts_get_different_texts_and_the_same_prompt_the_same(endpoint):
    (_, first), (_, second) = judged(endpoint, 30), judged(endpoint, 30)
    texts = {reply.key: reply.text for reply in first}
    assert len(set(texts.values())) > 5
    same = sum(texts[reply.key] == reply.text for reply in second)
    assert same >= 27  # the composition of a batch may change a near tie


def test_the_prefix_of_a_question_is_cached_after_its_first_call(endpoint):
    stats, _ = judged(endpoint, 60)
    assert stats.cached_tokens > 0.3 * stats.prompt_tokens


def test_a_text_at_its_token_limit_is_cut_and_a_prompt_that_is_too_long_is_refused(endpoint):
    cut = asked(endpoint, "word", max_tokens=5)
    assert (cut.outcome, cut.finish_reason, cut.usage["completion_tokens"]) == (CUT, "length", 5)
    refused = asked(endpoint, "word " * 60_000)
    assert (refused.outcome, refused.status) == (REFUSED, 400)


def test_a_reply_names_its_model_and_has_no_thinking_tokens(endpoint):
    reply = asked(endpoint, "word")
    assert reply.outcome == ANSWERED
    assert reply.model == endpoint.model
    assert reply.usage["prompt_tokens"] > 0
    assert not reply.usage.get("reasoning_tokens")


def test_the_same_seed_makes_the_same_model_and_another_seed_a_different_one(tmp_path):
    pytest.importorskip("gguf")
    pytest.importorskip("tokenizers")
    files = [write_model(tmp_path / f"{n}.gguf", seed).read_bytes() for n, seed in enumerate((3, 3, 4))]
    assert files[0] == files[1] != files[2]
    assert len(files[0]) < 2**21
