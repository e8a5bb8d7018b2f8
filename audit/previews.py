"""Runs whose answers or labels no model has read: the notice that every page and export of such a run must show.

    preview_notice(manifest)   # "Answers are quoted passages that no model has read: a preview, not a finding"

The manifest of a release names what made its answers and its labels; such a name says `no model`, and no model's name does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from audit.vocabulary import STAND_IN_JUDGE

NO_MODEL = re.compile(r"\bno model\b", re.IGNORECASE)
WORDS = {
    "generator": "answers are quoted passages that no model has read",
    "judge": "labels come from a stand-in judge that reads truth.csv and no text",
}
"""Entry of a manifest -> what it means if it says that no model was asked."""
OTHER_JUDGE = "labels come from a judge without a model"
VERDICT = "a preview, not a finding"
PRELIMINARY = "preliminary"
"""Shown next to each headline figure of such a run."""
COLUMN = "Preview, not a finding"
"""Heading of the column of a CSV file or workbook that repeats the notice: a CSV file has nowhere else to put it."""


def preview_notice(manifest: Mapping[str, object], other: Mapping[str, object] | None = None) -> str:
    """What no model has read, as a sentence without a full stop; empty for a run whose answers and labels models wrote.

    other  the manifest of a run that it is compared with: the notice then covers both
    """
    manifests = (manifest, *([other] if other else []))
    said = dict.fromkeys(words for entry in WORDS for one in manifests if (words := _words(entry, one.get(entry))))
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}: {VERDICT}" if text else ""


def _words(entry: str, name: object) -> str:
    if not (isinstance(name, str) and NO_MODEL.search(name)):
        return ""
    return WORDS[entry] if entry == "generator" or name == STAND_IN_JUDGE else OTHER_JUDGE
