"""Runs that were generated or judged without a model: the notice that every page and export of such a run must show.

    preview_notice(manifest)   # "Answers extracted by rules, pairs labelled by rules: a preview, not a finding"

The names of rule-made generators and judges are in the manifest of a release; a model's name contains none of the words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

RULES = re.compile(r"\bno model\b|\bextractive\b|\bbaseline judge\b", re.IGNORECASE)
WHAT_RULES_DID = {"generator": "answers extracted by rules", "judge": "pairs labelled by rules"}
"""Entry of a manifest -> what was done without a model if it names rules."""
VERDICT = "a preview, not a finding"
PRELIMINARY = "preliminary"
"""Shown next to each headline figure of such a run."""
COLUMN = "Preview, not a finding"
"""Heading of the column of a CSV file or workbook that repeats the notice: a CSV file has nowhere else to put it."""


def preview_notice(manifest: Mapping[str, Any], other: Mapping[str, Any] | None = None) -> str:
    """What was done by rules instead of a model, as a sentence without a full stop; empty for a run made by models.

    other  the manifest of a run that it is compared with: the notice then covers both
    """
    manifests = (manifest, *([other] if other else []))
    done = [words for entry, words in WHAT_RULES_DID.items() if any(_by_rules(one.get(entry)) for one in manifests)]
    return f"{', '.join(done).capitalize()}: {VERDICT}" if done else ""


def judged_by_rules(manifest: Mapping[str, Any]) -> bool:
    """Whether rules labelled the pairs of a run."""
    return _by_rules(manifest.get("judge"))


def _by_rules(name: object) -> bool:
    return isinstance(name, str) and RULES.search(name) is not None
