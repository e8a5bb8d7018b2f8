"""Several endpoints, and endpoints that end a run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import groupby

import pytest

from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import StoppedError
from audit.pipeline.llm.runner import run_calls
from tests.pipeline.llm.helpers import KEY, LENIENT, QUICK, call, questions, readable, run
from tests.support.llm.fault_server import fault_server


def test_the_calls_of_a_question_go_to_one_endpoint_and_every_endpoint_has_work():
    with fault_server(delay_s=0.01) as one, fault_server(delay_s=0.01) as two, fault_server(delay_s=0.01) as three:
        servers = (one, two, three)
        stats, _ = run(servers, questions(12, 40), replace(QUICK, concurrency=12, start=4))
        asked = [set(server.groups) for server in servers]
    assert stats.answered == 12 * 40
    assert not asked[0] & asked[1] | asked[0] & asked[2] | asked[1] & asked[2]
    assert all(len(groups) >= 3 for groups in asked)


def test_an_endpoint_asks_one_question_after_the_other():
    with fault_server(delay_s=0.01) as one, fault_server(delay_s=0.01) as two:
        run((one, two), questions(8, 30), replace(QUICK, concurrency=4, start=2))
        for server in (one, two):
            # two calls are open at a time, so two questions overlap at the seam and nowhere else
            assert len([group for group, _ in groupby(server.groups)]) <= 2 * len(set(server.groups))


def test_groups_that_arrive_mixed_are_kept_together():
    mixed = [call(f"pair {pair}", group=f"q{question}") for pair in range(40) for question in range(12)]
    with fault_server(delay_s=0.005) as one, fault_server(delay_s=0.005) as two:
        stats, _ = run((one, two), mixed)
        assert not set(one.groups) & set(two.groups)
    assert stats.answered == 480


def test_the_questions_of_an_unreachable_endpoint_go_to_the_others():
    with fault_server() as dead:
        pass
    with fault_server(delay_s=0.005) as alive:
        stats, replies = run((dead, alive), questions(10, 10))
        assert set(alive.groups) == {f"q{n}" for n in range(10)}
    assert (stats.answered, len(replies)) == (100, 100)
    (sentence,) = stats.lost
    assert sentence.startswith(f"{dead.url} could not be reached for")


def test_the_questions_of_an_endpoint_without_the_model_go_to_the_others():
    with fault_server(delay_s=0.005, models=("another",)) as wrong, fault_server(delay_s=0.005) as right:
        stats, _ = run((wrong, right), questions(10, 10))
    assert stats.answered == 100
    assert "does not exist" in stats.lost[0]


def test_no_call_is_lost_if_an_endpoint_dies_during_the_run():
    with fault_server(delay_s=0.01) as alive, fault_server(delay_s=0.01) as dying:

        def calls():
            for number, next_call in enumerate(questions(20, 20)):
                if number == 200:
                    dying.capacity = 0
                    dying.always = "fault:reset"
                yield next_call

        limits = replace(QUICK, **LENIENT, attempts=5, busy_s=0.5)
        stats, _ = run((alive, dying), calls(), limits)
    assert stats.answered + stats.failed == 400
    assert stats.answered >= 380
    assert len(stats.lost) == 1


# -- stopping -------------------------------------------------------------------------------------------------------------


def stopped(server, calls, limits=QUICK, key=""):
    stored: list = []
    with pytest.raises(StoppedError) as error:
        asyncio.run(run_calls(calls, [Endpoint(server.url, "judge", key)], stored.append, readable=readable, limits=limits))
    return str(error.value), stored


def test_the_loss_of_the_last_endpoint_stops_the_run_with_a_reason():
    with fault_server() as gone:
        pass
    message, stored = stopped(gone, questions(3, 3))
    assert "no endpoint is left" in message
    assert "could not be reached" in message
    assert "continues from there" in message
    assert stored == []


def test_a_key_that_is_not_accepted_stops_the_run_at_once_and_is_not_shown():
    with fault_server(key="sk-right") as server:
        message, stored = stopped(server, questions(50, 10), key=KEY)
        assert server.asked <= QUICK.concurrency
    assert "AUDIT_JUDGE_KEY" in message
    assert KEY not in message
    assert stored == []


def test_too_many_unreadable_replies_stop_the_run():
    with fault_server(obeys=False) as server:
        message, stored = stopped(server, questions(50, 10))
    assert "could not be read" in message
    assert "A poem about the sea." in message
    assert 21 <= len(stored) <= 21 + QUICK.concurrency


def test_too_many_texts_at_their_token_limit_stop_the_run_and_the_message_names_white_space():
    with fault_server(always="fault:flood") as server:
        message, stored = stopped(server, questions(50, 10))
    assert "disable_any_whitespace" in message
    assert 11 <= len(stored) <= 11 + QUICK.concurrency


def test_an_endpoint_that_fails_every_call_is_soon_given_up():
    with fault_server(always="fault:500") as server:
        message, _ = stopped(server, questions(1_000, 100))
        assert server.asked < 200
    assert "error" in message or "failed" in message


SILENT = replace(QUICK, silent_s=1.0, concurrency=32, start=16)


@pytest.mark.parametrize("fault", ["silent", "slow"])
def test_an_endpoint_that_answers_nothing_is_given_up_before_its_calls_time_out(fault):
    with fault_server(always=f"fault:{fault}") as hung:
        with pytest.raises(StoppedError, match=r"has answered none of its 16 open calls for \d+ s\. Look at the server's log"):
            run(hung, questions(2, 20), SILENT)
        assert hung.asked <= 16  # none was asked again


def test_the_calls_of_a_silent_endpoint_go_to_the_others_and_none_counts_as_failed():
    with fault_server(always="fault:silent") as hung, fault_server(delay_s=0.005) as alive:
        stats, replies = run((hung, alive), questions(20, 10), SILENT)
        assert 10 <= hung.aborted == hung.asked
    assert (stats.answered, stats.failed, len(replies)) == (200, 0, 200)
    assert "has answered none of its" in stats.lost[0]


def test_a_few_calls_without_an_answer_are_their_own_fault_and_the_endpoint_is_kept():
    calls = [*questions(2, 20), *(call(f"pair {number} fault:silent", group="q9") for number in range(3))]
    with fault_server() as server:
        # Long enough for the answered calls on a machine that has other work
        stats, _ = run(server, calls, replace(SILENT, read_s=5.0, attempts=1, **LENIENT))
    assert (stats.answered, stats.failed, stats.lost) == (40, 3, ())
