"""Which label a planted change must bring about, and whether a judge's label did."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from audit.vocabulary import Label, PlantedKind

MUST_BECOME: dict[PlantedKind, tuple[Label, ...]] = {
    PlantedKind.AMOUNT: (Label.DIVERGENT, Label.CONTRADICTORY),
    PlantedKind.NEGATION: (Label.CONTRADICTORY,),
    PlantedKind.DETAIL: (Label.COMPLEMENTARY,),
    PlantedKind.BLANK: (Label.ABSENT,),
}
"""Kind of change -> the labels, one of which must come out, as the rubric of the annotation protocol has it."""
LENIENT: dict[PlantedKind, tuple[Label, ...]] = {
    # Opposite advice on one point: that it is seen as a disagreement at all is what matters first
    PlantedKind.NEGATION: (Label.DIVERGENT, Label.CONTRADICTORY),
}
"""Kind of change -> labels that count as right too, where they are counted leniently."""
KEEPING = tuple(kind for kind in PlantedKind if kind not in MUST_BECOME)
"""Kinds of change that leave the relation of two answers as it is."""


class PlantedOutcome(StrEnum):
    """What became of a planted change.

    RIGHT     the label is one that must come out, or stayed where it must
    LENIENT   right only where it is counted leniently
    WRONG     another label
    UNTELLING the label was there before the change already, so that nothing shows whether the judge saw it
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
    """What became of a change, given the labels that are right after it and the judge's labels before and after it."""
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
