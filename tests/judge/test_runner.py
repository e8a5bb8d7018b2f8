"""Many calls, each to its end: what becomes of them whatever the endpoints do."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import groupby

import pytest

from audit.errors import AuditError
from audit.judge.calls import ANSWERED, CUT, FAILED, REFUSED
from audit.judge.client import Endpoint
from audit.judge.limits import Limits, StoppedError
from audit.judge.runner import run_calls
from tests.judge.asking import KEY, LENIENT, QUICK, call, readable, run
from tests.support.llm.fault_server import fault_server
from tests.support.llm.faults import FAULTS, RUDE

# fault, how the call ends, how many replies are stored, how often the server was asked
EVERY_FAULT = """
    none            answered    1  1
    control         answered    1  1
    thinking        answered    1  1
    no-usage        answered    1  1
    surrogate       answered    1  1
    500*1           answered    2  2
    500             failed      3  3
    502             failed      3  3
    abort           failed      3  3
    cut-body*2      answered    3  3
    cut-body        failed      3  3
    reset           failed      3  3
    slow            failed      3  3
    silent          failed      3  3
    huge            failed      3  3
    bad-json        failed      3  3
    nested          failed      3  3
    no-choices      failed      3  3
    list            failed      3  3
    not-utf8        failed      3  3
    error-200       failed      3  3
    prose*1         answered    2  2
    prose           unreadable  2  2
    reasoning       unreadable  2  2
    blank           unreadable  2  2
    null            unreadable  2  2
    length*1        answered    2  2
    length          cut         2  2
    flood           cut         2  2
    400             refused     1  1
    422             refused     1  1
    503*2           answered    1  3
    429*2           answered    1  3
    503-after*1     answered    1  2
    503             stopped     0  -
    429             stopped     0  -
    429-day         stopped     0  1
    401             stopped     0  1
    403             stopped     0  1
    404             stopped     0  1
    redirect        stopped     0  1
