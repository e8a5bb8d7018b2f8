"""How hard an endpoint is pressed, and what stops a run."""

from __future__ import annotations

import pytest

from audit.llm.limits import (
    BUSY,
    CUT_SHORT,
    FAILING,
    FAULT,
    FINE,
    POISON,
    TRIP,
    UNREACHABLE,
    Gate,
    Health,
    Limits,
    StopRules,
)

LIMITS = Limits(start=10, cooldown_s=15, pause_s=0.5, refused_s=60, busy_s=600)


def test_a_burst_of_refusals_is_one_episode_and_takes_a_third_of_the_calls_away():
    gate = Gate(LIMITS, 64)
    for _ in range(30):
        gate.busy(now=100.0, after_s=None)
    assert (gate.limit, gate.episodes, gate.not_before) == (pytest.approx(10 * 0.7), 1, 100.5)


def test_a_second_episode_after_the_cooldown_takes_a_third_again():
    gate = Gate(LIMITS, 64)
    for now in (0.0, 14.9, 15.0):
        gate.busy(now, None)
    assert (gate.limit, gate.episodes) == (pytest.approx(10 * 0.7 * 0.7), 2)


def test_pauses_double_until_an_answer_comes_and_end_at_ten_seconds():
    gate, now, pauses = Gate(LIMITS, 64), 0.0, []
    for _ in range(7):
        gate.busy(now, None)
        pauses.append(gate.not_before - now)
        now = gate.not_before
    assert pauses == [0.5, 1, 2, 4, 8, 10, 10]
    gate.clean(in_flight=1)
    gate.busy(now, None)
    assert gate.not_before == now + 0.5


def test_what_the_server_asks_to_wait_is_waited():
    gate = Gate(LIMITS, 64)
    gate.busy(0.0, after_s=30.0)
    gate.busy(1.0, after_s=None)  # the rest of the burst does not shorten it
    assert gate.not_before == 30.0


def test_a_full_round_of_answers_allows_one_call_more_and_never_more_than_the_most():
    gate = Gate(LIMITS, 12)
    for _ in range(10):
        gate.clean(in_flight=10)
    assert gate.limit == pytest.approx(11, abs=0.1)
    for _ in range(1_000):
        gate.clean(in_flight=12)
    assert gate.limit == 12


def test_answers_while_few_calls_are_open_say_nothing_about_more():
    gate = Gate(LIMITS, 64)
    for _ in range(1_000):
        gate.clean(in_flight=3)
    assert gate.limit == 10


def test_the_last_call_is_never_taken_away():
    gate = Gate(LIMITS, 64)
    for now in range(0, 1_000, 20):
        gate.busy(float(now), None)
    assert gate.limit == 1


def test_an_endpoint_that_cannot_be_reached_is_tried_with_one_call_and_given_up_after_a_minute():
    health = Health(LIMITS)
    health.ill(UNREACHABLE, 0.0)
    assert health.tripped
    assert health.lost(59.9, None, "refused") is None
    assert "could not be reached for 60 s: refused" in (health.lost(60.0, None, "refused") or "")


def test_one_answer_and_all_is_forgiven():
    health = Health(LIMITS)
    for _ in range(TRIP):
        health.ill(FAILING, 0.0)
    assert health.tripped
    health.sound()
    assert not health.tripped
    assert health.lost(1e6, None, "") is None


def test_a_few_failures_far_apart_are_no_reason_to_give_up():
    health = Health(LIMITS)
    health.ill(FAILING, 0.0)
    health.ill(FAILING, 1_000.0)
    assert (health.tripped, health.lost(1_000.0, None, "500")) == (False, None)


def test_ten_failures_in_a_row_and_a_minute_of_them_are():
    health = Health(LIMITS)
    for second in range(TRIP):
        health.ill(FAILING, float(second))
    assert "every call with an error for 61 s: 500. Look at the server's log" in (health.lost(61.0, None, "500") or "")


def test_a_busy_endpoint_is_waited_for_ten_minutes_but_not_for_a_day():
    health = Health(LIMITS)
    health.ill(BUSY, 0.0)
    assert health.lost(599.0, 30.0, "full") is None
    assert "busy" in (health.lost(600.0, None, "full") or "")
    assert "asks to wait 86,400 s: quota" in (health.lost(1.0, 86_400.0, "quota") or "")


def test_a_busy_answer_shows_that_the_endpoint_is_back():
    health = Health(LIMITS)
    health.ill(UNREACHABLE, 0.0)
    health.ill(BUSY, 50.0)
    assert (health.tripped, health.lost(70.0, None, "")) == (False, None)


@pytest.mark.parametrize(
    ("kind", "allowed", "words"),
    [
        (POISON, 20, "could not be read"),  # 2 % of 1,000
        (CUT_SHORT, 10, "finish_reason length"),  # 1 %
        (FAULT, 100, "failed"),  # 10 %
    ],
)
def test_more_than_its_share_of_the_last_thousand_stops_the_run(kind, allowed, words):
    rules = StopRules(Limits())
    assert [rules.broken(kind, "x") for _ in range(allowed)] == [None] * allowed
    sentence = rules.broken(kind, "this one") or ""
    assert words in sentence
    assert f"{allowed + 1} of the last {allowed + 1} calls" in sentence
    assert "The last one: this one." in sentence


def test_what_is_more_than_a_thousand_calls_ago_does_not_count():
    rules = StopRules(Limits())
    for _ in range(20):
        assert rules.broken(POISON, "") is None
        for _ in range(49):
            assert rules.broken(FINE, "") is None
    assert rules.broken(POISON, "") is None  # the first of the 20 is out of the window by now
    assert rules.broken(POISON, "") is not None
