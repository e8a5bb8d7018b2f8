"""Thinking before a reply: off unless it is asked for, on with a budget of its own; the stand-in behaves like Qwen3."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.errors import AuditError
from audit.pipeline.generation.model_generator import evidence_room
from audit.pipeline.judging.parse import load_prompts, read_verdict
from audit.pipeline.llm.calls import ANSWERED
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.probe import CheckedEndpoint, probe_endpoint
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.runner import run_calls
from audit.release.journal_files import Reply, first_replies
from tests.pipeline.llm.helpers import QUICK
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.llm.thinking import PARSED, RAW, UNPARSED
from tests.support.loading import load
from tests.support.tiny import release_from

BUDGET = 60
TEXTS = {"question": "When may I travel?", "answer_a": "After six months.", "answer_b": "After a year."}


def probed(server: FaultServer, thinking: int) -> CheckedEndpoint:
    return asyncio.run(probe_endpoint(Endpoint(server.url, "judge", thinking=thinking), QUICK))


def refusal(server: FaultServer, thinking: int) -> str:
    with pytest.raises(AuditError) as error:
        probed(server, thinking)
    return str(error.value)


def prompt(thinking: int) -> Prompt:
    return replace(load_prompts()["structured"], thinking=thinking)


def verdict_of(server: FaultServer, thinking: int) -> Reply:
    replies: list[Reply] = []
    asked, endpoint = [prompt(thinking).call("judge", "q1", TEXTS)], Endpoint(server.url, "judge")
    asyncio.run(run_calls(asked, [endpoint], replies.append, readable=lambda *_: True, limits=QUICK))
    return replies[-1]


@pytest.mark.parametrize("served", [PARSED, UNPARSED, RAW])
def test_it_is_asked_not_to_think_unless_the_setting_says_so(served):
    with fault_server(hybrid=served) as server:
        assert probed(server, 0).endpoint.model == "judge"
        reply = verdict_of(server, 0)
        assert [body["chat_template_kwargs"] for body in server.bodies] == [{"enable_thinking": False}] * 2
        assert all("thinking_token_budget" not in body for body in server.bodies)
    assert (reply.outcome, reply.usage["reasoning_tokens"]) == (ANSWERED, 0)
    assert "<think>" not in (reply.text or "")


@pytest.mark.parametrize("served", [PARSED, RAW])
def test_with_a_budget_it_thinks_first_and_the_verdict_is_read(served):
    with fault_server(hybrid=served) as server:
        probed(server, BUDGET)
        reply = verdict_of(server, BUDGET)
        body = server.bodies[-1]
    assert body["chat_template_kwargs"] == {"enable_thinking": True}
    assert (body["thinking_token_budget"], body["max_tokens"]) == (BUDGET, prompt(0).max_tokens + BUDGET)
    assert read_verdict(reply, "structured").label is not None
    assert reply.usage["completion_tokens"] > 40


def test_thinking_ends_where_its_budget_does():
    with fault_server(hybrid=PARSED, thoughts=100_000) as server:
        probed(server, BUDGET)
        reply = verdict_of(server, BUDGET)
    assert (reply.outcome, reply.usage["reasoning_tokens"]) == (ANSWERED, BUDGET)
    assert read_verdict(reply, "structured").label is not None


def test_a_server_that_knows_no_budget_may_think_without_end_and_is_refused():
    with fault_server(hybrid=RAW, thoughts=100_000) as server:
        message = refusal(server, BUDGET)
        assert read_verdict(verdict_of(server, BUDGET), "structured").reason == "thinking only"
    assert "thinks without coming to an answer: 60 tokens are too few" in message
    assert "Nothing was asked." in message


def test_a_vllm_that_cannot_tell_thinking_from_the_reply_says_what_it_lacks():
    with fault_server(hybrid=UNPARSED) as server:
        assert "--reasoning-parser" in refusal(server, BUDGET)


def test_a_model_that_does_not_think_is_refused_where_thinking_was_asked_for():
    with fault_server() as server:
        assert "does not think although AUDIT_JUDGE_THINKING is 60" in refusal(server, BUDGET)


def test_the_budget_is_in_the_name_of_the_prompt_and_leaves_less_room_for_evidence():
    assert prompt(BUDGET).title == f"{prompt(0).title}, thinking in 60 tokens"
    assert evidence_room(prompt(0), 8_192) - evidence_room(prompt(1_000), 8_192) == 3_500


def test_the_setting_reaches_every_call_and_the_manifest(tmp_path: Path, monkeypatch):
    load(release_from(tmp_path, "q1 kidney topics=diet ab=DIVERGENT/high"), tmp_path / "data")
    with fault_server(hybrid=PARSED) as server:
        settings = {"DATA_DIR": tmp_path / "data", "JUDGE_URL": server.url, "JUDGE_MODEL": "judge", "JUDGE_THINKING": BUDGET}
        for name, value in settings.items():
            monkeypatch.setenv(f"AUDIT_{name}", str(value))
        assert main(["judge", "tiny", "--out", str(tmp_path / "again"), "--absence", "check"]) == 0
        assert {body["thinking_token_budget"] for body in server.bodies} == {BUDGET}
        monkeypatch.setenv("AUDIT_JUDGE_THINKING", "0")
        assert main(["judge", "tiny", "--out", str(tmp_path / "again"), "--absence", "check"]) == 2  # other prompts
    prompts = json.loads((tmp_path / "again" / "manifest.json").read_text())["judge_settings"]["prompts"]
    assert all(title.endswith(", thinking in 60 tokens") for title in prompts.values())
    assert all(reply.usage["reasoning_tokens"] for reply in first_replies(tmp_path / "again.journal", 9))
