"""The labels that are right after a planted change, and whether a judge gave one of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class StartPair:
    """Two answers to one question in a run, with the label that the run's judge gave.

    In a twin both answers are the same answer of one handbook, so the change on one side is the only difference.
    """

    question_id: str
    question: str
    handbook_a: str
    handbook_b: str
    answer_a: str
    answer_b: str
    center_a: str
    center_b: str
    label: Label | None

    @property
    def is_twin(self) -> bool:
        """Whether both answers are the same answer of one handbook."""
        return self.handbook_a == self.handbook_b

    @property
    def key(self) -> tuple[str, str, str]:
        """Question and handbooks."""
        return self.question_id, self.handbook_a, self.handbook_b

    def swapped(self) -> StartPair:
        """The pair with its answers in the other order."""
        return replace(
            self, handbook_a=self.handbook_b, handbook_b=self.handbook_a, answer_a=self.answer_b, answer_b=self.answer_a,
            center_a=self.center_b, center_b=self.center_a,
        )  # fmt: skip
