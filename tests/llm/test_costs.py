"""What asking would cost, by hand: 100 calls of 400 characters each."""

from __future__ import annotations

import pytest

from audit.llm.calls import Call
from audit.llm.costs import SAMPLE, Cost, Rates, cost_of, estimate_text, figures, rates_from


def call(length: int) -> Call:
    texts = ("x" * 100, "x" * (length - 100))
    return Call({"messages": [{"content": text} for text in texts]}, "q1", "judge")


def test_calls_and_their_characters_are_counted_and_the_longest_is_known() -> None:
    found = cost_of("judge", (call(length) for length in (400, 900, 300, *[400] * 9)), written=50)
    assert (found.calls, found.characters) == (12, 400 + 900 + 300 + 9 * 400)
    assert found.longest == call(900)
    assert found.sample[:3] == (call(400), call(900), call(300))
    assert len(found.sample) == SAMPLE


def test_tokens_go_by_the_rule_of_thumb_and_no_time_is_known_where_no_endpoint_was_tried() -> None:
    found = figures([Cost("judge", 100, 40_000, written=50)], Rates(), 8)
    assert found["stages"] == [{"stage": "judge", "calls": 100, "prompt_tokens": 40_000 / 4, "reply_tokens": 100 * 50}]
    assert found["seconds"] is None
    assert "not known without an endpoint" in estimate_text([Cost("judge", 100, 40_000)], Rates(), 8)


def test_a_few_calls_tell_tokens_and_time() -> None:
    rates = rates_from([call(400), call(600)], prompt_tokens=200, completion_tokens=30, latency_s=2.0)
    assert rates == Rates(characters_per_token=500 / 200, written=30, latency_s=2.0)
    found = figures([Cost("judge", 100, 40_000, written=50)], rates, 8)
    assert found["stages"][0] | {"stage": "judge"} == {
        "stage": "judge", "calls": 100, "prompt_tokens": 16_000, "reply_tokens": 3_000,
    }  # fmt: skip
    assert found["seconds"] == 100 * 2.0 / 8


@pytest.mark.parametrize(
    ("calls", "latency_s", "words"),
    [(1, 1.0, "About 1 min,"), (60, 30.0, "About 30 min,"), (7_200, 1.0, "About 2.0 hours,"), (3_600, 1.0, "About 1.0 hours,")],
)
def test_a_time_is_told_in_minutes_below_an_hour(calls: int, latency_s: float, words: str) -> None:
    assert words in estimate_text([Cost("judge", calls, 400 * calls)], Rates(latency_s=latency_s), 1)
