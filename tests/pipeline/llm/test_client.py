"""One attempt at one call, whatever the server does."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import tracemalloc
from datetime import UTC, datetime

import pytest

from audit.errors import AuditError
from audit.pipeline.llm.calls import Busy, retry_after_seconds
from audit.pipeline.llm.client import Client, Endpoint
from audit.release.journal_files import Reply
from tests.pipeline.llm.helpers import KEY, QUICK, ask, call
from tests.support.llm.fault_server import fault_server
from tests.support.llm.faults import CONNECTION_FAULTS, FAULTS, LARGE_FAULTS

ONE_ATTEMPT = """
    none         answered
    control      answered
    thinking     answered
    reasoning    answered
    prose        answered
    null         answered
    blank        answered
    no-usage     answered
    surrogate    answered
    declines     answered
    length       cut
    flood        cut
    400          refused
    401          refused
    403          refused
    404          refused
    422          refused
    redirect     refused
    500          failed
    502          failed
    abort        failed
    cut-body     failed
    reset        failed
    slow         failed
    silent       failed
    huge         failed
    bad-json     failed
    nested       failed
    no-choices   failed
    list         failed
    not-utf8     failed
    error-200    failed
    503          busy
    503-after    busy
    429          busy
    429-day      busy
    large-200    failed
    large-400    refused
    large-429    busy
    large-500    failed
    large-503    busy
    bomb-200     failed
    bomb-400     refused
    bomb-429     busy
    bomb-500     failed
    bomb-503     busy
