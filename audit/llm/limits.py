"""How hard an endpoint is pressed, when it is left alone, and when a run of calls stops with a reason."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from audit.errors import AuditError


@dataclass(frozen=True)
class Limits:
    """What a run of calls may do. Seconds where the name ends in `_s`, shares in [0, 1].

    concurrency   calls open at once at most, for all endpoints together; `start` of them at first
    attempts      how often a call is asked at most when it fails (500, a timeout, a cut body)
    wider         a text cut by its length is asked for once more with so many times the tokens
    connect_s, read_s   read_s is far above the worst wait at a full queue: a call given up is work thrown away
    cooldown_s    one slowing down per so many seconds; `pause_s` is the first pause, doubled until an answer comes
    refused_s     an endpoint that cannot be reached, or fails every call, for so long is given up; busy_s: one too busy
    window        the last so many first attempts are looked at; more than poison_share refused or unreadable, cut_share cut by
                  their length or failed_share failed among them stop the run
    most_again    as many calls wait at most for the second pass
    """

    concurrency: int = 64
    start: int = 16
    attempts: int = 3
    wider: float = 2.0
    connect_s: float = 30.0
    read_s: float = 600.0
    cooldown_s: float = 15.0
    pause_s: float = 0.5
    refused_s: float = 60.0
    busy_s: float = 600.0
    window: int = 1_000
    poison_share: float = 0.02
    cut_share: float = 0.01
    failed_share: float = 0.10
    most_again: int = 5_000
    tick_s: float = 0.5


class StoppedError(AuditError):
    """A run of calls was stopped by a rule; what came back until then is stored."""


LONGEST_PAUSE_S = 10.0
SHRINK, GROWTH = 0.7, 0.05


class Gate:
    """How many calls may be open at one endpoint: fewer at once when it says it is busy, slowly more while it is not."""

    def __init__(self, limits: Limits, most: int) -> None:
        self._limits, self._most = limits, max(1, most)
        self.limit = float(max(1, min(limits.start, self._most)))
        self.not_before = 0.0
        self.episodes = 0
        self._calm_at, self._streak = 0.0, 0

    def clean(self, in_flight: int) -> None:
        """An answer came. A full round of them raises the limit by a twentieth, at least by one, if it was used at all."""
        self._streak = 0
        if in_flight >= int(self.limit) - 1:
            self.limit = min(self._most, self.limit + max(1.0, self.limit * GROWTH) / self.limit)

    def busy(self, now: float, after_s: float | None) -> None:
        """The endpoint is busy; `after_s` is what it asked to wait. All that it says within one cooldown is one episode."""
        if after_s is not None:
            self.not_before = max(self.not_before, now + after_s)
        elif now >= self.not_before:
            self.pause(now)
        if now >= self._calm_at:
            self.limit = max(1.0, self.limit * SHRINK)
            self.episodes += 1
            self._calm_at = max(now + self._limits.cooldown_s, self.not_before)

    def pause(self, now: float) -> None:
        """Nothing is sent for a moment, each time for twice as long until an answer comes."""
        self.not_before = max(self.not_before, now + min(LONGEST_PAUSE_S, self._limits.pause_s * 2**self._streak))
        self._streak += 1


UNREACHABLE, BUSY, FAILING = "unreachable", "busy", "failing"
TRIP = 10
SAID = {
    UNREACHABLE: "could not be reached for {s:.0f} s",
    BUSY: "has answered nothing for {s:.0f} s because it is busy",
    FAILING: "has answered every call with an error for {s:.0f} s",
}
NEXT = {
    UNREACHABLE: "See whether the server is still running",
    BUSY: "Lower AUDIT_JUDGE_CONCURRENCY, or wait until others have finished",
    FAILING: "Look at the server's log",
}


class Health:
    """Circuit breaker of one endpoint: tripped, it is tried with one call at a time; ill for too long, it is given up."""

    def __init__(self, limits: Limits) -> None:
        self._patience = {UNREACHABLE: limits.refused_s, FAILING: limits.refused_s, BUSY: limits.busy_s}
        self._since: dict[str, float] = {}
        self._faults = 0

    def sound(self) -> None:
        """It answered."""
        self._since.clear()
        self._faults = 0

    def ill(self, kind: str, now: float) -> None:
        """It could not be reached, was busy, or failed."""
        if kind != UNREACHABLE:
            self._since.pop(UNREACHABLE, None)
        self._since.setdefault(kind, now)
        self._faults += kind != BUSY

    @property
    def tripped(self) -> bool:
        """Whether one call at a time is enough to see if it is back."""
        return UNREACHABLE in self._since or self._faults >= TRIP

    def lost(self, now: float, wait_s: float | None, why: str) -> str | None:
        """Why this endpoint is given up, as the end of a sentence and what to do; None while there is hope."""
        for kind, since in self._since.items():
            if kind == FAILING and self._faults < TRIP:
                continue
            if now - since >= self._patience[kind]:
                return f"{SAID[kind].format(s=now - since)}: {why}. {NEXT[kind]}"
        if wait_s is not None and wait_s > self._patience[BUSY]:
            return f"asks to wait {wait_s:,.0f} s: {why}. {NEXT[BUSY]}"
        return None


FINE, POISON, CUT_SHORT, FAULT = "fine", "poison", "cut", "failed"
RULES = {
    POISON: "were refused or could not be read",
    CUT_SHORT: "ended because the room for the answer did (finish_reason length)",
    FAULT: "failed",
}
CURES = {
    POISON: "Look at the stored replies: the prompt, the model or the response schema does not fit",
    CUT_SHORT: "Allow more max_tokens, see that thinking is off, and start vLLM with "
    """--structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}'""",
    FAULT: "Look at the server's log",
}


class StopRules:
    """Looks at the last first attempts: where too many go wrong, asking the rest costs and tells no more."""

    def __init__(self, limits: Limits) -> None:
        self._window = limits.window
        self._most = {POISON: limits.poison_share, CUT_SHORT: limits.cut_share, FAULT: limits.failed_share}
        self._last: deque[str] = deque()
        self._counts: Counter[str] = Counter()

    def broken(self, kind: str, why: str) -> str | None:
        """Count one first attempt; a sentence when that breaks a rule. `why` is what the last one said."""
        self._last.append(kind)
        self._counts[kind] += 1
        if len(self._last) > self._window:
            self._counts[self._last.popleft()] -= 1
        if kind == FINE or self._counts[kind] <= self._most[kind] * self._window:
            return None
        return (
            f"{self._counts[kind]} of the last {len(self._last):,} calls {RULES[kind]}, where at most "
            f"{self._most[kind]:.0%} of {self._window:,} may. The last one: {why or 'no more is known'}. {CURES[kind]}"
        )
