"""What curation adds to an export."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from annotation.theme_edits.edits import ThemeEdit
from annotation.theme_edits.history import edits_to_jsonl, history_table
from annotation.theme_edits.replay import CuratedTaxonomy
from audit.exports.context import CurationPart

SHOWN = ["act", "made_at", "what", "reason", "standing"]
"""Not who: a package is mailed to people who are not asked who curated."""


def curation_part(acts: Sequence[ThemeEdit], found: CuratedTaxonomy) -> CurationPart | None:
    """The themes as people made them, and what they did; None where no act counts. The same acts give the same part.

    found  what came of the acts (annotation.theme_edits.replay.apply_edits)
    """
    if not found.acts:
        return None
    facts = {
        "acts": len(acts), "counting": found.acts, "fitting_no_longer": len(found.conflicts),
        "acts_sha256": hashlib.sha256(edits_to_jsonl(acts).encode()).hexdigest(), "curated_sha256": found.taxonomy.sha256,
    }  # fmt: skip
    history = history_table(acts, found.conflicts)[SHOWN].iloc[::-1].reset_index(drop=True)
    return CurationPart(found.taxonomy, found.aside, history, facts)
