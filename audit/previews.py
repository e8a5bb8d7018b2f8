"""Runs that were generated or judged without a model: the notice that every page and export of such a run must show.

    preview_notice(manifest)   # "Answers extracted by rules, pairs labelled by rules: a preview, not a finding"

The names of rule-made generators and judges are in the manifest of a release; a model's name contains none of the words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from audit.formatting import fixed
from audit.stats.intervals import wilson
from audit.vocabulary import DISAGREEING

RULES = re.compile(r"\bno model\b|\bextractive\b|\bbaseline judge\b", re.IGNORECASE)
WHAT_RULES_DID = {"generator": "answers extracted by rules", "judge": "pairs labelled by rules"}
"""Entry of a manifest -> what was done without a model if it names rules."""
VERDICT = "a preview, not a finding"
PRELIMINARY = "preliminary"
"""Shown next to each headline figure of such a run."""
COLUMN = "Preview, not a finding"
"""Heading of the column of a CSV file or workbook that repeats the notice: a CSV file has nowhere else to put it."""

UNKNOWN_PRECISION = "How often this judge's disagreements are right is not recorded in this run: judge it again to have it."


def preview_notice(manifest: Mapping[str, object], other: Mapping[str, object] | None = None) -> str:
    """What was done by rules instead of a model, as a sentence without a full stop; empty for a run made by models.

    other  the manifest of a run that it is compared with: the notice then covers both
    """
    manifests = (manifest, *([other] if other else []))
    done = [words for entry, words in WHAT_RULES_DID.items() if any(_by_rules(one.get(entry)) for one in manifests)]
    return f"{', '.join(done).capitalize()}: {VERDICT}" if done else ""


def judged_by_rules(manifest: Mapping[str, object]) -> bool:
    """Whether rules labelled the pairs of a run."""
    return _by_rules(manifest.get("judge"))


def _by_rules(name: object) -> bool:
    return isinstance(name, str) and RULES.search(name) is not None


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


def precision_sentences(manifest: Mapping[str, object]) -> list[str]:
    """The precision that the manifest of a run judged by rules records, a sentence for each source."""
    settings = manifest.get("judge_settings")
    recorded = settings.get("precision") if isinstance(settings, Mapping) else None
    try:
        return [MeasuredPrecision(**row).sentence for row in recorded or ()] or [UNKNOWN_PRECISION]
    except (TypeError, AttributeError, ValueError):  # a manifest may have any value here
        return [UNKNOWN_PRECISION]
