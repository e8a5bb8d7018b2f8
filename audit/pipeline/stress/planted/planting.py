"""Plants changes in the pairs of a run: a number of each kind, reproducible for a seed on every machine."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from audit.evaluation.planted_changes import MUST_BECOME, StartPair
from audit.pipeline.stress.building.draws import rank
from audit.pipeline.stress.planted.changes import PLANTERS, CannotPlant, PlantedChange, PlantingContext
from audit.vocabulary import Label, PlantedKind

# -- start pairs ---------------------------------------------------------------------------------------------
# The pairs in which changes are planted: two answers of a run, or one answer paired with itself.

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


@dataclass
class PlantedChanges:
    """The planted changes, kind by kind, and how many pairs did not allow one.

    refused  (kind, reason) -> pairs
    """

    items: list[PlantedChange] = field(default_factory=list)
    refused: Counter[tuple[PlantedKind, str]] = field(default_factory=Counter)

    def of_kind(self, kind: PlantedKind) -> list[PlantedChange]:
        """The changes of one kind."""
        return [item for item in self.items if item.kind is kind]


def plant(
    pairs: Sequence[StartPair], count: int, *, seed: int = 1, kinds: Iterable[PlantedKind] = tuple(PlantedKind)
) -> PlantedChanges:
    """Plant up to `count` changes of each kind.

    pairs  pairs of two answers of a run, with its labels

    A change that must move the label starts from one answer paired with itself, whose label is known. Up to half of the changed
    amounts start from two answers that the run calls CONSISTENT and that both state the amount. A change that must not move the
    label starts from any pair, alternating between the labels of the run.
    """
    result = PlantedChanges()
    centers = sorted({name for pair in pairs for name in (pair.center_a, pair.center_b)})
    same = spread(twins(pairs), seed, lambda pair: pair.key, by=lambda pair: pair.question_id)
    by_label = spread(pairs, seed, lambda pair: pair.key, by=lambda pair: pair.label)
    for kind in kinds:
        if kind is PlantedKind.AMOUNT:
            agreeing = [pair for pair in by_label if pair.label is Label.CONSISTENT]
            _plant_kind(result, kind, agreeing, count // 2, seed, centers)
        starts = same if kind in MUST_BECOME else by_label
        _plant_kind(result, kind, starts, count - len(result.of_kind(kind)), seed, centers)
    return result


def _plant_kind(
    result: PlantedChanges, kind: PlantedKind, starts: Sequence[StartPair], count: int, seed: int, centers: Sequence[str]
) -> None:
    made = 0
    for start in starts:
        if made >= count:
            return
        # One stream per kind and pair, so that neither the count nor the selection of kinds affects an item
        choose = random.Random(rank(seed, kind, *start.key))  # noqa: S311 - a sample, not a secret
        change = PLANTERS[kind](start, PlantingContext(choose, made, centers))
        if isinstance(change, CannotPlant):
            result.refused[kind, change.reason] += 1
        else:
            result.items.append(change)
            made += 1


def item_id(change: PlantedChange) -> str:
    """An id that contains the kind; equal changes have equal ids."""
    parts = (*change.start.key, *change.before, *change.after)
    return f"{change.kind}-{hashlib.sha256(chr(31).join(parts).encode()).hexdigest()[:12]}"
