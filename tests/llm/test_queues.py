"""Which endpoint gets which call."""

from __future__ import annotations

import asyncio

from audit.llm.calls import Call
from audit.llm.queues import BREATH, Queues
from audit.llm.retries import Job


def calls(*groups: str):
    return [Call({"n": number}, group, "structured") for number, group in enumerate(groups)]


def dealt(queues: Queues, *lanes: int) -> list[str | None]:
    async def take() -> list[str | None]:
        jobs = [await queues.take(lane) for lane in lanes]
        return [f"{job.call.group}{job.call.body['n']}" if job else None for job in jobs]

    return asyncio.run(take())


def test_a_lane_reads_past_anothers_group_and_rings_for_it():
    rung: list[int] = []
    queues = Queues(calls("p", "p", "p", "q"), 2, 10, rung.append)
    assert dealt(queues, 0, 1) == ["p0", "q3"]
    assert rung == [0, 0]
    assert dealt(queues, 0, 0, 0, 1) == ["p1", "p2", None, None]
    assert queues.empty


def test_a_call_put_back_is_the_next_of_its_lane():
    queues = Queues(calls("p", "p", "p"), 2, 10, lambda _: None)
    assert dealt(queues, 0) == ["p0"]
    queues.back(Job(calls("p")[0]))
    assert dealt(queues, 0, 0, 0) == ["p0", "p1", "p2"]


def test_a_lost_lanes_groups_go_whole_to_the_others():
    queues = Queues(calls("p", "q", "p", "q", "p", "r"), 3, 10, lambda _: None)
    assert dealt(queues, 0, 1, 2) == ["p0", "q1", "r5"]  # p2, p4 wait for lane 0 and q3 for lane 1
    queues.give_up(0)
    assert dealt(queues, 0, 2, 1, 1, 2) == [None, "p2", "q3", None, "p4"]


def test_the_second_pass_comes_last_or_when_too_many_wait_for_it():
    def again(queues: Queues, number: int) -> None:
        queues.again(Job(Call({"n": number}, "p", "structured"), attempt=2))

    queues = Queues(calls("p", "p", "p"), 1, most_again=2, ring=lambda _: None)
    assert dealt(queues, 0) == ["p0"]
    again(queues, 100)
    assert dealt(queues, 0) == ["p1"]
    again(queues, 101)
    assert queues.waiting_again == 2
    assert dealt(queues, 0, 0, 0, 0) == ["p100", "p2", "p101", None]


def test_reading_past_a_large_group_leaves_the_loop_to_others_between():
    """Lane 1 reads past 6,400 calls of lane 0's group."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def take() -> Job | None:
        queues = Queues(calls(*["p"] * 6_401, "q"), 2, 10, lambda _: None)
        await queues.take(0)
        other = asyncio.create_task(others())
        job = await queues.take(1)
        other.cancel()
        return job

    job = asyncio.run(take())
    assert job is not None
    assert job.call.group == "q"
    assert turns >= 6_400 // BREATH
