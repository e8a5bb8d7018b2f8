"""How many calls an endpoint gets at once, and what stops a run."""

from __future__ import annotations

import pytest

from audit.pipeline.llm.limits import (
    BUSY,
    CUT_SHORT,
    FAILING,
    FAULT,
    FAULTS_TO_TRIP,
    READABLE,
    UNREACHABLE,
    UNREADABLE_OR_REFUSED,
    CircuitBreaker,
    ConcurrencyLimiter,
    Limits,
    StopRules,
)

LIMITS = Limits(start=10, cooldown_s=15, pause_s=0.5, refused_s=60, busy_s=600)


def test_a_burst_of_busy_replies_is_one_episode_and_lowers_the_limit_by_a_third():
    limiter = ConcurrencyLimiter(LIMITS, 64)
    for _ in range(30):
        limiter.record_busy(now=100.0, after_s=None)
    assert (limiter.limit, limiter.episodes, limiter.not_before) == (pytest.approx(10 * 0.7), 1, 100.5)


def test_a_second_episode_after_the_cooldown_lowers_the_limit_again():
    limiter = ConcurrencyLimiter(LIMITS, 64)
    for now in (0.0, 14.9, 15.0):
        limiter.record_busy(now, None)
    assert (limiter.limit, limiter.episodes) == (pytest.approx(10 * 0.7 * 0.7), 2)


def test_pauses_double_until_an_answer_comes_up_to_ten_seconds():
    limiter, now, pauses = ConcurrencyLimiter(LIMITS, 64), 0.0, []
    for _ in range(7):
        limiter.record_busy(now, None)
        pauses.append(limiter.not_before - now)
        now = limiter.not_before
    assert pauses == [0.5, 1, 2, 4, 8, 10, 10]
    limiter.record_answer(in_flight=1)
    limiter.record_busy(now, None)
    assert limiter.not_before == now + 0.5


def test_the_waiting_time_that_the_server_asks_for_is_kept():
    limiter = ConcurrencyLimiter(LIMITS, 64)
    limiter.record_busy(0.0, after_s=30.0)
    limiter.record_busy(1.0, after_s=None)  # the rest of the burst does not shorten it
    assert limiter.not_before == 30.0


def test_a_full_round_of_answers_allows_one_more_call_up_to_the_maximum():
    limiter = ConcurrencyLimiter(LIMITS, 12)
    for _ in range(10):
        limiter.record_answer(in_flight=10)
    assert limiter.limit == pytest.approx(11, abs=0.1)
    for _ in range(1_000):
        limiter.record_answer(in_flight=12)
    assert limiter.limit == 12


def test_answers_while_few_calls_are_open_do_not_raise_the_limit():
    limiter = ConcurrencyLimiter(LIMITS, 64)
    for _ in range(1_000):
        limiter.record_answer(in_flight=3)
    assert limiter.limit == 10


def test_the_limit_never_falls_below_one_call():
    limiter = ConcurrencyLimiter(LIMITS, 64)
    for now in range(0, 1_000, 20):
        limiter.record_busy(float(now), None)
    assert limiter.limit == 1


def test_an_unreachable_endpoint_gets_one_call_at_a_time_and_is_given_up_after_a_minute():
    breaker = CircuitBreaker(LIMITS)
    breaker.record_fault(UNREACHABLE, 0.0)
    assert breaker.tripped
    assert breaker.reason_to_give_up(59.9, None, "refused") is None
    assert "could not be reached for 60 s: refused" in (breaker.reason_to_give_up(60.0, None, "refused") or "")


def test_one_answer_resets_the_circuit_breaker():
    breaker = CircuitBreaker(LIMITS)
    for _ in range(FAULTS_TO_TRIP):
        breaker.record_fault(FAILING, 0.0)
    assert breaker.tripped
    breaker.record_answer()
    assert not breaker.tripped
    assert breaker.reason_to_give_up(1e6, None, "") is None


def test_a_few_failures_far_apart_are_not_a_reason_to_give_up():
    breaker = CircuitBreaker(LIMITS)
    breaker.record_fault(FAILING, 0.0)
    breaker.record_fault(FAILING, 1_000.0)
    assert (breaker.tripped, breaker.reason_to_give_up(1_000.0, None, "500")) == (False, None)


def test_ten_failures_in_a_row_over_a_minute_are_a_reason_to_give_up():
    breaker = CircuitBreaker(LIMITS)
    for second in range(FAULTS_TO_TRIP):
        breaker.record_fault(FAILING, float(second))
    assert "every call with an error for 61 s: 500. Look at the server's log" in (
        breaker.reason_to_give_up(61.0, None, "500") or ""
    )


def test_a_busy_endpoint_gets_ten_minutes_but_not_a_day():
    breaker = CircuitBreaker(LIMITS)
    breaker.record_fault(BUSY, 0.0)
    assert breaker.reason_to_give_up(599.0, 30.0, "full") is None
    assert "busy" in (breaker.reason_to_give_up(600.0, None, "full") or "")
    assert "asks to wait 86,400 s: quota" in (breaker.reason_to_give_up(1.0, 86_400.0, "quota") or "")


def test_a_busy_reply_shows_that_the_endpoint_is_back():
    breaker = CircuitBreaker(LIMITS)
    breaker.record_fault(UNREACHABLE, 0.0)
    breaker.record_fault(BUSY, 50.0)
    assert (breaker.tripped, breaker.reason_to_give_up(70.0, None, "")) == (False, None)


@pytest.mark.parametrize(
    ("kind", "allowed", "text"),
    [
        (UNREADABLE_OR_REFUSED, 20, "could not be read"),  # 2 % of 1,000
        (CUT_SHORT, 10, "finish_reason length"),  # 1 %
        (FAULT, 100, "failed"),  # 10 %
    ],
)
def test_more_than_its_share_of_the_last_thousand_stops_the_run(kind, allowed, text):
    rules = StopRules(Limits())
    assert [rules.violation(kind, "x") for _ in range(allowed)] == [None] * allowed
    sentence = rules.violation(kind, "this one") or ""
    assert text in sentence
    assert f"{allowed + 1} of the last {allowed + 1} calls" in sentence
    assert "The last one: this one." in sentence


def test_calls_before_the_last_thousand_do_not_count():
    rules = StopRules(Limits())
    for _ in range(20):
        assert rules.violation(UNREADABLE_OR_REFUSED, "") is None
        for _ in range(49):
            assert rules.violation(READABLE, "") is None
    assert rules.violation(UNREADABLE_OR_REFUSED, "") is None  # the first of the 20 has left the window by now
    assert rules.violation(UNREADABLE_OR_REFUSED, "") is not None
