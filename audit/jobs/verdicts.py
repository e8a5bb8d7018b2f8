"""A corpus judged and written as a release: what `audit judge` does with a run, and `audit run` with new answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit.jobs.progress import CountedVerdicts, Progress
from audit.judging import baseline
from audit.judging.corpus import Corpus
from audit.judging.protocols import JudgingTask, Protocol
from audit.judging.release import write_judged_release
from audit.judging.verdict_sources import JudgingSummary, ModelVerdicts, RuleVerdicts, VerdictSource
from audit.llm.journal import Journal


def judge_by_rules(out: Path, corpus: Corpus, progress: Progress) -> JudgingSummary:
    """Write the release `out` as rules judge `corpus`; returns the outcome of its pairs."""
    source = RuleVerdicts(Protocol("structured", baseline.NAME, {}), baseline.judge, baseline.NAME)
    _write(out, corpus, source, progress, baseline.NAME, {"protocol": "rules"})
    return source.summary


def judge_by_model(out: Path, task: JudgingTask, journal: Journal, servers: Sequence[str], progress: Progress) -> JudgingSummary:
    """Write the release `out` from the replies in `journal`, without calling a model; returns the outcome of its pairs."""
    source = ModelVerdicts(task.protocol, task.corpus, journal.latest)
    _write(out, task.corpus, source, progress, task.model, {**task.plan(), "endpoint": list(servers)})
    return source.summary


def _write(out: Path, corpus: Corpus, source: VerdictSource, progress: Progress, judge: str, settings: Mapping[str, Any]) -> None:
    counted = CountedVerdicts(source, progress)
    write_judged_release(out, corpus, counted, judge=judge, settings=settings, date=datetime.now(UTC).date().isoformat())
