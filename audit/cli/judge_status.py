"""What `audit judge` says of itself in a small JSON file, for whoever watches it from another process."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from audit.atomic_io import write_atomic
from audit.cli.command import FAILED
from audit.errors import AuditError
from audit.judging.corpus import Item
from audit.judging.outcome import Bench
from audit.judging.protocols import Silence
from audit.judging.records import Record, Summary
from audit.llm.runner import CallStats
from audit.llm.tasks import StageCost

STARTING, ASKING, WRITING, LOADING, ENDED = "starting", "asking", "writing", "loading", "ended"
COUNTS = (
    "done", "answered", "unreadable", "cut", "refused", "failed", "busy", "in_flight", "waiting_again", "concurrency", "rate",
    "seconds", "prompt_tokens", "completion_tokens", "lost",
)  # fmt: skip
EVERY_S = 0.5


@dataclass
class Status:
    """The file, replaced as a whole each time that there is something new; without a path, nothing is said.

    phase              starting, asking, writing, loading, ended
    stage, calls       of what is being asked: its name, and how many calls it has; beside them the counts of its Tally
    pairs              while it is written: pairs handed over so far
    estimate           of `--dry-run`: see audit.llm.tasks.estimate_figures, and pairs, without_call
    judged, prescreened, not_asked, unscored    what became of the pairs; unscored by reason
    code, said         at the end: the exit code, and the sentence if there is one
    """

    path: Path | None = None
    told: dict[str, Any] = field(default_factory=dict)

    def tell(self, **told: Any) -> None:
        """Add to what is said, and say it."""
        self.told |= told
        if self.path is not None:
            write_atomic(self.path, json.dumps(self.told))

    def asked(self, cost: StageCost, tally: CallStats) -> None:
        """How far a stage of calls is."""
        self.tell(phase=ASKING, stage=cost.stage, calls=cost.calls, **{name: getattr(tally, name) for name in COUNTS})

    def became(self, summary: Summary) -> None:
        """What became of the pairs."""
        told = {name: getattr(summary, name) for name in ("judged", "prescreened", "not_asked")}
        self.tell(**told, unscored=dict(summary.unscored))


@dataclass
class WatchedBench:
    """A bench that tells how many pairs it has handed over."""

    bench: Bench
    status: Status
    pairs_told: int = 0
    summary: Summary = field(init=False)
    _next: float = 0.0

    def __post_init__(self) -> None:
        """Count into the bench's own summary."""
        self.summary = self.bench.summary

    def silences(self, item: Item) -> Mapping[str, Silence]:
        """The bench's own."""
        return self.bench.silences(item)

    def pairs(self, item: Item) -> Iterator[Record]:
        """The bench's own, counted."""
        for pair in self.bench.pairs(item):
            self.pairs_told += 1
            yield pair
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY_S
            self.status.tell(phase=WRITING, pairs=self.pairs_told)


@contextmanager
def told_to_the_end(status: Status) -> Iterator[None]:
    """Say in the file how the block ended, where an error ends it; SIGTERM is taken for Ctrl-C meanwhile."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if status.path is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a server in the background has it ignored
        signal.signal(signal.SIGTERM, _like_ctrl_c)
    try:
        status.tell(phase=STARTING)
        yield
    except AuditError as error:
        status.tell(phase=ENDED, code=FAILED, said=str(error))
        raise
    except KeyboardInterrupt:
        status.tell(phase=ENDED, code=FAILED, said="Stopped.")
        raise
    finally:
        if status.path is not None:
            for number, handler in before.items():
                signal.signal(number, handler)


def _like_ctrl_c(_: int, __: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)
