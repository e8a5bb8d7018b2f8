"""Carries out the stages one after the other and summarises the results."""

from __future__ import annotations

import errno
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from audit.errors import AuditError
from audit.formatting import some_of
from audit.pipeline.stages.build_cache import Task
from audit.pipeline.stages.context import RunContext, Stage

CLEAN, LEFT_OUT, STOPPED = "clean", "left out", "stopped"
# A full or read-only disk fails for every handbook alike, so no handbook is left out for it.
MACHINE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass
class StageCount:
    """Counts of the tasks of one stage by outcome, and its seconds.

    message   what the stage has to report, whether it ran now or earlier
    findings  requests to a model without a usable reply; see `RunSummary`
    """

    stage: str
    tasks: int = 0
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    message: str = ""
    findings: int = 0

    @property
    def unchanged(self) -> int:
        """Tasks that were done by an earlier run."""
        return self.tasks - self.done - self.failed

    def report(self, figures: Mapping[str, Any]) -> None:
        """Add the message and the findings of a task; equal messages of several tasks are reported once."""
        message = figures.get("message", "")
        self.message = self.message if message in self.message else f"{self.message} {message}".strip()
        self.findings += figures.get("findings", 0)


@dataclass
class RunSummary:
    """The summary of a run: each stage it reached, (stage, task, reason) of every failure, where it stopped ("": nowhere)."""

    counts: list[StageCount] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    stopped_at: str = ""

    @property
    def messages(self) -> list[str]:
        """The messages of the stages, in their order."""
        return [count.message for count in self.counts if count.message]

    @property
    def failed(self) -> list[str]:
        """Every failure in a sentence; those of one stage for the same reason share one."""
        names: dict[tuple[str, str], list[str]] = {}
        for stage, name, reason in self.failures:
            names.setdefault((stage, reason), []).append(name)
        return [f"{stage}, {some_of(tasks)}: {reason}" for (stage, reason), tasks in names.items()]

    @property
    def findings(self) -> int:
        """Requests to a model without a usable reply, over all stages."""
        return sum(count.findings for count in self.counts)

    @property
    def verdict(self) -> str:
        """clean, left out (some handbooks failed, the others went through) or stopped."""
        return STOPPED if self.stopped_at else LEFT_OUT if self.failures else CLEAN


class Reporter(Protocol):
    """Shows the progress of a run."""

    def begin(self, stage: str, tasks: int, to_do: int) -> None:
        """A stage begins."""

    def advance(self, name: str) -> None:
        """One of its tasks has ended, well or not."""

    def end(self, count: StageCount) -> None:
        """The stage has ended."""


def run_stages(context: RunContext, stages: Sequence[Stage], reporter: Reporter) -> RunSummary:
    """Carry out what is open in every stage. A handbook that fails is left out of the later stages; the others go on.

    The run stops at a stage that fails as a whole, or when no handbook is left.
    """
    summary = RunSummary()
    for stage in stages:
        began, tasks = time.monotonic(), stage.tasks()
        to_do = [task for task in tasks if not stage.done(task)]
        count = StageCount(stage.name, len(tasks), message=stage.warning())
        # Messages of an earlier run are reported again: they still apply to the release.
        for task in tasks:
            if task not in to_do:
                count.report(context.cache.figures(task))
        summary.counts.append(count)
        reporter.begin(stage.name, len(tasks), len(to_do))
        try:
            for task, outcome in stage.carry_out(to_do):
                _record_outcome(context, summary, count, task, outcome)
                reporter.advance(task.name)
        finally:
            count.seconds = time.monotonic() - began
            reporter.end(count)
        # Without a handbook the later stages would write an empty release.
        if summary.stopped_at or (context.sources and not context.present):
            summary.stopped_at = stage.name
            return summary
    return summary


def _record_outcome(context: RunContext, summary: RunSummary, count: StageCount, task: Task, outcome: Any) -> None:
    if isinstance(outcome, OSError) and outcome.errno in MACHINE_ERRORS:
        raise outcome
    if not isinstance(outcome, Exception):
        context.cache.store(task, outcome)
        count.done += 1
        count.report(outcome)
        return
    count.failed += 1
    reason = str(outcome) if isinstance(outcome, AuditError) else f"{type(outcome).__name__}: {outcome}"
    summary.failures.append((count.stage, task.name, reason))
    # Later stages go on without this handbook; a task for all of them has nothing to go on with.
    if task.handbook:
        context.left_out[task.handbook] = f"{count.stage}: {reason}"
    else:
        summary.stopped_at = count.stage
