"""Tokens and time of calls that are not made yet, computed by hand: 100 calls of 400 characters each."""

from __future__ import annotations

import pytest

from audit.pipeline.cli.estimates import (
    RULE,
    STORED,
    TRIED,
    CallRates,
    CostEstimate,
    duration,
    measured_rates,
    run_seconds,
    stage_estimates,
    stored_rates,
)
from audit.pipeline.llm.calls import ANSWERED, CUT, REFUSED
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.tasks import StageCost
from audit.release.journal_files import Reply
from tests.pipeline.llm.test_tasks import call

COST = StageCost("judge", 100, 40_000, written=50)
EIGHT = Limits(concurrency=8, start=8)


def test_without_a_reply_tokens_are_estimated_by_a_rule_of_thumb_and_the_time_is_unknown() -> None:
    stages = stage_estimates([COST], {}, EIGHT)
    assert stages[0].record() == {
        "stage": "judge", "done": 0, "calls": 100, "prompt_tokens": 40_000 / 4, "reply_tokens": 100 * 50, "seconds": None,
        "source": RULE,
    }  # fmt: skip
    assert CostEstimate(stages, 8).record["seconds"] is None
    assert "by a rule of thumb, 4.0 characters per token; the time is unknown." in CostEstimate(stages, 8).text


def test_replies_give_rates_for_tokens_and_time() -> None:
    calls = [call(400, 1), call(600, 2), call(900, 3), call(900, 4)]
    replies = {
        calls[0].key: Reply("", ANSWERED, usage={"prompt_tokens": 100, "completion_tokens": 20}, latency_s=1.0),
        calls[1].key: Reply("", CUT, usage={"prompt_tokens": 150, "completion_tokens": 40}, latency_s=3.0),
        calls[2].key: Reply("", REFUSED),
    }
    rates = measured_rates([(one, replies[one.key]) for one in calls if one.key in replies], TRIED)
    assert rates == CallRates((400 + 600) / (100 + 150), (20 + 40) / 2, (1.0 + 3.0) / 2, source=TRIED, calls=2)
    (stage,) = stage_estimates([COST], {"judge": rates}, EIGHT)
    assert (stage.prompt_tokens, stage.reply_tokens) == (10_000, 3_000)
    assert stage.seconds == pytest.approx(2.0 * 100 / 8)


def test_a_server_that_reports_no_tokens_still_tells_the_time() -> None:
    rates = measured_rates([(call(400), Reply("", ANSWERED, latency_s=2.0))], TRIED)
    assert (rates.characters_per_token, rates.written, rates.latency_s, rates.source) == (4.0, None, 2.0, TRIED)


def test_a_stage_without_replies_takes_the_characters_per_token_of_another() -> None:
    rates = {"absence": CallRates(5.0, 2.0, 0.5, source=STORED, calls=20)}
    absence, judge = stage_estimates([StageCost("absence", 10, 4_000), COST], rates, EIGHT)
    assert (absence.prompt_tokens, absence.reply_tokens) == (800, 20)
    assert (judge.prompt_tokens, judge.reply_tokens, judge.seconds) == (8_000, 5_000, None)


def test_too_few_stored_replies_tell_nothing() -> None:
    stored = tuple((call(400, n), Reply(call(400, n).key, ANSWERED, usage={"prompt_tokens": 80})) for n in range(8))
    assert stored_rates(StageCost("judge", stored=stored[:7])) is None
    rates = stored_rates(StageCost("judge", stored=stored))
    assert rates is not None
    assert (rates.characters_per_token, rates.source, rates.calls) == (5.0, STORED, 8)


@pytest.mark.parametrize(
    ("calls", "rates", "limits", "seconds"),
    [
        (3, CallRates(latency_s=2.0), EIGHT, 2.0),  # one round, not full
        (80, CallRates(latency_s=2.0), EIGHT, 10 * 2.0),
        (80, CallRates(latency_s=2.0, per_s=2.0), EIGHT, 80 / 2.0),  # it works on four at once, whatever is sent
        # 2, 3 and 4 at once, then 5 at once: rounds of one second, and 6 calls that take 6 / 5 of it
        (2 + 3 + 4 + 6, CallRates(latency_s=1.0), Limits(concurrency=5, start=2), 3 + 6 / 5),
        (0, CallRates(latency_s=1.0), EIGHT, 0.0),
    ],
)
def test_the_time_of_a_run(calls: int, rates: CallRates, limits: Limits, seconds: float) -> None:
    assert run_seconds(calls, rates, limits) == pytest.approx(seconds)


def test_several_endpoints_begin_with_several_times_the_calls() -> None:
    limits = Limits(concurrency=64, start=16)
    assert run_seconds(64, CallRates(latency_s=1.0), limits, endpoints=4) == pytest.approx(1.0)
    alone = run_seconds(64, CallRates(latency_s=1.0), limits)
    assert alone is not None
    assert alone > 3  # 16, 17, 18 and the rest


def test_the_calls_that_an_endpoint_works_on_at_once() -> None:
    assert CallRates(latency_s=0.5, per_s=8.0).calls_at_once == 4
    assert CallRates(latency_s=0.5).calls_at_once is None
    stages = stage_estimates([COST], {"judge": CallRates(4.0, 10.0, 0.5, 8.0, TRIED, 12)}, EIGHT)
    text = CostEstimate(stages, 8).text
    assert "judge: measured on 12 test calls: 4.0 characters per token, 0.50 s per call; the endpoint processes about 4" in text
    assert "In all about 12 s." in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (60, "60 s"), (600, "10 min"), (3_600, "1.0 hours"), (90_000, "25.0 hours")]
)
def test_a_time_is_given_in_the_unit_that_a_person_would_choose(seconds: float, text: str) -> None:
    assert duration(seconds) == text
