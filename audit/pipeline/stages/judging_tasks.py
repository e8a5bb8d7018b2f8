"""The calls of any protocol on a corpus: their cost, and the release written from their replies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.errors import AuditError
from audit.jobs.processes import Progress
from audit.pipeline.judging.corpus import Corpus, with_centers
from audit.pipeline.judging.positions.task import NAME as POSITIONS
from audit.pipeline.judging.positions.task import PositionsTask, load_positions_prompts
from audit.pipeline.judging.positions.verdicts import PositionVerdicts
from audit.pipeline.judging.protocols import CHECK, JudgingTask
from audit.pipeline.judging.verdict_sources import JudgingSummary
from audit.pipeline.llm.journal import Journal
from audit.pipeline.stages.judging_runs import judge_by_model, protocol_of, write_release

AnyJudgingTask = JudgingTask | PositionsTask


def judging_task(options: Any, model: str, corpus: Corpus) -> AnyJudgingTask:
    """The calls that the options of `audit judge`, or the table [judge] of a config, ask for.

    Raises AuditError where they ask for checks that the protocol does not have.
    """
    if options.protocol != POSITIONS:
        return protocol_of(options, model).task(with_centers(corpus) if options.name_centers else corpus)
    if options.swap or options.blind_centers or options.name_centers or options.repeat or options.absence == CHECK:
        raise AuditError(
            f"Protocol {POSITIONS} reads single answers and not pairs, so these checks do not apply to it. Nothing was asked. "
            "Leave out swap, blind centers, center names, repeat and absence check."
        )
    return PositionsTask(load_positions_prompts(options.templates), model, corpus)


def judge_by_task(
    out: Path, task: AnyJudgingTask, journal: Journal, servers: Sequence[str], progress: Progress
) -> JudgingSummary:
    """Write the release `out` from the replies in `journal`, without calling a model; returns the outcome of its pairs."""
    if isinstance(task, PositionsTask):
        return _judge_by_positions(out, task, journal, servers, progress)
    return judge_by_model(out, task, journal, servers, progress)


def _judge_by_positions(
    out: Path, task: PositionsTask, journal: Journal, servers: Sequence[str], progress: Progress
) -> JudgingSummary:
    source = PositionVerdicts(task, journal.latest)
    positions = (record for item in task.corpus.items() for record in source.positions(item))
    settings = {**task.plan(), "endpoint": list(servers)}
    write_release(out, task.corpus, source, progress, task.model, settings, positions, task.prompts.values())
    if source.invented or source.unsorted:
        source.summary.remark = (
            f"Statements left out: {source.invented:,} whose quotes are not in the answers, "
            f"{source.unsorted:,} that the model sorted nowhere."
        )
    return source.summary
