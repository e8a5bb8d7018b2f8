"""Results of metrics that are slow on large runs, computed when the run is loaded and kept as files beside its store.

A page that is opened first would otherwise compute them, for seconds at the published scale. A file's name holds the store's
own stamp, the arguments and a fingerprint of the code that counts, so that a result of another load or of an earlier version is
never shown: it is computed again instead. The files can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from audit.atomic_io import atomic_file
from audit.errors import AuditError
from audit.metrics import METRICS, Metric
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run

Arguments = Mapping[str, Any]
KEPT: Mapping[str, tuple[Arguments, ...]] = {
    "labels": ({},),
    "organs": ({"scope": "all"}, {"scope": "matching"}),
    "disputed_questions": ({"limit": 3},),
    "topics": ({"level": "topic"}, {"level": "subtopic"}),
    "questions": ({},),
    "centers": ({},),
    "handbooks": ({},),
    "severity_rho": ({},),
    "judge_length": ({},),
    "judge_checks": ({},),
    "label_entropy": ({},),
    "composition": ({},),
    "question_sources": ({},),
    "routing": ({},),
    "source_shares": ({},),
    "systems": ({},),
    "composite": ({},),
    "system_differences": ({},),
    "system_measures": ({}, {"by": "question_type"}),
    "downstream": ({},),
    "when_to_retrieve": ({},),
    "judge_calibration": ({},),
    "criteria_scores": ({},),
    "corrected_composite": ({},),
    "corrected_preference": ({},),
    "preferences": ({},),
    "bradley_terry": ({},),
    "preference_alignment": ({},),
    "preference_raters": ({},),
    "preference_effects": ({},),
}
"""The metrics whose results are kept, with the arguments that pages open with. Themes can be edited, so nothing by theme is."""
# A run with fewer pairs is counted in less time than a person notices.
MIN_PAIRS = 300_000
COUNTING = ("metrics", "queries", "stats", "evaluation")


def kept_or_computed(metric: Callable[..., Any], con: Connection, store: Path, arguments: Arguments) -> Any:
    """`metric(con, **arguments)`, read from its file where one is kept."""
    file = _file(store, metric, arguments)
    if file is not None and file.is_file():
        try:
            return pd.read_parquet(file)
        except (OSError, pa.ArrowException):
            # Removed or damaged since: what is in it can be computed.
            return metric(con, **arguments)
    return metric(con, **arguments)


def keep_results(run: Run, min_pairs: int = MIN_PAIRS) -> list[Path]:
    """Compute and keep what pages open with, for a run of at least `min_pairs` pairs; returns the files.

    What a run lacks (answers, systems) and metrics whose packages are not installed are left out: the page explains them.
    """
    # A store that was loaded again leaves files that nobody reads.
    shutil.rmtree(_folder(run.path), ignore_errors=True)
    with open_store(run.path) as con:
        ((pairs,),) = rows(con, "select count(*) from pairs")
        if pairs < min_pairs:
            return []
        kept = [_keep(con, run.path, METRICS[name], arguments) for name, choices in KEPT.items() for arguments in choices]
    return [file for file in kept if file is not None]


def _keep(con: Connection, store: Path, metric: Metric[...], arguments: Arguments) -> Path | None:
    file = _file(store, metric, arguments)
    try:
        frame = metric(con, **arguments)
    except AuditError:
        return None
    if file is None:
        return None
    file.parent.mkdir(exist_ok=True)
    with atomic_file(file) as draft:
        frame.to_parquet(draft)
    return file


def _folder(store: Path) -> Path:
    return store.with_suffix(".results")


def _file(store: Path, metric: Callable[..., Any], arguments: Arguments) -> Path | None:
    if not isinstance(metric, Metric) or metric.name not in KEPT:
        return None
    # Left out or given with its default: the same result.
    filled = {**metric.options, **arguments}
    named = json.dumps([store.stat().st_mtime_ns, _code(), filled], sort_keys=True, default=str)
    return _folder(store) / f"{metric.name}-{hashlib.sha256(named.encode()).hexdigest()[:16]}.parquet"


@cache
def _code() -> str:
    """A fingerprint of the code that counts."""
    package, found = Path(__file__).parent, hashlib.sha256()
    for path in sorted(path for name in COUNTING for path in (package / name).rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
