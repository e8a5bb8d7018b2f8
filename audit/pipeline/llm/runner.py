"""Asks many calls of one or more endpoints, as fast as they answer, and stores everything that comes back."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, CUT, ENDPOINT_FAULTS, FAILED, REFUSED, Busy, Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import (
    BUSY,
    CUT_SHORT,
    FAILING,
    FAULT,
    FAULTS_TO_TRIP,
    NEXT_STEPS,
    READABLE,
    UNREACHABLE,
    UNREADABLE_OR_REFUSED,
    Limits,
    StoppedError,
    StopRules,
)
from audit.pipeline.llm.scheduling import CallAttempt, CallScheduler, EndpointWorker, next_attempt
from audit.release.journal_files import Reply

RESUME = "Replies received so far are stored; the same command continues from there."
UNREADABLE = "unreadable"
# Ticks over which the rate is taken: half a minute at two a second.
RATE_SAMPLES = 60


@dataclass
class CallStats:
    """Counts of calls by how they ended, each call once, and of the tokens of all attempts.

    answered (and readable), unreadable, cut, refused, failed   finished calls, by their last attempt
    attempts, busy     attempts that brought a reply; times that an endpoint had to be slowed down
    in_flight, waiting_again, concurrency   calls open now, calls that wait for another attempt, calls that may be open
    seconds, rate      since the start; finished calls per second over the last half minute or so
    lost               a sentence for each endpoint that was given up
    """

    answered: int = 0
    unreadable: int = 0
    cut: int = 0
    refused: int = 0
    failed: int = 0
    attempts: int = 0
    busy: int = 0
    in_flight: int = 0
    waiting_again: int = 0
    concurrency: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    lost: tuple[str, ...] = ()
    _samples: deque[tuple[float, int]] = field(
        init=False, default_factory=lambda: deque(maxlen=RATE_SAMPLES), repr=False, compare=False
    )

    @property
    def done(self) -> int:
        """Calls that will not be asked again in this run."""
        return self.answered + self.unreadable + self.cut + self.refused + self.failed

    def count_tokens(self, usage: Mapping[str, int]) -> None:
        """Add the tokens of one reply."""
        for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"):
            setattr(self, name, getattr(self, name) + usage.get(name, 0))

    def count_finished(self, reply: Reply, readable: bool) -> None:
        """Count a call by its last reply; each outcome has a field of its own name."""
        outcome = UNREADABLE if reply.outcome == ANSWERED and not readable else reply.outcome
        setattr(self, outcome, getattr(self, outcome) + 1)

    def sample(self, seconds: float) -> None:
        """Record how far the run is, for the rate."""
        self.seconds = seconds
        self._samples.append((seconds, self.done))
        first_seconds, first_done = self._samples[0]
        self.rate = (self.done - first_done) / (seconds - first_seconds) if seconds > first_seconds else 0.0


async def run_calls(
    calls: Iterable[Call],
    endpoints: Sequence[Endpoint],
    put: Callable[[Reply], None],
    *,
    readable: Callable[[Call, Reply], bool],
    progress: Callable[[CallStats], None] = lambda _: None,
    limits: Limits | None = None,
) -> CallStats:
    """Ask every call, and return the counts of how they ended.

    `calls` is read as needed and never kept in memory in full. `put` gets each reply before anything else uses it, including
    those that will be asked for again; it runs in the event loop and must be quick. `readable` tells whether the text of an
    answered call can be read. `progress` gets the counts every `limits.tick_s` and at the end.

    Cancelling the task (or Ctrl-C in asyncio.run) closes the connections of the open calls, which ends them on the server too.
    Raises StoppedError if a stop rule is broken or no endpoint is left.
    """
    if not endpoints:
        raise AuditError("No endpoint is set. Nothing was asked. Set AUDIT_JUDGE_URL.")
    run = _CallRun(calls, endpoints, put, readable, progress, limits or Limits())
    async with AsyncExitStack() as stack:
        for worker in run.workers:
            await stack.enter_async_context(worker.client)
        try:
            await run.finish()
        except BaseExceptionGroup as group:  # the first is the cause; the others are the calls that it cancelled
            raise group.exceptions[0] from None
        finally:
            run.report()
    return run.stats


class _CallRun:
    def __init__(
        self,
        calls: Iterable[Call],
        endpoints: Sequence[Endpoint],
        put: Callable[[Reply], None],
        readable: Callable[[Call, Reply], bool],
        progress: Callable[[CallStats], None],
        limits: Limits,
    ) -> None:
        # The limit is over all endpoints: each gets an equal part.
        max_open = math.ceil(limits.concurrency / max(1, len(endpoints)))
        self.workers = [EndpointWorker(number, endpoint, limits, max_open) for number, endpoint in enumerate(endpoints)]
        self.stats = CallStats()
        self._scheduler = CallScheduler(
            calls, len(endpoints), limits.max_retries_waiting, lambda worker: self.workers[worker].changed.set()
        )
        self._put, self._readable, self._progress, self._limits = put, readable, progress, limits
        self._rules = StopRules(limits)
        self._started = time.monotonic()
        self._tasks = asyncio.TaskGroup()
        self._finished = asyncio.Event()

    async def finish(self) -> None:
        """Run until every call has ended."""
        async with self._tasks as tasks:
            tasks.create_task(self._report_regularly())
            for worker in self.workers:
                tasks.create_task(self._drive(worker))

    def report(self) -> None:
        """Report how far the run is."""
        stats = self.stats
        stats.in_flight = sum(worker.open for worker in self.workers)
        stats.concurrency = sum(worker.allowed for worker in self.workers)
        stats.busy = sum(worker.limiter.episodes for worker in self.workers)
        stats.waiting_again = self._scheduler.retries_waiting
        stats.sample(time.monotonic() - self._started)
        self._progress(replace(stats))  # a copy: the counts go on

    async def _report_regularly(self) -> None:
        while not self._finished.is_set():
            self.report()
            self._give_up_silent()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.tick_s):
                    await self._finished.wait()

    # -- one endpoint ---------------------------------------------------------------------------------------------------

    async def _drive(self, worker: EndpointWorker) -> None:
        """Send the worker's calls as long as there may be any."""
        while not self._is_finished():
            await worker.wait_for_capacity()
            # Cleared before looking for a call: a change in the meantime must not be missed.
            worker.changed.clear()
            attempt = None if worker.lost else await self._scheduler.take(worker.number)
            if attempt is not None:
                worker.begin_call()
                self._tasks.create_task(self._ask(worker, attempt))
            elif worker.lost:
                return
            elif not self._is_finished():
                await worker.wait_for_change()
        self._wake_all()

    def _is_finished(self) -> bool:
        if not self._finished.is_set() and self._scheduler.empty and not any(worker.open for worker in self.workers):
            self._finished.set()
        return self._finished.is_set()

    def _wake_all(self) -> None:
        for worker in self.workers:
            worker.changed.set()

    async def _ask(self, worker: EndpointWorker, attempt: CallAttempt) -> None:
        try:
            reply = await worker.client.ask(attempt.call, attempt.attempt, attempt.body)
        finally:
            worker.open -= 1
        if reply.reached if isinstance(reply, Busy) else reply.status is not None:
            worker.heard_at = time.monotonic()
        if isinstance(reply, Busy):
            self._handle_busy(worker, attempt, reply)
        elif reply.outcome == REFUSED and reply.status in ENDPOINT_FAULTS:
            # Not stored as refused: another endpoint may have the right key or model.
            self._scheduler.put_back(attempt)
            self._lose(worker, f"refuses every call, {reply.error}. Check its address, AUDIT_JUDGE_MODEL and AUDIT_JUDGE_KEY")
        else:
            self._handle_reply(worker, attempt, reply)
        self._wake_all()

    # -- what came back -------------------------------------------------------------------------------------------------

    def _handle_busy(self, worker: EndpointWorker, attempt: CallAttempt, busy: Busy) -> None:
        now = time.monotonic()
        self._scheduler.put_back(attempt)
        worker.breaker.record_fault(BUSY if busy.reached else UNREACHABLE, now)
        if busy.reached:
            worker.limiter.record_busy(now, busy.after_s)
        # When a server goes away, all its open calls fail together; one pause is enough for all of them.
        elif now >= worker.limiter.not_before:
            worker.limiter.pause(now)
        self._lose_if_hopeless(worker, busy.after_s, busy.why)

    def _handle_reply(self, worker: EndpointWorker, attempt: CallAttempt, reply: Reply) -> None:
        # Stored before anything looks at it: no fault further down can lose what was paid for.
        self._put(reply)
        self.stats.attempts += 1
        self.stats.count_tokens(reply.usage)
        readable = reply.outcome == ANSWERED and self._readable(attempt.call, reply)
        following = next_attempt(attempt, reply, readable, self._limits)
        if following is None:
            self.stats.count_finished(reply, readable)
        else:
            self._scheduler.retry(following)
        self._update_health(worker, reply)
        # First attempts only: a retry has failed before, so retries would trip the rules on a healthy endpoint.
        if attempt.attempt == 1:
            self._apply_stop_rules(reply, readable)

    def _update_health(self, worker: EndpointWorker, reply: Reply) -> None:
        # A refused or unreadable reply is the fault of the call or the model: the endpoint works.
        if reply.outcome != FAILED:
            worker.breaker.record_answer()
            worker.limiter.record_answer(worker.open + 1)
            return
        now = time.monotonic()
        worker.breaker.record_fault(FAILING, now)
        if worker.breaker.tripped and now >= worker.limiter.not_before:
            worker.limiter.pause(now)
        self._lose_if_hopeless(worker, None, reply.error or "")

    def _apply_stop_rules(self, reply: Reply, readable: bool) -> None:
        kind = READABLE if readable else {CUT: CUT_SHORT, FAILED: FAULT}.get(reply.outcome, UNREADABLE_OR_REFUSED)
        sentence = self._rules.violation(kind, reply.error or f"'{(reply.text or '')[:80]}'")
        if sentence:
            raise StoppedError(f"Stopped: {sentence}. {RESUME}")

    def _lose_if_hopeless(self, worker: EndpointWorker, wait_s: float | None, why: str) -> None:
        sentence = worker.breaker.reason_to_give_up(time.monotonic(), wait_s, why)
        if sentence:
            self._lose(worker, sentence)

    def _give_up_silent(self) -> None:
        """Give up every endpoint that has not answered any of its open calls for too long."""
        for worker in self.workers:
            silent_s = time.monotonic() - worker.heard_at
            # A few calls may be slow through a fault of their own, above all the last of a run.
            if worker.open >= FAULTS_TO_TRIP and not worker.lost and silent_s > self._limits.silent_s:
                worker.client.abandon()
                self._lose(
                    worker, f"has answered none of its {worker.open} open calls for {silent_s:.0f} s. {NEXT_STEPS[FAILING]}"
                )

    def _lose(self, worker: EndpointWorker, sentence: str) -> None:
        """Give the endpoint up and hand its groups to the others; if there are no others, stop."""
        # Several of its open calls may fail at once.
        if worker.lost:
            return
        worker.lost = True
        self._scheduler.give_up(worker.number)
        self.stats.lost += (f"{worker.endpoint.base_url} {sentence}.",)
        if all(other.lost for other in self.workers):
            raise StoppedError(f"Stopped: no endpoint is left. {' '.join(self.stats.lost)} {RESUME}")
