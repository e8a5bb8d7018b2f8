"""Which label a planted change must bring about, and whether a judge's label did."""

from __future__ import annotations

from audit.vocabulary import Label, PlantedKind

MUST_BECOME: dict[PlantedKind, tuple[Label, ...]] = {
    PlantedKind.AMOUNT: (Label.DIVERGENT, Label.CONTRADICTORY),
    PlantedKind.NEGATION: (Label.CONTRADICTORY,),
    PlantedKind.DETAIL: (Label.COMPLEMENTARY,),
    PlantedKind.BLANK: (Label.ABSENT,),
}
"""Kind of change -> the labels, one of which must come out, as the rubric of the annotation protocol has it."""
LENIENT: dict[PlantedKind, tuple[Label, ...]] = {
    **MUST_BECOME,
    # Opposite advice on one point of several: that it is a disagreement at all is what matters first
    PlantedKind.NEGATION: (Label.DIVERGENT, Label.CONTRADICTORY),
}
"""The same, where any label on the right side of the line between agreement and disagreement counts."""
KEEPING = tuple(kind for kind in PlantedKind if kind not in MUST_BECOME)
"""Kinds of change that leave the relation of two answers as it is."""


def expected_labels(kind: PlantedKind, label_before: Label | None) -> tuple[Label, ...]:
    """The labels that the judge may give after the change; empty where the label must stay and there was none before."""
    if kind in MUST_BECOME:
        return MUST_BECOME[kind]
    return () if label_before is None else (label_before,)
