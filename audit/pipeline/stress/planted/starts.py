"""The pairs in which changes are planted: two answers of a run, or one answer paired with itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeVar

from audit.evaluation.planted_changes import StartPair
from audit.pipeline.stress.building.draws import rank
from audit.vocabulary import Label

T = TypeVar("T")


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
