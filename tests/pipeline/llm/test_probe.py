"""What the probe finds out about an endpoint before a run, and its messages for an endpoint that is not suitable."""

from __future__ import annotations

import asyncio

import pytest

from audit.errors import AuditError
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.probe import CheckedEndpoint, probe_endpoint
from tests.pipeline.llm.helpers import KEY, QUICK, call
from tests.support.llm.fault_server import FaultServer, fault_server


def probed(server: FaultServer, longest: Call | None = None, *, model: str = "judge", key: str = "") -> CheckedEndpoint:
    return asyncio.run(probe_endpoint(Endpoint(server.url, model, key), QUICK, longest))


def refusal(server: FaultServer, longest: Call | None = None, *, model: str = "judge", key: str = "") -> str:
    with pytest.raises(AuditError) as error:
        probed(server, longest, model=model, key=key)
    message = str(error.value)
    assert message.startswith(server.url)
    assert "Nothing was asked." in message
    assert KEY not in message
    return message


def test_a_sound_endpoint_is_described():
    with fault_server() as server:
        report = probed(server, call("word " * 99))
        assert (report.endpoint.model, report.server, report.context) == ("judge", "vllm 0.33.0", 8_192)
        assert server.asked == 2, "whether it obeys a schema, and the longest call"
        assert server.bodies[1]["max_tokens"] == 1, "whether its prompt fits, which needs no reply"


def test_a_server_without_a_version_is_identified_by_its_replies():
    with fault_server(version="") as server:
        assert probed(server, call("word")).server == "fault-server-1"


def test_the_probe_asks_with_the_runs_own_way_of_switching_thinking_off():
    with fault_server() as server:
        probed(server)
        assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}


def test_an_endpoint_without_a_server():
    with fault_server() as gone:
        pass
    assert "cannot be reached: no connection" in refusal(gone)


def test_an_address_of_something_else():
    with fault_server() as server, pytest.raises(AuditError, match="not an OpenAI-compatible API"):
        asyncio.run(probe_endpoint(Endpoint(f"{server.url}/deeper", "judge"), QUICK))


def test_a_key_that_is_not_accepted():
    with fault_server(key="sk-right") as server:
        assert "Set AUDIT_JUDGE_KEY" in refusal(server, key=KEY)


def test_a_missing_model_is_reported_with_those_that_are_available():
    with fault_server(models=("qwen3-32b", "gemma")) as server:
        message = refusal(server, model="qwen3-23b")
    assert "no model 'qwen3-23b'. Did you mean 'qwen3-32b'?" in message
    assert "Available: qwen3-32b, gemma." in message


def test_the_only_model_needs_no_name_and_several_do():
    with fault_server(models=("only",)) as server:
        found = asyncio.run(probe_endpoint(Endpoint(server.url), QUICK, only_name=True))
        assert (found.endpoint.model, server.asked) == ("only", 0)
        assert probed(server, model="").endpoint.model == "only"
    with fault_server(models=("one", "two")) as server:
        assert "has 2 models. Available: one, two." in refusal(server, model="")


def test_a_server_that_lists_its_models_without_a_key_is_asked_with_the_key():
    with fault_server(always="fault:401") as server:
        assert "does not accept the key (status 401). Nothing was asked. Set AUDIT_JUDGE_KEY." in refusal(server, key=KEY)
        assert server.asked == 1


def test_a_server_that_ignores_the_schema():
    with fault_server(obeys=False) as server:
        message = refusal(server)
    assert "does not obey a JSON schema" in message
    assert "it wrote 'A poem about the sea.'" in message


def test_a_model_that_thinks_although_thinking_is_off():
    with fault_server(thinks=True) as server:
        message = refusal(server)
    assert "thinks before it answers" in message
    assert "3 tokens" in message  # Let me think.


def test_endless_white_space():
    with fault_server(always="fault:flood") as server:
        assert "disable_any_whitespace" in refusal(server)


def test_a_prompt_that_does_not_fit_into_the_context_with_its_answer():
    """110 words and 100 for the answer do not fit into 200; vLLM would only shorten the answer."""
    with fault_server(context=200) as server:
        message = refusal(server, call("word " * 108))
    assert "the longest prompt has 110 tokens and its answer may have 100, together more than the model's 200" in message


def test_a_server_that_fails_and_one_that_stays_busy(monkeypatch):
    monkeypatch.setattr("audit.pipeline.llm.probe.PAUSE_S", 0.01)
    with fault_server(always="fault:500") as server:
        assert "did not answer a trial call (probe): status 500: grammar rejected tokens" in refusal(server)
    with fault_server(always="fault:503") as server:
        assert "The engine is currently busy" in refusal(server)


def test_the_probe_waits_for_a_server_that_is_busy_for_a_moment(monkeypatch):
    monkeypatch.setattr("audit.pipeline.llm.probe.PAUSE_S", 0.01)
    with fault_server(always="fault:503*1") as server:
        assert probed(server).endpoint.model == "judge"
