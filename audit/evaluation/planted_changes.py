"""The labels that are right after a planted change, and whether a judge gave one of them."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from audit.vocabulary import DISAGREEING, Label, PlantedKind

MUST_BECOME: dict[PlantedKind, tuple[Label, ...]] = {
    PlantedKind.AMOUNT: DISAGREEING,
    PlantedKind.NEGATION: (Label.CONTRADICTORY,),
    PlantedKind.DETAIL: (Label.COMPLEMENTARY,),
    PlantedKind.BLANK: (Label.ABSENT,),
}
"""Kind of change -> the labels that are right after it, following the rubric of the annotation protocol."""
LENIENT: dict[PlantedKind, tuple[Label, ...]] = {
    # Opposite advice on one point: what matters most is that it is recognised as a disagreement at all
    PlantedKind.NEGATION: DISAGREEING,
}
"""Kind of change -> labels that also count as right in lenient scoring."""
KEEPING = tuple(kind for kind in PlantedKind if kind not in MUST_BECOME)
"""Kinds of change that leave the relation of two answers as it is."""


class PlantedOutcome(StrEnum):
    """The outcome of a planted change.

    RIGHT     the label is a right one, or stayed if it must stay
    LENIENT   right only in lenient scoring
    WRONG     another label
    UNTELLING the judge gave this label before the change already, so the item shows nothing
    NO_LABEL  unscored before the change or after it
    """

    RIGHT = "right"
    LENIENT = "lenient"
    WRONG = "wrong"
    UNTELLING = "untelling"
    NO_LABEL = "no label"


def expected_labels(kind: PlantedKind, label_before: Label | None) -> tuple[Label, ...]:
    """The labels that the judge may give after the change; empty where the label must stay and there was none before."""
    if kind in MUST_BECOME:
        return MUST_BECOME[kind]
    return () if label_before is None else (label_before,)


def planted_outcome(kind: PlantedKind, expected: Collection[str], before: str | None, after: str | None) -> PlantedOutcome:
    """The outcome of a change, given the labels that are right after it and the judge's labels before and after it."""
    if before is None or after is None:
        return PlantedOutcome.NO_LABEL
    if kind in KEEPING:
        return PlantedOutcome.RIGHT if after == before else PlantedOutcome.WRONG
    labels = expected or MUST_BECOME[kind]
    if before in labels:
        return PlantedOutcome.UNTELLING
    if after in labels:
        return PlantedOutcome.RIGHT
    return PlantedOutcome.LENIENT if after in LENIENT.get(kind, ()) and before not in LENIENT[kind] else PlantedOutcome.WRONG