"""


def ended(text: str, limits: Limits) -> tuple[str, int, int]:
    """(how the one call ended, replies stored, times asked)."""
    with fault_server() as server:
        stored: list = []
        try:
            tally = asyncio.run(
                run_calls([call(text)], [Endpoint(server.url, "judge")], stored.append, readable=readable, limits=limits)
            )
        except StoppedError:
            return "stopped", len(stored), server.asked
        (column,) = [name for name in ("answered", "unreadable", "cut", "refused", "failed") if getattr(tally, name)]
        assert tally.done == 1
        return column, len(stored), server.asked


@pytest.mark.parametrize("line", EVERY_FAULT.strip().splitlines(), ids=lambda line: line.split()[0])
def test_every_fault_ends_in_its_outcome(line):
    fault, outcome, stored, asked = line.split()
    found = ended(f"fault:{fault}" if fault != "none" else "well", replace(QUICK, busy_s=0.3) if asked == "-" else QUICK)
    assert found[:2] == (outcome, int(stored))
    assert asked == "-" or found[2] == int(asked)


def test_the_table_names_every_fault():
    assert {line.split()[0].partition("*")[0] for line in EVERY_FAULT.strip().splitlines()} == {"none", *FAULTS, *RUDE}


def test_each_call_is_counted_once_and_each_reply_stored():
    calls = [call(f"pair {n} " + {0: "fault:500*1", 1: "fault:prose", 2: "fault:400"}.get(n % 10, "")) for n in range(100)]
    with fault_server(delay_s=0.005) as server:
        tally, replies = run(server, calls, replace(QUICK, **LENIENT))
    # of 100: 10 answered at the second attempt, 10 never readable (2 attempts), 10 refused, 70 at once
    assert (tally.answered, tally.unreadable, tally.refused, tally.failed, tally.cut) == (80, 10, 10, 0, 0)
    assert Counter(reply.outcome for reply in replies) == {ANSWERED: 80 + 20, FAILED: 10, REFUSED: 10}
    assert tally.attempts == len(replies) == 120
    assert tally.prompt_tokens == sum(reply.usage.get("prompt_tokens", 0) for reply in replies) > 0
    assert tally.in_flight == 0


def test_what_has_to_be_asked_again_waits_until_all_others_were_asked():
    calls = [call("fault:500*1 first"), *(call(f"pair {n}") for n in range(50))]
    with fault_server() as server:
        run(server, calls, QUICK)
        order = [body["messages"][-1]["content"] for body in server.bodies]
    assert "first" in order[-1]
    assert sum("first" in text for text in order) == 2


def test_a_cut_text_is_asked_for_with_more_room_once():
    with fault_server() as server:
        _, replies = run(server, [call("fault:length")], QUICK)
        assert [body["max_tokens"] for body in server.bodies] == [100, 200]
    assert [(reply.outcome, reply.attempt) for reply in replies] == [(CUT, 1), (CUT, 2)]


def test_an_unreadable_text_is_drawn_anew_once_since_a_seed_alone_changes_nothing_at_temperature_0():
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


def test_calls_are_read_as_they_are_needed():
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


def test_a_busy_endpoint_is_asked_more_slowly_until_it_copes():
    limits = replace(QUICK, concurrency=32, start=32, cooldown_s=0.05)
    with fault_server(delay_s=0.02, capacity=6) as server:
        tally, replies = run(server, [call(f"pair {n}") for n in range(300)], limits)
        refusals = server.asked - 300
    assert (tally.answered, len(replies)) == (300, 300)  # nothing is lost, and no attempt is used up
    assert tally.busy >= 3
    assert tally.concurrency < 16
    assert refusals < 150


def test_retry_after_is_obeyed():
    with fault_server() as server:
        started = time.monotonic()
        run(server, [call("fault:503-after*1")], QUICK)
        assert time.monotonic() - started >= 1


def test_without_an_endpoint_nothing_is_asked():
    with pytest.raises(AuditError, match="AUDIT_JUDGE_URL"):
        asyncio.run(run_calls([call("x")], [], print, readable=readable))


def test_no_calls_are_soon_asked():
    with fault_server() as server:
        assert run(server, [])[0].done == 0


# -- several endpoints ----------------------------------------------------------------------------------------------------


def questions(number: int, pairs: int):
    return [call(f"pair {pair}", group=f"q{question}") for question in range(number) for pair in range(pairs)]


def test_a_questions_calls_all_go_to_one_endpoint_and_every_endpoint_has_work():
    with fault_server(delay_s=0.01) as one, fault_server(delay_s=0.01) as two, fault_server(delay_s=0.01) as three:
        servers = (one, two, three)
        tally, _ = run(servers, questions(12, 40), replace(QUICK, concurrency=12, start=4))
        asked = [set(server.groups) for server in servers]
    assert tally.answered == 12 * 40
    assert not asked[0] & asked[1] | asked[0] & asked[2] | asked[1] & asked[2]
    assert all(len(groups) >= 3 for groups in asked)


def test_an_endpoint_asks_question_after_question():
    with fault_server(delay_s=0.01) as one, fault_server(delay_s=0.01) as two:
        run((one, two), questions(8, 30), replace(QUICK, concurrency=4, start=2))
        for server in (one, two):
            # two calls are open at a time, so two questions overlap at the seam and nowhere else
            assert len([group for group, _ in groupby(server.groups)]) <= 2 * len(set(server.groups))


def test_groups_that_come_mixed_are_still_kept_together():
    mixed = [call(f"pair {pair}", group=f"q{question}") for pair in range(40) for question in range(12)]
    with fault_server(delay_s=0.005) as one, fault_server(delay_s=0.005) as two:
        tally, _ = run((one, two), mixed)
        assert not set(one.groups) & set(two.groups)
    assert tally.answered == 480


def test_a_dead_endpoint_hands_its_questions_over():
    with fault_server() as dead:
        pass
    with fault_server(delay_s=0.005) as alive:
        tally, replies = run((dead, alive), questions(10, 10))
        assert set(alive.groups) == {f"q{n}" for n in range(10)}
    assert (tally.answered, len(replies)) == (100, 100)
    (said,) = tally.lost
    assert said.startswith(f"{dead.url} could not be reached for")


def test_an_endpoint_that_forgets_its_model_hands_its_questions_over():
    with fault_server(delay_s=0.005, models=("another",)) as wrong, fault_server(delay_s=0.005) as right:
        tally, _ = run((wrong, right), questions(10, 10))
    assert tally.answered == 100
    assert "does not exist" in tally.lost[0]


def test_an_endpoint_that_dies_on_the_way_loses_no_call():
    with fault_server(delay_s=0.01) as alive, fault_server(delay_s=0.01) as dying:

        def calls():
            for number, each in enumerate(questions(20, 20)):
                if number == 200:
                    dying.capacity = 0
                    dying.always = "fault:reset"
                yield each

        limits = replace(QUICK, **LENIENT, attempts=5, busy_s=0.5)
        tally, _ = run((alive, dying), calls(), limits)
    assert tally.answered + tally.failed == 400
    assert tally.answered >= 380
    assert len(tally.lost) == 1


# -- stopping -------------------------------------------------------------------------------------------------------------


def stopped(server, calls, limits=QUICK, key=""):
    stored: list = []
    with pytest.raises(StoppedError) as error:
        asyncio.run(run_calls(calls, [Endpoint(server.url, "judge", key)], stored.append, readable=readable, limits=limits))
    return str(error.value), stored


def test_the_last_endpoint_gone_stops_the_run_and_says_so():
    with fault_server() as gone:
        pass
    said, stored = stopped(gone, questions(3, 3))
    assert "no endpoint is left" in said
    assert "could not be reached" in said
    assert "goes on from there" in said
    assert stored == []


def test_a_key_that_is_not_taken_stops_the_run_at_once_and_is_not_shown():
    with fault_server(key="sk-right") as server:
        said, stored = stopped(server, questions(50, 10), key=KEY)
        assert server.asked <= QUICK.concurrency
    assert "AUDIT_JUDGE_KEY" in said
    assert KEY not in said
    assert stored == []


def test_too_many_unreadable_replies_stop_the_run():
    with fault_server(obeys=False) as server:
        said, stored = stopped(server, questions(50, 10))
    assert "could not be read" in said
    assert "A poem about the sea." in said
    assert 21 <= len(stored) <= 21 + QUICK.concurrency


def test_too_many_cut_texts_stop_the_run_and_name_the_white_space():
    with fault_server(always="fault:flood") as server:
        said, stored = stopped(server, questions(50, 10))
    assert "disable_any_whitespace" in said
    assert 11 <= len(stored) <= 11 + QUICK.concurrency


def test_an_endpoint_that_fails_every_call_is_not_asked_a_million_times():
    with fault_server(always="fault:500") as server:
        said, _ = stopped(server, questions(1_000, 100))
        assert server.asked < 200
    assert "error" in said or "failed" in said


def test_what_a_caller_raises_comes_out_as_it_is():
    def full(_):
        raise OSError("no space left on device")

    with fault_server() as server, pytest.raises(OSError, match="no space left"):
        asyncio.run(run_calls(questions(5, 5), [Endpoint(server.url, "judge")], full, readable=readable, limits=QUICK))


def test_cancelling_ends_the_open_calls_on_the_server_and_keeps_what_was_stored():
    stored: list = []

    async def cancelled(url: str) -> None:
        task = asyncio.create_task(
            run_calls(
                questions(9, 9), [Endpoint(url, "judge")], stored.append, readable=readable, limits=replace(QUICK, read_s=9)
            )
        )
        while len(stored) < 20:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.1)

    with fault_server(delay_s=0.05) as server:
        asyncio.run(cancelled(server.url))
        assert server.open == 0
        assert server.aborted > 0
        assert 20 <= len(stored) < 81


ENDLESS = """
import asyncio, sys
from audit.judge.client import Endpoint
from audit.judge.runner import run_calls
from tests.judge.asking import QUICK, call, readable

