"""What became of the calls of a run so far: what a progress bar or a page is drawn from."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from audit.llm.calls import ANSWERED, CUT, FAILED, REFUSED, Reply

UNREADABLE = "unreadable"
COLUMNS = {ANSWERED: "answered", UNREADABLE: "unreadable", CUT: "cut", REFUSED: "refused", FAILED: "failed"}
RATE_OVER = 60


@dataclass
class Tally:
    """Counts of calls by how they ended, each call once, and of the tokens of all attempts.

    answered (and readable), unreadable, cut, refused, failed   calls that are done with, by their last attempt
    attempts, busy     attempts that brought a reply; times that an endpoint had to be asked more slowly
    in_flight, waiting_again, concurrency   calls open now, calls that wait for another attempt, calls that may be open
    seconds, rate      since the start; calls done with per second over the last half minute or so
    lost               what is to be said of each endpoint that was given up
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
        init=False, default_factory=lambda: deque(maxlen=RATE_OVER), repr=False, compare=False
    )

    @property
    def done(self) -> int:
        """Calls that will not be asked again in this run."""
        return self.answered + self.unreadable + self.cut + self.refused + self.failed

    def count_tokens(self, usage: Mapping[str, int]) -> None:
        """Add the tokens of one reply."""
        for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"):
            setattr(self, name, getattr(self, name) + usage.get(name, 0))

    def settle(self, reply: Reply, readable: bool) -> None:
        """Count a call by its last reply."""
        column = COLUMNS[UNREADABLE if reply.outcome == ANSWERED and not readable else reply.outcome]
        setattr(self, column, getattr(self, column) + 1)

    def sample(self, seconds: float) -> None:
        """Note how far the run is, for the rate."""
        self.seconds = seconds
        self._samples.append((seconds, self.done))
        since, done = self._samples[0]
        self.rate = (self.done - done) / (seconds - since) if seconds > since else 0.0

    def copy(self) -> Tally:
        """The counts as they are now."""
        return replace(self)
