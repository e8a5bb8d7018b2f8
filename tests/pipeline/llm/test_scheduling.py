"""Which worker gets which call."""

from __future__ import annotations

import asyncio

from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.runner import CALLS_BETWEEN_YIELDS, CallAttempt, CallScheduler


def calls(*groups: str):
    return [Call({"n": number}, group, "structured") for number, group in enumerate(groups)]


def taken(scheduler: CallScheduler, *workers: int) -> list[str | None]:
    async def take() -> list[str | None]:
        attempts = [await scheduler.take(worker) for worker in workers]
        return [f"{attempt.call.group}{attempt.call.body['n']}" if attempt else None for attempt in attempts]

    return asyncio.run(take())


def test_a_worker_passes_over_the_group_of_another_and_wakes_it():
    woken: list[int] = []
    scheduler = CallScheduler(calls("p", "p", "p", "q"), 2, 10, woken.append)
    assert taken(scheduler, 0, 1) == ["p0", "q3"]
    assert woken == [0, 0]
    assert taken(scheduler, 0, 0, 0, 1) == ["p1", "p2", None, None]
    assert scheduler.empty


def test_a_call_that_is_put_back_is_the_next_of_its_worker():
    scheduler = CallScheduler(calls("p", "p", "p"), 2, 10, lambda _: None)
    assert taken(scheduler, 0) == ["p0"]
    scheduler.put_back(CallAttempt(calls("p")[0]))
    assert taken(scheduler, 0, 0, 0) == ["p0", "p1", "p2"]


def test_each_group_of_a_lost_worker_goes_to_one_of_the_others():
    scheduler = CallScheduler(calls("p", "q", "p", "q", "p", "r"), 3, 10, lambda _: None)
    assert taken(scheduler, 0, 1, 2) == ["p0", "q1", "r5"]  # p2, p4 wait for worker 0 and q3 for worker 1
    scheduler.give_up(0)
    assert taken(scheduler, 0, 2, 1, 1, 2) == [None, "p2", "q3", None, "p4"]


def test_the_second_pass_comes_last_or_when_too_many_calls_wait_for_it():
    def retry(scheduler: CallScheduler, number: int) -> None:
        scheduler.retry(CallAttempt(Call({"n": number}, "p", "structured"), attempt=2))

    scheduler = CallScheduler(calls("p", "p", "p"), 1, max_retries_waiting=2, wake=lambda _: None)
    assert taken(scheduler, 0) == ["p0"]
    retry(scheduler, 100)
    assert taken(scheduler, 0) == ["p1"]
    retry(scheduler, 101)
    assert scheduler.retries_waiting == 2
    assert taken(scheduler, 0, 0, 0, 0) == ["p100", "p2", "p101", None]


def test_passing_over_a_large_group_does_not_block_the_event_loop():
    """Worker 1 passes over 6,400 calls of the group of worker 0."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def take() -> CallAttempt | None:
        scheduler = CallScheduler(calls(*["p"] * 6_401, "q"), 2, 10, lambda _: None)
        await scheduler.take(0)
        other = asyncio.create_task(others())
        attempt = await scheduler.take(1)
        other.cancel()
        return attempt

    attempt = asyncio.run(take())
    assert attempt is not None
    assert attempt.call.group == "q"
    assert turns >= 6_400 // CALLS_BETWEEN_YIELDS
