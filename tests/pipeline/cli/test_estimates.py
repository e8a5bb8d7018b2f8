"""Tokens and time of calls that are not made yet, computed by hand: 100 calls of 400 characters each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audit.errors import AuditError
from audit.pipeline.cli.estimates import RULE, STORED, TRIED, CostEstimate, StageEstimate, duration, estimate
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


def test_without_a_reply_tokens_are_estimated_by_a_rule_of_thumb_and_the_time_is_unknown() -> None:
    cost = CostEstimate([StageEstimate(COST, 8)], 8)
    assert cost.record["stages"][0] == {
        "stage": "judge", "done": 0, "calls": 100, "prompt_tokens": 40_000 / 4, "reply_tokens": 100 * 50, "seconds": None,
        "source": RULE,
    }  # fmt: skip
    assert (cost.record["seconds"], cost.record["source"]) == (None, RULE)
    assert "By rule of thumb: 4.0 characters per token.\nThe time is unknown." in cost.text


def test_replies_give_rates_for_tokens_and_time() -> None:
    made = [replied(400, 1, 100, 1.0), replied(600, 2, 150, 3.0)]
    stage = StageEstimate(COST, 8, STORED, made)
    assert stage.characters_per_token == (400 + 600) / (100 + 150)
    assert stage.record() | {"seconds": None} == {
        "stage": "judge", "done": 0, "calls": 100, "prompt_tokens": 10_000, "reply_tokens": 3_000, "seconds": None,
        "source": STORED,
    }  # fmt: skip
    assert stage.seconds == pytest.approx((1.0 + 3.0) / 2 * 100 / 8)
    text = CostEstimate([stage], 8).text
    assert "2 stored replies" in text
    assert "By stored replies: 4.0 characters per token, 2.00 s per call, at most 8 calls at once.\nIn all about 25 s." in text


def test_a_trial_of_fewer_calls_than_may_be_open_promises_no_more_than_it_measured() -> None:
    made = [replied(400, number, 100, 2.0) for number in range(4)]
    assert StageEstimate(COST, 8, TRIED, made).seconds == pytest.approx(2.0 * 100 / 4)


def test_a_server_that_reports_no_tokens_still_tells_the_time() -> None:
    stage = StageEstimate(COST, 8, TRIED, [(call(400), Reply("", CUT, latency_s=2.0))])
    assert (stage.characters_per_token, stage.record()["reply_tokens"], stage.latency_s) == (4.0, 5_000, 2.0)


@pytest.mark.parametrize(("stored", "source"), [(7, RULE), (8, STORED)])
def test_too_few_stored_replies_tell_nothing(stored: int, source: str) -> None:
    cost = replace(COST, stored=tuple(replied(400, number, 80, 1.0) for number in range(stored)))
    assert estimate(Settings(), "m", [cost], probe=False, sends="texts").stages[0].source == source


def test_stored_replies_that_were_refused_tell_nothing() -> None:
    cost = replace(COST, stored=tuple((call(400, number), Reply("", REFUSED)) for number in range(9)))
    assert estimate(Settings(), "m", [cost], probe=False, sends="texts").stages[0].source == RULE


@pytest.mark.flaky(reruns=2)  # of a time on a busy machine
def test_a_trial_measures_an_endpoint_at_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    """It works on two calls at once of 0.1 s each, so 40 calls take 2 s, however many are open."""
    with fault_server(delay_s=0.1, slots=2) as server:
        cost = stage_cost("judge", [short_call(f"Question {number}?") for number in range(40)])
        tried = estimate(settings(server.url), "judge", [cost], probe=True, sends="questions")
    assert "Sending up to 12 test prompts to 127.0.0.1:" in capsys.readouterr().err
    assert tried.record["source"] == TRIED
    assert tried.record["seconds"] == pytest.approx(2.0, rel=0.5)
    assert "40 prompts with questions." in tried.text


def test_an_endpoint_that_refuses_every_call_ends_the_trial() -> None:
    with fault_server(key="sk-right") as server, pytest.raises(AuditError, match="does not accept the key"):
        estimate(settings(server.url), "judge", [stage_cost("judge", [short_call("Why?")])], probe=True, sends="a question")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (60, "60 s"), (600, "10 min"), (3_600, "1.0 hours"), (90_000, "25.0 hours")]
)
def test_a_time_is_given_in_the_unit_that_a_person_would_choose(seconds: float, text: str) -> None:
    assert duration(seconds) == text
