"""The verdict of a judge, a model or rules, on a pair."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """A judge's verdict on one pair.

    `label` is one of the five labels, or None: unscored, with the `reason` (a label is never guessed). `significance` (low,
    medium, high) goes with DIVERGENT and CONTRADICTORY only. `parse` tells how the reply was read: strict, lenient, label (only
    the label's field, of a broken object), prose (a label without an object), none (nothing was), or rules (no model was asked).
    `quotes` are the words of the first and of the second answer that it rests on; `difference` and `follow_both` say why advice
    differs and whether one patient can follow both.
    """

    label: str | None
    significance: str | None = None
    topic: str | None = None
    reasoning: str | None = None
    parse: str = "strict"
    reason: str | None = None
    quotes: tuple[str | None, str | None] = (None, None)
    difference: str | None = None
    follow_both: str | None = None
