"""How far a judging is: what a job records in its row while `audit judge` works."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.judging.corpus import QuestionToJudge
from audit.judging.protocols import AbsenceFinding
from audit.judging.verdict_sources import JudgingSummary, Record, VerdictSource
from audit.llm.runner import CallStats
from audit.llm.tasks import StageCost

STARTING, ASKING, WRITING, LOADING = "starting", "asking", "writing", "loading"
COUNTS = (
    "done", "answered", "unreadable", "cut", "refused", "failed", "busy", "in_flight", "waiting_again", "concurrency", "rate",
    "seconds", "prompt_tokens", "completion_tokens", "lost",
)  # fmt: skip
INTERVAL_S = 0.5


@dataclass
class Progress:
    """The latest figures of a judging; without `store` they are only collected.

    phase              starting, asking, writing, loading
    stage, calls       the stage of calls: its name, and how many calls it has; also the COUNTS of its CallStats
    pairs              while the release is written: pairs written so far
    estimate           of `--dry-run`: see audit.llm.tasks.estimate_figures, and pairs, without_call
    judged, prescreened, not_asked, unscored    the outcome of the pairs; unscored by reason
    message            why it stopped, where it did not end well
    """

    store: Callable[[Mapping[str, Any]], None] | None = None
    values: dict[str, Any] = field(default_factory=dict)

    def update(self, **values: Any) -> None:
        """Add to the figures, and store them."""
        self.values |= values
        if self.store is not None:
            self.store(self.values)

    def update_calls(self, cost: StageCost, tally: CallStats) -> None:
        """Record how far a stage of calls is."""
        self.update(phase=ASKING, stage=cost.stage, calls=cost.calls, **{name: getattr(tally, name) for name in COUNTS})

    def update_summary(self, summary: JudgingSummary) -> dict[str, Any]:
        """Record the outcome of the pairs, and return it."""
        outcome: dict[str, Any] = {name: getattr(summary, name) for name in ("judged", "prescreened", "not_asked")}
        outcome["unscored"] = dict(summary.unscored)
        self.update(**outcome)
        return outcome


@dataclass
class CountedVerdicts:
    """A source of verdicts that records how many pairs it has handed over."""

    source: VerdictSource
    progress: Progress
    pairs_written: int = 0
    summary: JudgingSummary = field(init=False)
    _next_update: float = 0.0

    def __post_init__(self) -> None:
        """Count into the summary of the source itself."""
        self.summary = self.source.summary

    def absence_findings(self, item: QuestionToJudge) -> Mapping[str, AbsenceFinding]:
        """The findings of the source."""
        return self.source.absence_findings(item)

    def pairs(self, item: QuestionToJudge) -> Iterator[Record]:
        """The pairs of the source, counted."""
        for pair in self.source.pairs(item):
            self.pairs_written += 1
            yield pair
        if time.monotonic() >= self._next_update:
            self._next_update = time.monotonic() + INTERVAL_S
            self.progress.update(phase=WRITING, pairs=self.pairs_written)
