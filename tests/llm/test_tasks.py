"""What calls would cost, computed by hand: 100 calls of 400 characters each."""

from __future__ import annotations

import pytest

from audit.llm.calls import Call
from audit.llm.tasks import SAMPLE_SIZE, CallRates, StageCost, estimate_figures, estimate_text, rates_from_sample, stage_cost


def call(length: int) -> Call:
    texts = ("x" * 100, "x" * (length - 100))
    return Call({"messages": [{"content": text} for text in texts]}, "q1", "judge")


def test_calls_and_their_characters_are_counted_and_the_longest_is_kept() -> None:
    cost = stage_cost("judge", (call(length) for length in (400, 900, 300, *[400] * 9)), written=50)
    assert (cost.calls, cost.characters) == (12, 400 + 900 + 300 + 9 * 400)
    assert cost.longest == call(900)
    assert cost.sample[:3] == (call(400), call(900), call(300))
    assert len(cost.sample) == SAMPLE_SIZE


def test_without_an_endpoint_tokens_are_estimated_by_a_rule_of_thumb_and_the_time_is_unknown() -> None:
    figures = estimate_figures([StageCost("judge", 100, 40_000, written=50)], CallRates(), 8)
    assert figures["stages"] == [{"stage": "judge", "calls": 100, "prompt_tokens": 40_000 / 4, "reply_tokens": 100 * 50}]
    assert figures["seconds"] is None
    assert "Without an endpoint the time is unknown" in estimate_text([StageCost("judge", 100, 40_000)], CallRates(), 8)


def test_a_few_calls_give_rates_for_tokens_and_time() -> None:
    rates = rates_from_sample([call(400), call(600)], prompt_tokens=200, completion_tokens=30, latency_s=2.0)
    assert rates == CallRates(characters_per_token=500 / 200, written=30, latency_s=2.0)
    figures = estimate_figures([StageCost("judge", 100, 40_000, written=50)], rates, 8)
    assert figures["stages"][0] | {"stage": "judge"} == {
        "stage": "judge", "calls": 100, "prompt_tokens": 16_000, "reply_tokens": 3_000,
    }  # fmt: skip
    assert figures["seconds"] == 100 * 2.0 / 8


@pytest.mark.parametrize(
    ("calls", "latency_s", "text"),
    [(1, 1.0, "About 1 min,"), (60, 30.0, "About 30 min,"), (7_200, 1.0, "About 2.0 hours,"), (3_600, 1.0, "About 1.0 hours,")],
)
def test_a_time_below_an_hour_is_given_in_minutes(calls: int, latency_s: float, text: str) -> None:
    assert text in estimate_text([StageCost("judge", calls, 400 * calls)], CallRates(latency_s=latency_s), 1)
