"""Measured precision of the baseline judge's disagreements on real text, which is shown next to its verdicts.

The figures are in `precision.toml`; `python -m benchmarks.baseline_judge` measures them again. A verdict is right if the
reference also calls the pair a disagreement (divergent or contradictory).
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict
from functools import lru_cache
from importlib import resources

from audit.previews import MeasuredPrecision


@lru_cache(maxsize=1)
def measured_precision() -> tuple[MeasuredPrecision, ...]:
    """The measurements for this version of the rules, source by source."""
    text = resources.files("audit.pipeline.rules.labels").joinpath("precision.toml").read_text(encoding="utf-8")
    return tuple(MeasuredPrecision(**row) for row in tomllib.loads(text)["measured"])


def precision_record() -> list[dict[str, object]]:
    """The same for a manifest."""
    return [asdict(row) for row in measured_precision()]


def precision_text() -> str:
    """The counts of all sources in one sentence, for the summary of a command."""
    counts = (f"{sum(row.right.values()):,} of {sum(row.shown.values()):,} ({row.source})" for row in measured_precision())
    return (
        f"How many of this judge's disagreements were right on real text: {'; '.join(counts)}. "
        "Page Judge and the run's manifest have the intervals, which are wide."
    )
