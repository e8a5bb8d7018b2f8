"""Which endpoint asks which call: whole groups stay together, and nothing is read ahead further than that needs."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from audit.llm.calls import Call
from audit.llm.retries import Job

BREATH = 64


class Queues:
    """Deals the calls of one iterator to lanes, one lane an endpoint.

    A group belongs to the lane that took its first call, so that its prefix stays in one cache. A lane that looks for work
    and meets calls of another's group puts them into that lane's queue; `ring(lane)` tells it. Calls that are asked again
    wait for a second pass at the end, or until `most_again` of them wait.
    """

    def __init__(self, calls: Iterable[Call], lanes: int, most_again: int, ring: Callable[[int], None]) -> None:
        self._calls: Iterator[Call] = iter(calls)
        self._read_all = False
        self._own: dict[int, deque[Job]] = {lane: deque() for lane in range(lanes)}
        self._homeless: deque[Job] = deque()
        self._again: deque[Job] = deque()
        self._pins: dict[str, int] = {}
        self._gone: set[int] = set()
        self._most_again, self._ring = most_again, ring

    @property
    def waiting_again(self) -> int:
        """Calls that wait for another attempt."""
        return len(self._again)

    @property
    def empty(self) -> bool:
        """Whether nothing is left to ask, apart from what is in flight."""
        return self._read_all and not (self._again or self._homeless or any(self._own.values()))

    async def take(self, lane: int) -> Job | None:
        """The lane's next job; None when there is none for it now."""
        if self._own[lane]:
            return self._own[lane].popleft()
        passed = 0
        while lane not in self._gone and (job := self._next()) is not None:
            owner = self._pins.setdefault(job.call.group, lane)
            if owner == lane:
                return job
            self._own[owner].append(job)
            self._ring(owner)
            passed += 1
            if passed % BREATH == 0:  # a group may have thousands of calls, and others are waiting for the loop
                await asyncio.sleep(0)
                if self._own[lane]:
                    return self._own[lane].popleft()
        return None

    def _next(self) -> Job | None:
        if self._homeless:
            return self._homeless.popleft()
        if len(self._again) < self._most_again and not self._read_all:
            call = next(self._calls, None)
            if call is not None:
                return Job(call)
            self._read_all = True
        return self._again.popleft() if self._again else None

    def again(self, job: Job) -> None:
        """Ask it once more in the second pass."""
        self._again.append(job)

    def back(self, job: Job) -> None:
        """It was not answered through no fault of its own: it is the next that its lane takes."""
        owner = self._pins.get(job.call.group)
        (self._homeless if owner is None else self._own[owner]).appendleft(job)

    def give_up(self, lane: int) -> None:
        """The lane is gone: its groups go whole to others."""
        self._gone.add(lane)
        self._pins = {group: owner for group, owner in self._pins.items() if owner != lane}
        self._homeless.extend(self._own[lane])
        self._own[lane].clear()
