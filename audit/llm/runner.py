"""Asks many calls of one or more endpoints: as fast as they answer, each call to its end, everything stored that came back."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress

from audit.errors import AuditError
from audit.llm.calls import ANSWERED, CUT, FAILED, REFUSED, Call, Reply
from audit.llm.client import Client, Endpoint
from audit.llm.limits import (
    BUSY,
    CUT_SHORT,
    FAILING,
    FAULT,
    FINE,
    POISON,
    UNREACHABLE,
    Gate,
    Health,
    Limits,
    StoppedError,
    StopRules,
)
from audit.llm.queues import Queues
from audit.llm.responses import ENDPOINT_FAULTS, Busy
from audit.llm.retries import Job, another
from audit.llm.tally import Tally

GO_ON = "What came back is stored, and the same command goes on from there."


async def run_calls(
    calls: Iterable[Call],
    endpoints: Sequence[Endpoint],
    put: Callable[[Reply], None],
    *,
    readable: Callable[[Call, Reply], bool],
    progress: Callable[[Tally], None] = lambda _: None,
    limits: Limits | None = None,
) -> Tally:
    """Ask every call, and return what became of them.

    `calls` is read as it is needed and never whole. `put` gets each reply before anything else is done with it, attempts
    that will be made again included; it is called in the event loop and must be quick. `readable` says whether an answered
    call's text can be read. `progress` gets the counts every `limits.tick_s` and at the end.

    Cancelling the task (or Ctrl-C in asyncio.run) closes the open calls' connections, which ends them on the server too.
    Raises StoppedError when a stop rule is broken or no endpoint is left.
    """
    if not endpoints:
        raise AuditError("No endpoint is set. Nothing was asked. Set AUDIT_JUDGE_URL.")
    run = _Run(calls, endpoints, put, readable, progress, limits or Limits())
    async with AsyncExitStack() as stack:
        for lane in run.lanes:
            await stack.enter_async_context(lane.client)
        try:
            await run.to_the_end()
        except BaseExceptionGroup as group:  # one cause is enough: the rest are what it stopped
            raise group.exceptions[0] from None
        finally:
            run.report()
    return run.tally


class _Lane:
    """One endpoint with its gate, its health and the calls that it has open."""

    def __init__(self, number: int, endpoint: Endpoint, limits: Limits, most: int) -> None:
        self.number, self.endpoint = number, endpoint
        self.client = Client(endpoint, limits)
        self.gate, self.health = Gate(limits, most), Health(limits)
        self.open = 0
        self.lost = False
        self.bell = asyncio.Event()

    @property
    def allowed(self) -> int:
        """Calls that may be open here now."""
        return 0 if self.lost else 1 if self.health.tripped else int(self.gate.limit)

    async def room(self) -> None:
        """Wait until another call may be sent."""
        while not self.lost:
            wait_s = self.gate.not_before - time.monotonic()
            if wait_s <= 0 and self.open < self.allowed:
                return
            self.bell.clear()
            await self.wait(wait_s if wait_s > 0 else None)

    async def wait(self, most_s: float | None = None) -> None:
        """Wait for the bell, or for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self.bell.wait()


