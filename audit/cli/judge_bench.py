"""A corpus judged, and written as a release: what `audit judge` does with a run, and `audit run` with new answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit.cli.judge_status import Status, WatchedBench
from audit.judging import baseline
from audit.judging.corpus import Corpus
from audit.judging.protocols import Protocol
from audit.judging.release import write_judged_release
from audit.judging.task import JudgingTask
from audit.judging.verdict_sources import JudgingSummary, ModelVerdicts, RuleVerdicts, VerdictSource
from audit.llm.journal import Journal


def judged_by_rules(out: Path, corpus: Corpus, status: Status) -> JudgingSummary:
    """Write the release `out` as plain rules judge `corpus`, and say what became of its pairs."""
    bench = RuleVerdicts(Protocol("structured", baseline.NAME, {}), baseline.judge, baseline.NAME)
    _write(out, corpus, bench, status, baseline.NAME, {"protocol": "rules"})
    return bench.summary


def judged_by_model(out: Path, sitting: JudgingTask, journal: Journal, servers: Sequence[str], status: Status) -> JudgingSummary:
    """Write the release `out` as the replies in `journal` judge the corpus of `sitting`; asks nothing."""
    bench = ModelVerdicts(sitting.protocol, sitting.corpus, journal.latest)
    _write(out, sitting.corpus, bench, status, sitting.model, {**sitting.plan(), "endpoint": list(servers)})
    return bench.summary


def _write(out: Path, corpus: Corpus, bench: VerdictSource, status: Status, judge: str, told: Mapping[str, Any]) -> None:
    watched = WatchedBench(bench, status)
    write_judged_release(out, corpus, watched, judge=judge, settings=told, date=datetime.now(UTC).date().isoformat())
