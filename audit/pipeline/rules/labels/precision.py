"""Measured precision of the baseline judge's disagreements on real text, which is shown next to its verdicts.

The figures are in `precision.toml`; `python -m benchmarks.baseline_judge` measures them again. A verdict is right if the
reference also calls the pair a disagreement (divergent or contradictory).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from audit.formatting import fixed
from audit.stats.intervals import wilson
from audit.vocabulary import DISAGREEING

UNKNOWN = "How often this judge's disagreements are right is not recorded in this run: judge it again to have it."


@dataclass(frozen=True)
class MeasuredPrecision:
    """The counts from one source.

    source, date    the reference of the comparison, and its date (ISO 8601)
    pairs           judged pairs with two answers; `abstained`: those without a label
    shown, right    disagreements by label, and those of them that the reference calls a disagreement
    """

    source: str
    date: str
    pairs: int
    abstained: int
    shown: Mapping[str, int]
    right: Mapping[str, int]

    @property
    def sentence(self) -> str:
        """The figures of both labels with their counts and 95 % intervals."""
        labels = "; ".join(self._of_label(str(label)) for label in DISAGREEING)
        if not any(self.shown.values()):
            labels = "no disagreement was shown, so the precision is unknown"
        return f"{self.source}, {self.pairs:,} pairs, abstained on {self.abstained:,} ({self.date}): {labels}."

    def _of_label(self, label: str) -> str:
        shown, right = self.shown.get(label, 0), self.right.get(label, 0)
        if not shown:
            return f"{label} was never given, so its precision is unknown"
        low, high = (fixed(100 * float(end), 0) for end in wilson(right, shown))
        return f"{label} was right in {right:,} of {shown:,} ({fixed(100 * right / shown, 0)} %, 95 % interval {low} to {high} %)"


@lru_cache(maxsize=1)
def measured_precision() -> tuple[MeasuredPrecision, ...]:
    """The measurements for this version of the rules, source by source."""
    text = resources.files("audit.pipeline.rules.labels").joinpath("precision.toml").read_text(encoding="utf-8")
    return tuple(MeasuredPrecision(**row) for row in tomllib.loads(text)["measured"])


def precision_record() -> list[dict[str, Any]]:
    """The same for a manifest."""
    return [asdict(row) for row in measured_precision()]


def precision_sentences(manifest: Mapping[str, Any]) -> list[str]:
    """The precision that the manifest of a run judged by rules records, a sentence for each source."""
    settings = manifest.get("judge_settings")
    recorded = settings.get("precision") if isinstance(settings, Mapping) else None
    try:
        return [MeasuredPrecision(**row).sentence for row in recorded or ()] or [UNKNOWN]
    except (TypeError, AttributeError, ValueError):  # a manifest may have any value here
        return [UNKNOWN]


def precision_text() -> str:
    """The counts of all sources in one sentence, for the summary of a command."""
    counts = (f"{sum(row.right.values()):,} of {sum(row.shown.values()):,} ({row.source})" for row in measured_precision())
    return (
        f"How many of this judge's disagreements were right on real text: {'; '.join(counts)}. "
        "Page Judge and the run's manifest have the intervals, which are wide."
    )
