"""Asks many calls of one or more endpoints, as fast as they answer, and stores everything that comes back."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, CUT, ENDPOINT_FAULTS, FAILED, REFUSED, Busy, Call
from audit.pipeline.llm.client import Client, Endpoint
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
    CircuitBreaker,
    ConcurrencyLimiter,
    Limits,
    StoppedError,
    StopRules,
)
from audit.release.journal_files import Reply

# -- which endpoint asks which call, and whether and how a call is asked again -------------------------------

# Calls that are passed over without letting the event loop run.
CALLS_BETWEEN_YIELDS = 64
# At temperature 0 another seed gives the same text again, so the second attempt at an unreadable one is warmer.
RETRY_TEMPERATURE = 0.3
TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class CallAttempt:
    """A call on its way to an endpoint. `body` is the body to send if it differs from the call's own."""

    call: Call
    attempt: int = 1
    body: Mapping[str, Any] | None = None
    widened: bool = False
    redrawn: bool = False


def next_attempt(attempt: CallAttempt, reply: Reply, readable: bool, limits: Limits) -> CallAttempt | None:
    """The next attempt after `reply`, or None if this was the last.

    A failed call is asked up to `limits.attempts` times. A text that reached its token limit is asked for once more with a
    higher one, an unreadable text once more with some randomness. A refused call would be refused again.
    """
    following = replace(attempt, attempt=attempt.attempt + 1)
    # The same request again: nothing about it was wrong.
    if reply.outcome == FAILED:
        return following if attempt.attempt < limits.attempts else None
    body = dict(attempt.call.body if attempt.body is None else attempt.body)
    if reply.outcome == CUT and not attempt.widened:
        wider = {name: int(body[name] * limits.wider) for name in TOKEN_LIMITS if body.get(name)}
        return replace(following, body=body | wider, widened=True)
    if reply.outcome == ANSWERED and not readable and not attempt.redrawn:
        # The number of the attempt as seed, so the same run asks the same again.
        warmer = {"seed": attempt.attempt, "temperature": max(RETRY_TEMPERATURE, body.get("temperature") or 0.0)}
        return replace(following, body=body | warmer, redrawn=True)
    return None


class EndpointWorker:
    """One endpoint with its concurrency limiter, its circuit breaker and its open calls."""

    def __init__(self, number: int, endpoint: Endpoint, limits: Limits, max_open: int) -> None:
        self.number, self.endpoint = number, endpoint
        self.client = Client(endpoint, limits)
        self.limiter, self.breaker = ConcurrencyLimiter(limits, max_open), CircuitBreaker(limits)
        self.open = 0
        self.heard_at = math.inf
        self.lost = False
        self.changed = asyncio.Event()

    @property
    def allowed(self) -> int:
        """Calls that may be open here now."""
        return 0 if self.lost else 1 if self.breaker.tripped else int(self.limiter.limit)

    def begin_call(self) -> None:
        """Count one more open call; silence is counted from the first of them."""
        self.heard_at = self.heard_at if self.open else time.monotonic()
        self.open += 1

    async def wait_for_capacity(self) -> None:
        """Wait until another call may be sent."""
        while not self.lost:
            wait_s = self.limiter.not_before - time.monotonic()
            if wait_s <= 0 and self.open < self.allowed:
                return
            self.changed.clear()
            await self.wait_for_change(wait_s if wait_s > 0 else None)

    async def wait_for_change(self, max_s: float | None = None) -> None:
        """Wait until something changes, at most so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max_s):
                await self.changed.wait()


class CallScheduler:
    """Distributes the calls of one iterator over workers, one worker for each endpoint, and reads no further ahead than needed.

    A group belongs to the worker that took its first call, so its prefix stays in one cache. A worker that looks for a
    call and meets those of another worker's group puts them into that worker's queue and calls `wake(worker)`. Calls that are
    asked again wait for a second pass at the end, or until `max_retries_waiting` of them wait.
    """

    def __init__(self, calls: Iterable[Call], workers: int, max_retries_waiting: int, wake: Callable[[int], None]) -> None:
        self._calls: Iterator[Call] = iter(calls)
        self._all_read = False
        self._queues: dict[int, deque[CallAttempt]] = {worker: deque() for worker in range(workers)}
        self._unassigned: deque[CallAttempt] = deque()
        self._retries: deque[CallAttempt] = deque()
        self._worker_of: dict[str, int] = {}
        self._lost: set[int] = set()
        self._max_retries_waiting, self._wake = max_retries_waiting, wake

    @property
    def retries_waiting(self) -> int:
        """Calls that wait for another attempt."""
        return len(self._retries)

    @property
    def empty(self) -> bool:
        """Whether nothing is left to ask, apart from what is in flight."""
        return self._all_read and not (self._retries or self._unassigned or any(self._queues.values()))

    async def take(self, worker: int) -> CallAttempt | None:
        """The worker's next call; None if nothing is available for it now."""
        if self._queues[worker]:
            return self._queues[worker].popleft()
        passed_over = 0
        while worker not in self._lost and (attempt := self._next()) is not None:
            owner = self._worker_of.setdefault(attempt.call.group, worker)
            if owner == worker:
                return attempt
            self._queues[owner].append(attempt)
            self._wake(owner)
            passed_over += 1
            if passed_over % CALLS_BETWEEN_YIELDS == 0:  # a group may have thousands of calls: do not block the event loop
                await asyncio.sleep(0)
                if self._queues[worker]:
                    return self._queues[worker].popleft()
        return None

    def _next(self) -> CallAttempt | None:
        if self._unassigned:
            return self._unassigned.popleft()
        # Retries come last: whatever made them fail has time to pass. A bound, because each is kept in memory.
        if len(self._retries) < self._max_retries_waiting and not self._all_read:
            call = next(self._calls, None)
            if call is not None:
                return CallAttempt(call)
            self._all_read = True
        return self._retries.popleft() if self._retries else None

    def retry(self, attempt: CallAttempt) -> None:
        """Queue a call for another attempt in the second pass."""
        self._retries.append(attempt)

    def put_back(self, attempt: CallAttempt) -> None:
        """Return a call that was not answered through no fault of its own: its worker takes it next."""
        owner = self._worker_of.get(attempt.call.group)
        (self._unassigned if owner is None else self._queues[owner]).appendleft(attempt)

    def give_up(self, worker: int) -> None:
        """Hand the groups of a lost worker over to the others."""
        self._lost.add(worker)
        # Without an owner, a group goes to the next worker that meets it.
        self._worker_of = {group: owner for group, owner in self._worker_of.items() if owner != worker}
        self._unassigned.extend(self._queues[worker])
        self._queues[worker].clear()


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
