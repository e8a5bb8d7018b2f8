"""A trial of an endpoint: what a call takes, and on how many the endpoint works at once."""

from __future__ import annotations

import asyncio

import pytest

from audit.errors import AuditError
from audit.pipeline.cli.estimates import CallRates, try_calls
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import Limits
from tests.pipeline.llm.helpers import LENIENT, call
from tests.support.llm.fault_server import FaultServer, fault_server


def trial(server: FaultServer, count: int, concurrency: int) -> tuple[CallRates, int]:
    calls = [call(f"Question {number}?") for number in range(count)]
    limits = Limits(concurrency=concurrency, **LENIENT)
    rates, replies = asyncio.run(try_calls([Endpoint(server.url, "judge")], calls, limits))
    return rates, len(replies)


@pytest.mark.flaky(reruns=2)  # of a time on a busy machine
def test_an_endpoint_that_works_on_two_calls_at_once_is_known_by_its_time() -> None:
    with fault_server(delay_s=0.1, slots=2) as server:
        rates, _ = trial(server, 3 + 16, concurrency=8)
    assert rates.calls_at_once == 2
    assert rates.latency_s == pytest.approx(0.1, rel=0.5)
    assert rates.calls == 19


@pytest.mark.flaky(reruns=2)
def test_an_endpoint_that_takes_all_at_once_has_no_limit() -> None:
    with fault_server(delay_s=0.1) as server:
        rates, _ = trial(server, 3 + 12, concurrency=8)  # the last 4 would be a round with half of the calls
        assert (server.asked, server.most_open) == (3 + 8, 8)
    assert rates.per_s is None


def test_one_call_is_a_trial_of_the_time_alone() -> None:
    with fault_server(delay_s=0.05) as server:
        rates, replies = trial(server, 1, concurrency=8)
    assert (rates.calls, rates.per_s, replies) == (1, None, 1)


def test_an_endpoint_that_refuses_every_call_ends_the_trial() -> None:
    with fault_server(key="sk-right") as server, pytest.raises(AuditError, match="no endpoint is left"):
        trial(server, 4, concurrency=8)