"""


@pytest.fixture(scope="module")
def server():
    with fault_server() as running:
        yield running


def test_every_fault_of_one_attempt_has_its_outcome(server):
    expected = dict(line.split() for line in ONE_ATTEMPT.strip().splitlines())
    assert set(expected) == {"none", *FAULTS, *CONNECTION_FAULTS}
    outcomes = {}
    for fault in expected:
        reply = ask(server, f"fault:{fault}" if fault != "none" else "well")
        outcomes[fault] = "busy" if isinstance(reply, Busy) else reply.outcome
    assert outcomes == expected


@pytest.mark.parametrize("fault", LARGE_FAULTS)
def test_a_large_body_takes_little_memory_whatever_the_status_and_however_it_is_packed(server, fault):
    ask(server, "well")  # loads the library
    tracemalloc.start()
    ask(server, f"fault:{fault}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 4 MiB of a reply are kept in parts and joined, 64 KiB of an error; gzip is unpacked by the MiB. The body has 20 MiB.
    assert peak < (12 if fault.endswith("200") else 4) * 2**20


def test_the_status_decides_what_a_large_error_means_and_its_beginning_is_the_message(server):
    reply = ask(server, "fault:large-400")
    assert isinstance(reply, Reply)
    assert (reply.status, reply.error) == (400, f"status 400: {'x' * 500}")


def test_a_normal_reply_has_text_usage_model_and_server(server):
    reply = ask(server, "well")
    assert isinstance(reply, Reply)
    assert reply.key == call("well").key
    assert (reply.status, reply.finish_reason, reply.model, reply.server) == (200, "stop", "judge", "fault-server-1")
    # "Judge." and "well group:q1" are three words, of which the server calls half cached; it answers with five or so
    assert (reply.usage["prompt_tokens"], reply.usage["cached_tokens"], reply.usage["reasoning_tokens"]) == (3, 1, 0)
    assert reply.latency_s is not None
    assert reply.latency_s < 1


def test_thinking_is_never_the_answer(server):
    reply = ask(server, "fault:reasoning")
    assert isinstance(reply, Reply)
    assert reply.text == ""
    assert "thinking is on" in (reply.error or "")
    assert reply.usage["reasoning_tokens"] == 5


def test_a_reply_without_token_counts_has_none_rather_than_zeros(server):
    reply = ask(server, "fault:no-usage")
    assert isinstance(reply, Reply)
    assert reply.usage == {}


def test_half_a_surrogate_pair_can_be_written_to_a_file(server):
    reply = ask(server, "fault:surrogate")
    assert isinstance(reply, Reply)
    assert (reply.text or "").encode().startswith(b"\xef\xbf\xbd ")


def test_control_characters_arrive_unchanged(server):
    reply = ask(server, "fault:control")
    assert isinstance(reply, Reply)
    assert "\x01\t" in (reply.text or "")


def test_the_request_has_the_key_of_the_call_and_does_not_describe_this_machine(server):
    ask(server, "well", KEY)
    sent = {name.lower(): value for name, value in server.headers[-1].items()}
    assert sent["x-request-id"] == call("well").key
    assert sent["authorization"] == f"Bearer {KEY}"
    assert not [name for name in sent if name.startswith("x-stainless")]


def test_a_key_of_another_service_in_the_environment_is_not_sent(server, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "sk-of-another-service")
    ask(server, "well")
    assert "sk-of-another-service" not in str(server.headers[-1])


def test_the_key_is_in_no_log_no_error_and_no_repr(server, caplog):
    caplog.set_level(logging.DEBUG)
    asked = [ask(server, f"fault:{fault}", KEY) for fault in ("401", "500", "reset", "silent", "bad-json")]
    assert "Incorrect API key provided: ***" in str(asked[0])  # some servers repeat it
    assert caplog.records
    texts = [caplog.text, *map(str, asked), repr(Endpoint(server.url, "judge", KEY)), *(str(r.__dict__) for r in caplog.records)]
    assert not [text for text in texts if KEY in text]


def test_an_endpoint_without_a_server_is_not_reached():
    with fault_server() as gone:
        pass
    reply = ask(gone, "well")
    assert isinstance(reply, Busy)
    assert not reply.reached
    assert "no connection" in reply.why


def test_an_unknown_host_is_not_reached(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    async def once():
        async with Client(Endpoint("http://no-such-host.invalid/v1", "judge"), QUICK) as client:
            return await client.ask(call("well"))

    reply = asyncio.run(once())
    assert isinstance(reply, Busy)
    assert not reply.reached


def test_a_cancelled_call_is_ended_on_the_server():
    async def cancelled(url: str) -> None:
        async with Client(Endpoint(url, "judge"), QUICK) as client:
            task = asyncio.create_task(client.ask(call("fault:silent")))
            while not silent.open:
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.sleep(0.1)

    with fault_server() as silent:
        asyncio.run(cancelled(silent.url))
        assert silent.aborted == 1


@pytest.mark.parametrize(
    ("address", "base_url"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        ("https://api.example.org/llm/v1", "https://api.example.org/llm/v1"),
    ],
)
def test_an_address_may_leave_out_v1(address, base_url):
    assert Endpoint(address).base_url == base_url


@pytest.mark.parametrize("wrong", ["", "127.0.0.1:8000", "ftp://host/v1", "http://", "http://host:99999/v1", "http://[::1"])
def test_an_invalid_address_is_refused(wrong):
    with pytest.raises(AuditError, match="is not a valid URL"):
        Endpoint(wrong)


def test_a_password_in_an_address_is_refused_without_being_repeated():
    with pytest.raises(AuditError) as refused:
        Endpoint("http://user:hunter2@host/v1")
    assert "hunter2" not in str(refused.value)


def test_a_key_with_a_line_break_is_refused_without_being_repeated():
    with pytest.raises(AuditError) as refused:
        Endpoint("http://host/v1", key="sk-secret\nX-Other: 1")
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("Sat, 21 Nov 2026 10:00:30 GMT", 30),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("1 Jan 1 00:00:00 +2359", 0),
        ("1 Jan 99999999999 00:00:00", None),
        ("1 Jan 2026 00:00:00 +99999999999999", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_a_number_or_a_date(header, wait_s):
    assert retry_after_seconds(header, datetime(2026, 11, 21, 10, tzinfo=UTC)) == wait_s


def test_the_client_library_is_loaded_only_when_a_client_is_made():
    imports = "import sys, audit.pipeline.llm.runner, audit.pipeline.llm.probe"
    code = f"{imports}; print('openai' in sys.modules, 'aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False\n"
