"""How many calls an endpoint gets at once, when it is paused, and when a run of calls stops with a reason."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from audit.errors import AuditError


@dataclass(frozen=True)
class Limits:
    """The limits of a run of calls. Names that end in `_s` are seconds, names that end in `_share` shares in [0, 1].

    concurrency   calls open at once at most, over all endpoints; the run begins with `start`
    attempts      how often a call is asked at most if it fails (500, a timeout, an incomplete body)
    wider         a text that reached its token limit is asked for once more with this many times the tokens
    connect_s, read_s   read_s is far above the longest wait in a full queue: abandoning a call throws away its work
    cooldown_s    at most one reduction of the concurrency in this time; `pause_s` is the first pause, doubled until an answer
    silent_s      an endpoint that answers none of its open calls, ten or more, for this long is given up; one call among
                  answered ones may take read_s
    refused_s     an endpoint that cannot be reached, or fails every call, for this long is given up; busy_s: a busy one
    window        the last first attempts that are looked at. The run stops if more than unreadable_share of them were refused or
                  unreadable, more than cut_share reached their token limit, or more than failed_share failed
    max_retries_waiting   calls that wait for the second pass at most
    tick_s        time between two progress reports
    """

    concurrency: int = 64
    start: int = 16
    attempts: int = 3
    wider: float = 2.0
    connect_s: float = 30.0
    read_s: float = 600.0
    # More than twice what a probe allows one call. A hung endpoint would otherwise keep its calls for two times read_s.
    silent_s: float = 300.0
    cooldown_s: float = 15.0
    pause_s: float = 0.5
    refused_s: float = 60.0
    busy_s: float = 600.0
    window: int = 1_000
    unreadable_share: float = 0.02
    cut_share: float = 0.01
    failed_share: float = 0.10
    max_retries_waiting: int = 5_000
    tick_s: float = 0.5


class StoppedError(AuditError):
    """A rule stopped a run of calls. Replies received until then are stored."""


MAX_PAUSE_S = 10.0
SHRINK, GROWTH = 0.7, 0.05


class ConcurrencyLimiter:
    """How many calls may be open at one endpoint: additive increase, multiplicative decrease, as TCP does it."""

    # vLLM never answers 429 and sends no Retry-After with its 503, so both count as "busy" alike.

    def __init__(self, limits: Limits, max_open: int) -> None:
        self._limits, self._max_open = limits, max(1, max_open)
        self.limit = float(max(1, min(limits.start, self._max_open)))
        self.not_before = 0.0
        self.episodes = 0
        self._shrinks_again_at, self._pauses = 0.0, 0

    def record_answer(self, in_flight: int) -> None:
        """An answer came. A full round of answers raises the limit by 5 %, at least by one, if the limit was reached at all."""
        self._pauses = 0
        # Answers below the limit do not show that more would be possible.
        if in_flight >= int(self.limit) - 1:
            self.limit = min(self._max_open, self.limit + max(1.0, self.limit * GROWTH) / self.limit)

    def record_busy(self, now: float, after_s: float | None) -> None:
        """The endpoint is busy and asks to wait `after_s`. Everything within one cooldown is one episode."""
        # Our own pause is the minimum: a wait of 0 s, or a date in the past on our clock, would remove the limit.
        if now >= self.not_before:
            self.pause(now)
        if after_s is not None:
            self.not_before = max(self.not_before, now + after_s)
        # All calls that were open when it became busy return busy: together they reduce the limit once.
        if now >= self._shrinks_again_at:
            self.limit = max(1.0, self.limit * SHRINK)
            self.episodes += 1
            self._shrinks_again_at = max(now + self._limits.cooldown_s, self.not_before)

    def pause(self, now: float) -> None:
        """Send nothing for a moment, twice as long each time until an answer comes."""
        self.not_before = max(self.not_before, now + min(MAX_PAUSE_S, self._limits.pause_s * 2**self._pauses))
        self._pauses += 1


UNREACHABLE, BUSY, FAILING = "unreachable", "busy", "failing"
FAULTS_TO_TRIP = 10
FAULT_TEXTS = {
    UNREACHABLE: "could not be reached for {s:.0f} s",
    BUSY: "has answered nothing for {s:.0f} s because it is busy",
    FAILING: "has answered every call with an error for {s:.0f} s",
}
NEXT_STEPS = {
    UNREACHABLE: "Check whether the server is still running",
    BUSY: "Lower AUDIT_JUDGE_CONCURRENCY, or wait until others have finished",
    FAILING: "Look at the server's log",
}


class CircuitBreaker:
    """The health of one endpoint. While tripped, it gets one call at a time; after too long, it is given up."""

    def __init__(self, limits: Limits) -> None:
        self._patience = {UNREACHABLE: limits.refused_s, FAILING: limits.refused_s, BUSY: limits.busy_s}
        self._since: dict[str, float] = {}
        self._faults = 0

    def record_answer(self) -> None:
        """The endpoint answered: earlier faults no longer count."""
        self._since.clear()
        self._faults = 0

    def record_fault(self, kind: str, now: float) -> None:
        """Count a fault: the endpoint was UNREACHABLE, BUSY or FAILING."""
        # Even an error shows that the server can be reached.
        if kind != UNREACHABLE:
            self._since.pop(UNREACHABLE, None)
        self._since.setdefault(kind, now)
        # A busy server works; only its speed is at issue.
        self._faults += kind != BUSY

    @property
    def tripped(self) -> bool:
        """Whether one call at a time is enough to see if the endpoint is back."""
        return UNREACHABLE in self._since or self._faults >= FAULTS_TO_TRIP

    def reason_to_give_up(self, now: float, wait_s: float | None, why: str) -> str | None:
        """Why the endpoint is given up, as the end of a sentence, and what to do; None while there is hope."""
        for kind, since in self._since.items():
            # A few errors may be due to those calls and not to the endpoint.
            if kind == FAILING and self._faults < FAULTS_TO_TRIP:
                continue
            if now - since >= self._patience[kind]:
                return f"{FAULT_TEXTS[kind].format(s=now - since)}: {why}. {NEXT_STEPS[kind]}"
        if wait_s is not None and wait_s > self._patience[BUSY]:
            return f"asks to wait {wait_s:,.0f} s: {why}. {NEXT_STEPS[BUSY]}"
        return None


READABLE, UNREADABLE_OR_REFUSED, CUT_SHORT, FAULT = "fine", "poison", "cut", "failed"
RULE_TEXTS = {
    UNREADABLE_OR_REFUSED: "were refused or could not be read",
    CUT_SHORT: "reached their token limit (finish_reason length)",
    FAULT: "failed",
}
REMEDIES = {
    UNREADABLE_OR_REFUSED: "Look at the stored replies: the prompt, the model or the response schema is unsuitable",
    CUT_SHORT: "Allow more max_tokens, check that thinking is off, and start vLLM with "
    """--structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}'""",
    FAULT: "Look at the server's log",
}


class StopRules:
    """Looks at the last first attempts: if too many of them go wrong, asking the rest would only cost money."""

    def __init__(self, limits: Limits) -> None:
        self._window = limits.window
        self._max_share = {
            UNREADABLE_OR_REFUSED: limits.unreadable_share,
            CUT_SHORT: limits.cut_share,
            FAULT: limits.failed_share,
        }
        self._recent: deque[str] = deque()
        self._counts: Counter[str] = Counter()

    def violation(self, kind: str, why: str) -> str | None:
        """Count one first attempt; return a sentence if it breaks a rule. `why` is the message of this attempt."""
        self._recent.append(kind)
        self._counts[kind] += 1
        if len(self._recent) > self._window:
            self._counts[self._recent.popleft()] -= 1
        # A share of the full window, so one bad call among the first ten stops nothing.
        if kind == READABLE or self._counts[kind] <= self._max_share[kind] * self._window:
            return None
        return (
            f"{self._counts[kind]} of the last {len(self._recent):,} calls {RULE_TEXTS[kind]}; at most "
            f"{self._max_share[kind]:.0%} of {self._window:,} may. The last one: {why or 'no message'}. {REMEDIES[kind]}"
        )