class _Run:
    def __init__(
        self,
        calls: Iterable[Call],
        endpoints: Sequence[Endpoint],
        put: Callable[[Reply], None],
        readable: Callable[[Call, Reply], bool],
        progress: Callable[[Tally], None],
        limits: Limits,
    ) -> None:
        most = math.ceil(limits.concurrency / max(1, len(endpoints)))
        self.lanes = [_Lane(number, endpoint, limits, most) for number, endpoint in enumerate(endpoints)]
        self.tally = Tally()
        self._queues = Queues(calls, len(endpoints), limits.most_again, lambda lane: self.lanes[lane].bell.set())
        self._put, self._readable, self._progress, self._limits = put, readable, progress, limits
        self._rules = StopRules(limits)
        self._started = time.monotonic()
        self._tasks = asyncio.TaskGroup()
        self._end = asyncio.Event()

    async def to_the_end(self) -> None:
        """Until every call is done with."""
        async with self._tasks as tasks:
            tasks.create_task(self._tick())
            for lane in self.lanes:
                tasks.create_task(self._drive(lane))

    def report(self) -> None:
        """Tell how far the run is."""
        tally = self.tally
        tally.in_flight = sum(lane.open for lane in self.lanes)
        tally.concurrency = sum(lane.allowed for lane in self.lanes)
        tally.busy = sum(lane.gate.episodes for lane in self.lanes)
        tally.waiting_again = self._queues.waiting_again
        tally.sample(time.monotonic() - self._started)
        self._progress(tally.copy())

    async def _tick(self) -> None:
        while not self._end.is_set():
            self.report()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.tick_s):
                    await self._end.wait()

    # -- one endpoint ---------------------------------------------------------------------------------------------------

    async def _drive(self, lane: _Lane) -> None:
        """Send the lane's calls while there may be any."""
        while not self._over():
            await lane.room()
            lane.bell.clear()
            job = None if lane.lost else await self._queues.take(lane.number)
            if job is not None:
                lane.open += 1
                self._tasks.create_task(self._ask(lane, job))
            elif lane.lost:
                return
            elif not self._over():
                await lane.wait()
        self._ring()

    def _over(self) -> bool:
        if not self._end.is_set() and self._queues.empty and not any(lane.open for lane in self.lanes):
            self._end.set()
        return self._end.is_set()

    def _ring(self) -> None:
        for lane in self.lanes:
            lane.bell.set()

    async def _ask(self, lane: _Lane, job: Job) -> None:
        try:
            reply = await lane.client.ask(job.call, job.attempt, job.body)
        finally:
            lane.open -= 1
        if isinstance(reply, Busy):
            self._was_busy(lane, job, reply)
        elif reply.outcome == REFUSED and reply.status in ENDPOINT_FAULTS:
            self._queues.back(job)
            self._lose(
                lane, f"refuses every call, {reply.error}. See that its address, AUDIT_JUDGE_MODEL and AUDIT_JUDGE_KEY fit"
            )
        else:
            self._came_back(lane, job, reply)
        self._ring()

    # -- what came back -------------------------------------------------------------------------------------------------

    def _was_busy(self, lane: _Lane, job: Job, reply: Busy) -> None:
        now = time.monotonic()
        self._queues.back(job)
        lane.health.ill(BUSY if reply.reached else UNREACHABLE, now)
        if reply.reached:
            lane.gate.busy(now, reply.after_s)
        elif now >= lane.gate.not_before:
            lane.gate.pause(now)
        self._give_up_if_lost(lane, reply.after_s, reply.why)

    def _came_back(self, lane: _Lane, job: Job, reply: Reply) -> None:
        self._put(reply)
        self.tally.attempts += 1
        self.tally.count_tokens(reply.usage)
        readable = reply.outcome == ANSWERED and self._readable(job.call, reply)
        following = another(job, reply, readable, self._limits)
        if following is None:
            self.tally.settle(reply, readable)
        else:
            self._queues.again(following)
        self._feel(lane, reply)
        if job.attempt == 1:
            self._obey(reply, readable)

    def _feel(self, lane: _Lane, reply: Reply) -> None:
        if reply.outcome != FAILED:
            lane.health.sound()
            lane.gate.clean(lane.open + 1)
            return
        now = time.monotonic()
        lane.health.ill(FAILING, now)
        if lane.health.tripped and now >= lane.gate.not_before:
            lane.gate.pause(now)
        self._give_up_if_lost(lane, None, reply.error or "")

    def _obey(self, reply: Reply, readable: bool) -> None:
        kind = FINE if readable else {CUT: CUT_SHORT, FAILED: FAULT}.get(reply.outcome, POISON)
        sentence = self._rules.broken(kind, reply.error or f"'{(reply.text or '')[:80]}'")
        if sentence:
            raise StoppedError(f"Stopped: {sentence}. {GO_ON}")

    def _give_up_if_lost(self, lane: _Lane, wait_s: float | None, why: str) -> None:
        sentence = lane.health.lost(time.monotonic(), wait_s, why)
        if sentence:
            self._lose(lane, sentence)

    def _lose(self, lane: _Lane, sentence: str) -> None:
        """Give the endpoint up and hand its groups to the others; without others, stop."""
        if lane.lost:
            return
        lane.lost = True
        self._queues.give_up(lane.number)
        self.tally.lost += (f"{lane.endpoint.base_url} {sentence}.",)
        if all(other.lost for other in self.lanes):
            raise StoppedError(f"Stopped: no endpoint is left. {' '.join(self.tally.lost)} {GO_ON}")
