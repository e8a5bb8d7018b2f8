"""Which endpoint asks which call, and whether and how a call is asked again."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from audit.pipeline.llm.calls import ANSWERED, CUT, FAILED, Call
from audit.pipeline.llm.client import Client, Endpoint
from audit.pipeline.llm.limits import CircuitBreaker, ConcurrencyLimiter, Limits
from audit.release.journal_files import Reply

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
