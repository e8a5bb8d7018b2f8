"""Runs of many calls: how each of them ends, whatever the endpoints do."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, CUT, FAILED, REFUSED
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.runner import run_calls
from tests.pipeline.llm.helpers import LENIENT, QUICK, call, questions, readable, run
from tests.support.forked import Python
from tests.support.llm.fault_server import FaultServer, fault_server


def test_each_call_is_counted_once_and_each_reply_stored():
    calls = [call(f"pair {n} " + {0: "fault:500*1", 1: "fault:prose", 2: "fault:400"}.get(n % 10, "")) for n in range(100)]
    with fault_server(delay_s=0.005) as server:
        stats, replies = run(server, calls, replace(QUICK, **LENIENT))
    # of 100: 10 answered at the second attempt, 10 never readable (2 attempts), 10 refused, 70 at once
    assert (stats.answered, stats.unreadable, stats.refused, stats.failed, stats.cut) == (80, 10, 10, 0, 0)
    assert Counter(reply.outcome for reply in replies) == {ANSWERED: 80 + 20, FAILED: 10, REFUSED: 10}
    assert stats.attempts == len(replies) == 120
    assert stats.prompt_tokens == sum(reply.usage.get("prompt_tokens", 0) for reply in replies) > 0
    assert stats.in_flight == 0


def test_a_call_that_has_to_be_asked_again_waits_until_all_others_were_asked():
    calls = [call("fault:500*1 first"), *(call(f"pair {n}") for n in range(50))]
    with fault_server() as server:
        run(server, calls, QUICK)
        order = [body["messages"][-1]["content"] for body in server.bodies]
    assert "first" in order[-1]
    assert sum("first" in text for text in order) == 2


def test_a_text_at_its_token_limit_is_asked_for_once_more_with_a_higher_limit():
    with fault_server() as server:
        _, replies = run(server, [call("fault:length")], QUICK)
        assert [body["max_tokens"] for body in server.bodies] == [100, 200]
    assert [(reply.outcome, reply.attempt) for reply in replies] == [(CUT, 1), (CUT, 2)]


def test_an_unreadable_text_is_asked_for_once_more_with_a_higher_temperature_since_a_seed_changes_nothing_at_0():
    with fault_server() as server:
        run(server, [call("fault:prose")], QUICK)
        assert [(body["temperature"], body.get("seed")) for body in server.bodies] == [(0, None), (0.3, 1)]


def test_all_attempts_at_a_call_carry_its_key():
    with fault_server() as server:
        _, replies = run(server, [call("fault:length"), call("fault:500")], QUICK)
        assert server.keys == {call("fault:length").key: 2, call("fault:500").key: 3}
    assert Counter(reply.key for reply in replies) == server.keys


def test_no_more_calls_are_open_than_allowed():
    with fault_server(delay_s=0.02) as server:
        run(server, [call(f"pair {n}") for n in range(100)], replace(QUICK, concurrency=5, start=5))
        assert server.most_open == 5


def test_calls_are_read_only_as_they_are_needed():
    read, furthest = 0, 0

    def calls():
        nonlocal read
        for n in range(300):
            read += 1
            yield call(f"pair {n}")

    def put(_):
        nonlocal furthest, stored
        stored += 1
        furthest = max(furthest, read - stored)

    stored = 0
    with fault_server() as server:
        asyncio.run(run_calls(calls(), [Endpoint(server.url, "judge")], put, readable=readable, limits=QUICK))
    assert stored == 300
    assert furthest <= QUICK.concurrency + 1


def test_a_busy_endpoint_gets_fewer_calls_until_it_copes():
    limits = replace(QUICK, concurrency=32, start=32, cooldown_s=0.05)
    with fault_server(delay_s=0.02, capacity=6) as server:
        stats, replies = run(server, [call(f"pair {n}") for n in range(300)], limits)
        refusals = server.asked - 300
    assert (stats.answered, len(replies)) == (300, 300)  # nothing is lost, and no attempt is used up
    assert stats.busy >= 3
    assert stats.concurrency < 16
    assert refusals < 150


def test_retry_after_is_obeyed():
    with fault_server() as server:
        started = time.monotonic()
        run(server, [call("fault:503-after*1")], QUICK)
        assert time.monotonic() - started >= 1


def test_without_an_endpoint_nothing_is_asked():
    with pytest.raises(AuditError, match="AUDIT_JUDGE_URL"):
        asyncio.run(run_calls([call("x")], [], print, readable=readable))


def test_a_run_without_calls_ends_at_once():
    with fault_server() as server:
        assert run(server, [])[0].done == 0


def test_an_error_of_the_caller_is_raised_unchanged():
    def full(_):
        raise OSError("no space left on device")

    with fault_server() as server, pytest.raises(OSError, match="no space left"):
        asyncio.run(run_calls(questions(5, 5), [Endpoint(server.url, "judge")], full, readable=readable, limits=QUICK))


def test_cancelling_ends_the_open_calls_on_the_server_and_keeps_the_stored_replies():
    stored: list = []
    calls = [*questions(4, 5), *(call(f"fault:silent {n}") for n in range(50))]

    async def cancelled(server: FaultServer) -> None:
        endpoints = [Endpoint(server.url, "judge")]
        task = asyncio.create_task(run_calls(calls, endpoints, stored.append, readable=readable, limits=QUICK))
        while len(stored) < 20 or server.open < QUICK.concurrency:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while server.open:
            await asyncio.sleep(0.005)

    with fault_server() as server:
        asyncio.run(asyncio.wait_for(cancelled(server), 30))
        assert server.aborted == QUICK.concurrency
    assert [reply.outcome for reply in stored] == [ANSWERED] * 20


ENDLESS = """
import asyncio, sys
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.runner import run_calls
from tests.pipeline.llm.helpers import QUICK, call, readable

def put(reply):
    print(reply.key, flush=True)

calls = (call(f"pair {number}") for number in range(10**9))
try:
    asyncio.run(run_calls(calls, [Endpoint(sys.argv[1], "judge")], put, readable=readable, limits=QUICK))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_replies_received_before_ctrl_c_or_a_kill_are_stored(how):
    with fault_server(delay_s=0.02) as server:
        command = [sys.executable, "-c", ENDLESS, server.url]
        process = Python(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [process.stdout.readline().strip() for _ in range(50)]
        os.kill(process.pid, how)
        rest, errors = process.stdout.read(), process.stderr.read()
        process.wait(timeout=20)
        time.sleep(0.2)
        answered, asked = {*lines, *rest.split()} - {"stopped"}, set(server.keys)
        assert server.open == 0
    assert len(asked - answered) <= QUICK.concurrency
    assert ("stopped" in rest, errors) == (how == signal.SIGINT, "")


# -- progress --------------------------------------------------------------------------------------------------------------


def test_progress_is_reported_during_the_run_and_at_the_end():
    reports: list = []
    with fault_server(delay_s=0.03) as server:
        asyncio.run(
            run_calls(
                questions(5, 20), [Endpoint(server.url, "judge")], lambda _: None,
                readable=readable, progress=reports.append, limits=QUICK,
            )
        )  # fmt: skip
    assert len(reports) >= 4
    assert [stats.done for stats in reports] == sorted(stats.done for stats in reports)
    assert max(stats.in_flight for stats in reports) == QUICK.concurrency
    assert (reports[-1].done, reports[-1].in_flight, reports[-1].waiting_again) == (100, 0, 0)
    assert 0 < reports[-1].rate < 8 / 0.03 * 1.1
