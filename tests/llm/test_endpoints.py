"""Several endpoints, and endpoints that end a run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import groupby

import pytest

from audit.llm.client import Endpoint
from audit.llm.limits import StoppedError
from audit.llm.runner import run_calls
from tests.llm.helpers import KEY, LENIENT, QUICK, call, questions, readable, run
from tests.support.llm.fault_server import fault_server


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
