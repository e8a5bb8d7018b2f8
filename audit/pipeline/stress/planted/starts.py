"""The pairs in which changes are planted: two answers of a run, or one answer paired with itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from audit.pipeline.stress.building.draws import rank
from audit.vocabulary import Label

T = TypeVar("T")


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


def twins(pairs: Iterable[StartPair]) -> list[StartPair]:
    """Every answer of the pairs once, paired with itself; the label is CONSISTENT by definition."""
    pairs_by_answer: dict[tuple[str, str], StartPair] = {}
    for pair in pairs:
        for side in (pair, pair.swapped()):
            twin = replace(
                side, handbook_b=side.handbook_a, answer_b=side.answer_a, center_b=side.center_a, label=Label.CONSISTENT
            )
            pairs_by_answer.setdefault((side.question_id, side.handbook_a), twin)
    return list(pairs_by_answer.values())


def spread(items: Iterable[T], seed: int, key: Callable[[T], tuple[str, ...]], by: Callable[[T], Hashable]) -> list[T]:
    """The items in a random order that alternates between groups, the same for one seed on every machine.

    key  the ids of an item, which determine its order together with the seed
    by   the group of an item, such as its question or its label
    """
    shuffled = sorted(items, key=lambda item: rank(seed, *key(item)))
    drawn: Counter[Hashable] = Counter()
    rounds = []
    for item in shuffled:
        drawn[by(item)] += 1
        rounds.append((drawn[by(item)], item))
    # A stable sort keeps the random order within a round
    return [item for _, item in sorted(rounds, key=lambda entry: entry[0])]
