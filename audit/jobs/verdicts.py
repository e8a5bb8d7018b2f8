"""A corpus judged and written as a release: what `audit judge` does with a run, and `audit run` with new answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit.jobs.progress import CountedVerdicts, Progress
from audit.judging import baseline
from audit.judging.corpus import Corpus
from audit.judging.outcome import Bench, write_judged
from audit.judging.protocols import Protocol
from audit.judging.records import ModelBench, RuleBench, Summary
from audit.judging.sitting import Sitting
from audit.llm.journal import Journal


def judge_by_rules(out: Path, corpus: Corpus, progress: Progress) -> Summary:
    """Write the release `out` as rules judge `corpus`; returns the outcome of its pairs."""
    source = RuleBench(Protocol("structured", baseline.NAME, {}), baseline.judge, baseline.NAME)
    _write(out, corpus, source, progress, baseline.NAME, {"protocol": "rules"})
    return source.summary


def judge_by_model(out: Path, task: Sitting, journal: Journal, servers: Sequence[str], progress: Progress) -> Summary:
    """Write the release `out` from the replies in `journal`, without calling a model; returns the outcome of its pairs."""
    source = ModelBench(task.protocol, task.corpus, journal.latest)
    _write(out, task.corpus, source, progress, task.model, {**task.plan(), "endpoint": list(servers)})
    return source.summary


def _write(out: Path, corpus: Corpus, source: Bench, progress: Progress, judge: str, settings: Mapping[str, Any]) -> None:
    counted = CountedVerdicts(source, progress)
    write_judged(out, corpus, counted, judge=judge, settings=settings, date=datetime.now(UTC).date().isoformat())
