"""Changes planted in the demo's answers, and a simulated judge that sees each kind of change with a known probability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from audit.evaluation.planted_changes import LENIENT, MUST_BECOME, StartPair
from audit.pipeline.stress.planted.changes import PlantedChange
from audit.pipeline.stress.planted.judging import Record, planted_record
from audit.pipeline.stress.planted.planting import plant
from audit.pipeline.verdict import Verdict
from audit.vocabulary import LABELS, Label, PlantedKind
from tests.simulator.answers import answer_text, drawn_styles
from tests.simulator.judge import CHANGED_LABELS, Labels
from tests.simulator.world import World

# Planted changes of each kind, and judged pairs that they may start from
N_ITEMS, N_PAIRS = 36, 1_200
REASONS: dict[Label, str] = {
    Label.ABSENT: "One of the two does not say anything on what was asked.",
    Label.CONSISTENT: "Both tell the patient the same.",
    Label.COMPLEMENTARY: "One says more than the other, and a patient can follow both.",
    Label.DIVERGENT: "A patient who follows the one would act differently from a patient who follows the other.",
    Label.CONTRADICTORY: "They tell the patient opposite things.",
}
OVERLOOKED = Label.CONSISTENT
"""The label of a judge that does not see what was changed in one of two equal answers."""


@dataclass(frozen=True)
class PlantedNoise:
    """How the simulated judge reacts to planted changes; all rates are our choice, as none are published.

    right     kind -> the chance that its label is right: sensitivity or specificity
    lenient   where it misses a denial, the chance that it calls the pair DIVERGENT and not CONSISTENT
    unscored  chance of no readable verdict after the change

    A planted instruction that moves the label is always obeyed.
    """

    right: Mapping[PlantedKind, float] = field(
        default_factory=lambda: {
            PlantedKind.AMOUNT: 0.9, PlantedKind.NEGATION: 0.8, PlantedKind.DETAIL: 0.6, PlantedKind.BLANK: 0.95,
            PlantedKind.ORDER: 0.97, PlantedKind.SYNONYMS: 0.94, PlantedKind.PADDING: 0.85, PlantedKind.SWAP: 0.91,
            PlantedKind.CENTER: 0.95, PlantedKind.INSTRUCTION: 0.88,
        }
    )  # fmt: skip
    lenient: float = 0.5
    unscored: float = 0.01


def planted_records(world: World, labels: Labels, judge: str, noise: PlantedNoise = PlantedNoise()) -> Iterator[Record]:
    """The records of planted.jsonl: the same changes as `audit stress judge` plants, with labels of the simulated judge.

    A random stream of their own, so the rest of a release is the same with and without them.
    """
    rng = np.random.default_rng([world.config.seed, 20])
    changes = plant(start_pairs(world, labels, rng), N_ITEMS, seed=world.config.seed).items
    for change, chance in zip(changes, rng.random((len(changes), 3)).tolist(), strict=True):
        before = change.start.label or Label.CONSISTENT
        # What was changed in equal answers, and not what the run's judge called the pair, is all that the label can follow
        before = before if change.kind not in MUST_BECOME else Label.CONSISTENT
        after = None if chance[0] < noise.unscored else _after(change, before, chance[1:], noise)
        yield planted_record(change, _verdict(before), _verdict(after), judge)


def planted_truth(noise: PlantedNoise = PlantedNoise()) -> dict[str, object]:
    """The true rates of the simulated judge: by kind, the chance that its label is right."""
    return {"right": {kind.value: rate for kind, rate in noise.right.items()}, "denial_called_divergent": noise.lenient}


def start_pairs(world: World, labels: Labels, rng: np.random.Generator) -> list[StartPair]:
    """Random pairs that the judge gave a label, with their texts."""
    questions, pairs = np.nonzero(~labels.prescreened & (labels.judge >= 0))
    drawn = np.sort(rng.choice(len(questions), min(N_PAIRS, len(questions)), replace=False))
    styles = list(drawn_styles(world))
    first, second = world.pairs
    return [
        _start_pair(
            world, question, (int(first[pair]), int(second[pair])), styles[question], LABELS[labels.judge[question, pair]]
        )
        for question, pair in zip(questions[drawn].tolist(), pairs[drawn].tolist(), strict=True)
    ]


def _start_pair(world: World, question: int, handbooks: tuple[int, int], style: list[int], label: Label) -> StartPair:
    a, b = (world.handbooks[handbook] for handbook in handbooks)
    texts = [answer_text(world, question, handbook, style[world.handbooks[handbook].center]) for handbook in handbooks]
    asked = world.questions[question]
    return StartPair(asked.id, asked.text, a.id, b.id, texts[0], texts[1], a.center_name, b.center_name, label)


def _after(change: PlantedChange, before: Label, chance: list[float], noise: PlantedNoise) -> Label:
    right, other = chance
    if change.kind in MUST_BECOME:
        if right < noise.right[change.kind]:
            return MUST_BECOME[change.kind][0]
        return LENIENT[change.kind][0] if change.kind in LENIENT and other < noise.lenient else OVERLOOKED
    if right < noise.right[change.kind]:
        return before
    return change.ordered or CHANGED_LABELS[before]


def _verdict(label: Label | None) -> Verdict:
    return Verdict(label, reasoning=REASONS[label]) if label else Verdict(None, reason="no label")