def put(reply):
    print(reply.key, flush=True)

calls = (call(f"pair {number}") for number in range(10**9))
try:
    asyncio.run(run_calls(calls, [Endpoint(sys.argv[1], "judge")], put, readable=readable, limits=QUICK))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_came_back_before_ctrl_c_or_a_kill_is_stored(how):
    with fault_server(delay_s=0.02) as server:
        command = [sys.executable, "-c", ENDLESS, server.url]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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


# -- telling --------------------------------------------------------------------------------------------------------------


def test_progress_is_told_while_it_lasts_and_at_the_end():
    told: list = []
    with fault_server(delay_s=0.03) as server:
        asyncio.run(
            run_calls(
                questions(5, 20), [Endpoint(server.url, "judge")], lambda _: None,
                readable=readable, progress=told.append, limits=QUICK,
            )
        )  # fmt: skip
    assert len(told) >= 4
    assert [tally.done for tally in told] == sorted(tally.done for tally in told)
    assert max(tally.in_flight for tally in told) == QUICK.concurrency
    assert (told[-1].done, told[-1].in_flight, told[-1].waiting_again) == (100, 0, 0)
    assert 0 < told[-1].rate < 8 / 0.03 * 1.1


def test_json_that_is_put_is_json():
    with fault_server() as server:
        _, replies = run(server, [call("fault:surrogate"), call("fault:control"), call("fault:not-utf8")])
    for reply in replies:
        json.dumps(reply.text, ensure_ascii=False).encode()
        json.dumps(reply.error, ensure_ascii=False).encode()
