"""What is found out about an endpoint before a run, and how it is said when it will not do."""

from __future__ import annotations

import asyncio

import pytest

from audit.errors import AuditError
from audit.llm.client import Endpoint
from audit.llm.probe import ProbeReport, find_model, probe, reach
from tests.llm.helpers import KEY, QUICK, call
from tests.support.llm.fault_server import FaultServer, fault_server


def probed(server: FaultServer, *calls, model: str = "judge", key: str = "") -> ProbeReport:
    return asyncio.run(probe(Endpoint(server.url, model, key), calls, QUICK))


def refused(server: FaultServer, *calls, model: str = "judge", key: str = "") -> str:
    with pytest.raises(AuditError) as error:
        probed(server, *calls, model=model, key=key)
    said = str(error.value)
    assert said.startswith(server.url)
    assert "Nothing was asked." in said
    assert KEY not in said
    return said


def test_a_sound_endpoint_is_described():
    with fault_server() as server:
        report = probed(server, call("word"), call("word " * 99))
    assert (report.model, report.server, report.context, report.calls) == ("judge", "vllm 0.33.0", 8_192, 2)
    # "Judge.", the words and "group:q1": 1 + 1 + 1 and 1 + 99 + 1
    assert (report.longest_prompt, report.prompt_tokens) == (101, (3 + 101) / 2)
    assert report.completion_tokens is not None
    assert 0 < report.latency_s < 1


def test_a_server_that_tells_no_version_is_known_by_its_replies():
    with fault_server(version="") as server:
        assert probed(server, call("word")).server == "fault-server-1"


def test_the_probe_asks_with_the_runs_own_way_of_switching_thinking_off():
    with fault_server() as server:
        probed(server, call("word", chat_template_kwargs={"enable_thinking": False}))
        assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}


def test_nobody_there():
    with fault_server() as gone:
        pass
    assert "cannot be reached: no connection" in refused(gone)


def test_another_address_altogether():
    with fault_server() as server, pytest.raises(AuditError, match="no OpenAI-compatible API"):
        asyncio.run(probe(Endpoint(f"{server.url}/deeper", "judge"), (), QUICK))


def test_a_key_that_is_not_taken():
    with fault_server(key="sk-right") as server:
        assert "Set AUDIT_JUDGE_KEY" in refused(server, key=KEY)


def test_a_model_that_is_not_there_is_said_with_those_that_are():
    with fault_server(models=("qwen3-32b", "gemma")) as server:
        said = refused(server, model="qwen3-23b")
    assert "no model 'qwen3-23b'. Did you mean 'qwen3-32b'?" in said
    assert "There is: qwen3-32b, gemma." in said


def test_the_only_model_needs_no_name_and_several_do():
    with fault_server(models=("only",)) as server:
        assert asyncio.run(find_model(Endpoint(server.url), QUICK)).model == "only"
    with fault_server(models=("one", "two")) as server, pytest.raises(AuditError, match="2 models: one, two"):
        asyncio.run(find_model(Endpoint(server.url), QUICK))


def test_whoever_tells_its_models_to_everybody_is_asked_a_word_with_the_key():
    with fault_server(models=("only",)) as server:
        assert asyncio.run(reach(Endpoint(server.url), QUICK)).model == "only"
        (asked,) = server.bodies
        assert (asked["model"], asked["max_tokens"]) == ("only", 1)
        server.always = "fault:401"
        with pytest.raises(AuditError, match=r"does not take the key \(status 401\). Nothing was asked. Set AUDIT_JUDGE_KEY."):
            asyncio.run(reach(Endpoint(server.url, "only", KEY), QUICK))
    with pytest.raises(AuditError, match="cannot be reached"):
        asyncio.run(reach(Endpoint(server.url), QUICK))


def test_a_server_that_ignores_the_schema():
    with fault_server(obeys=False) as server:
        said = refused(server)
    assert "does not obey a JSON schema" in said
    assert "it wrote 'A poem about the sea.'" in said


def test_a_model_that_thinks_although_it_was_told_not_to():
    with fault_server(thinks=True) as server:
        said = refused(server)
    assert "thinks before it answers" in said
    assert "3 tokens" in said  # Let me think.


def test_endless_white_space():
    with fault_server(always="fault:flood") as server:
        assert "disable_any_whitespace" in refused(server)


def test_a_prompt_that_is_too_long_together_with_its_answer():
    """110 words and 100 for the answer do not go into 200, which vLLM would only show by cutting the answer."""
    with fault_server(context=200) as server:
        said = refused(server, call("word"), call("word " * 108))
    assert "the longest prompt has 110 tokens and its answer may have 100, together more than the 200" in said


def test_a_server_that_fails_and_one_that_stays_busy(monkeypatch):
    monkeypatch.setattr("audit.llm.probe.PAUSE_S", 0.01)
    with fault_server(always="fault:500") as server:
        assert "did not answer a call on trial (probe): status 500: grammar rejected tokens" in refused(server)
    with fault_server(always="fault:503") as server:
        assert "The engine is currently busy" in refused(server)


def test_a_server_that_is_busy_for_a_moment_is_waited_for(monkeypatch):
    monkeypatch.setattr("audit.llm.probe.PAUSE_S", 0.01)
    with fault_server(always="fault:503*1") as server:
        assert probed(server).calls == 1
