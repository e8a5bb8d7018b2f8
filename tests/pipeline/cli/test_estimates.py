"""Tokens and time of calls that are not made yet, computed by hand: 100 calls of 400 characters each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from audit.errors import AuditError
from audit.pipeline.cli.estimates import RULE, STORED, TRIED, estimate, estimate_text, stage_row
from audit.pipeline.llm.calls import ANSWERED, CUT, REFUSED, Call
from audit.pipeline.llm.tasks import StageCost, stage_cost
from audit.release.journal_files import Reply
from audit.settings import Settings
from tests.pipeline.llm.helpers import call as short_call
from tests.pipeline.llm.test_tasks import call
from tests.support.llm.fault_server import fault_server

COST = StageCost("judge", 100, 40_000, written=50)


def replied(length: int, number: int, prompt_tokens: int, latency_s: float) -> tuple[Call, Reply]:
    one = call(length, number)
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 30}
    return one, Reply(one.key, ANSWERED, usage=usage, latency_s=latency_s)


def settings(url: str, concurrency: int = 8) -> Settings:
    return replace(Settings(), judge_urls=(url,), judge_model="judge", judge_key="", judge_concurrency=concurrency)


def told(cost: StageCost, context: int | None = None) -> dict[str, Any]:
    return estimate(settings("http://127.0.0.1:1/v1"), "m", [cost], probe=False, sends="texts", context=context)


def test_without_a_reply_tokens_are_estimated_by_a_rule_of_thumb_and_the_time_is_unknown() -> None:
    record = told(COST)
    assert record["stages"] == [{
        "stage": "judge", "done": 0, "calls": 100, "prompt_tokens": 40_000 / 4, "reply_tokens": 100 * 50, "longest_prompt": 0,
        "seconds": None, "source": RULE, "measured": 0, "characters_per_token": 4.0, "latency_s": None,
    }]  # fmt: skip
    assert (record["seconds"], record["source"], record["concurrency"], record["sends"]) == (None, RULE, 8, "texts")
    _, row, last = estimate_text(record).splitlines()[:3]
    assert row.split() == ["judge", "0", "100", "10,000", "5,000", "4.0", "-", "-", "rule", "of", "thumb"]
    assert last.startswith("The time is unknown.")


def test_replies_give_rates_for_tokens_and_time() -> None:
    record = told(replace(COST, stored=(replied(400, 1, 100, 1.0), replied(600, 2, 150, 3.0))))
    (row,) = record["stages"]
    assert row["characters_per_token"] == (400 + 600) / (100 + 150)
    assert (row["prompt_tokens"], row["reply_tokens"], row["source"]) == (10_000, 3_000, STORED)
    # Two were measured, so no more than two at once are promised, although eight may be open
    assert row["seconds"] == pytest.approx((1.0 + 3.0) / 2 * 100 / 2)
    _, line, last = estimate_text(record).splitlines()[:3]
    assert line.split() == ["judge", "0", "100", "10,000", "3,000", "4.0", "2.00", "2", "min", "2", "stored", "replies"]
    assert last == "In all about 2 min, with at most 8 calls at once."


def test_no_more_calls_at_once_are_counted_on_than_may_be_open() -> None:
    stored = tuple(replied(400, number, 100, 2.0) for number in range(20))
    assert stage_row(replace(COST, stored=stored), 8)["seconds"] == pytest.approx(2.0 * 100 / 8)


def test_test_calls_come_before_stored_replies() -> None:
    row = stage_row(replace(COST, stored=(replied(400, 1, 100, 9.0),)), 8, [replied(400, 2, 200, 1.0)])
    assert (row["source"], row["latency_s"], row["prompt_tokens"]) == (TRIED, 1.0, 40_000 / 2)


def test_a_server_that_reports_no_tokens_still_tells_the_time() -> None:
    row = stage_row(COST, 8, [(call(400), Reply("", CUT, latency_s=2.0))])
    assert (row["characters_per_token"], row["reply_tokens"], row["latency_s"]) == (4.0, 5_000, 2.0)


def test_stored_replies_that_were_refused_tell_nothing() -> None:
    cost = replace(COST, stored=tuple((call(400, number), Reply("", REFUSED)) for number in range(9)))
    assert told(cost)["stages"][0]["source"] == RULE


def test_a_prompt_that_is_probably_too_long_for_the_context_is_told_in_one_sentence() -> None:
    """The 4,000 characters of a prompt are about 1,000 tokens, and the reply may have 100: together 1,100."""
    cost = stage_cost("judge", [short_call("x" * 3_985)])
    (sent, sentence) = told(cost, 1_099)["remarks"]
    assert sentence.startswith("Roughly, the longest prompt has 1,000 tokens and its answer may have 100, together more than ")
    assert sentence in estimate_text(told(cost, 1_099))
    assert told(cost, 1_100)["remarks"] == told(cost)["remarks"] == [sent]


@pytest.mark.flaky(reruns=2)  # of a time on a busy machine
def test_a_trial_measures_an_endpoint_at_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    """It works on two calls at once of 0.1 s each, so 40 calls take 2 s, however many are open."""
    with fault_server(delay_s=0.1, slots=2) as server:
        cost = stage_cost("judge", [short_call(f"Question {number}?") for number in range(40)])
        tried = estimate(settings(server.url), "judge", [cost], probe=True, sends="questions")
    assert "Sending up to 12 test prompts to 127.0.0.1:" in capsys.readouterr().err
    assert tried["source"] == TRIED
    assert tried["seconds"] == pytest.approx(2.0, rel=0.5)
    assert "40 prompts with questions." in estimate_text(tried)


def test_an_endpoint_that_refuses_every_call_ends_the_trial() -> None:
    with fault_server(key="sk-right") as server, pytest.raises(AuditError, match="does not accept the key"):
        estimate(settings(server.url), "judge", [stage_cost("judge", [short_call("Why?")])], probe=True, sends="a question")
