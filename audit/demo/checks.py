"""A simulated judge asked again: further verdicts on a sample of its pairs, with known rates of changing its mind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from audit.demo.judge import UNSCORED, Labels
from audit.demo.world import World
from audit.vocabulary import DISAGREEING, CheckKind, Label

CHECKED = 600
"""Pairs that are checked in every way: enough for intervals of a few points, few enough for a page to be read."""

ELSEWHERE = {
    Label.ABSENT: Label.COMPLEMENTARY,
    Label.CONSISTENT: Label.COMPLEMENTARY,
    Label.COMPLEMENTARY: Label.DIVERGENT,
    Label.DIVERGENT: Label.COMPLEMENTARY,
    Label.CONTRADICTORY: Label.DIVERGENT,
}
"""Where a label goes when the judge changes its mind."""


@dataclass(frozen=True)
class Wavering:
    """How often the simulated judge gives another label when it is asked again; all of it is ours, none is published.

    swap, repeat         with the answers in the other order, and the same once more: whatever the label was
    blind, blind_others  without the names of centers: of the pairs that disagree, which then become milder, and of the others
    unscored             checks without a readable verdict
    """

    swap: float = 0.09
    repeat: float = 0.03
    blind: float = 0.2
    blind_others: float = 0.005
    unscored: float = 0.01

    def rate(self, kind: CheckKind, label: Label) -> float:
        """The chance that a check of `kind` moves `label`."""
        if kind is CheckKind.BLIND:
            return self.blind if label in DISAGREEING else self.blind_others
        return self.swap if kind is CheckKind.SWAP else self.repeat


Verdicts = Mapping[CheckKind, Label | None]
"""The label that each kind of check gives, None where unscored."""


def simulate_checks(world: World, labels: Labels, wavering: Wavering = Wavering()) -> dict[tuple[int, int], Verdicts]:
    """(question, place among its pairs) -> the checks of that pair, for CHECKED pairs drawn from all that were judged.

    They have a stream of chance of their own: a release is the same with them and without.
    """
    rng = np.random.default_rng([world.config.seed, 4])
    questions, places = np.nonzero(~labels.prescreened)
    drawn = np.sort(rng.choice(len(questions), min(CHECKED, len(questions)), replace=False))
    chance = rng.random((len(drawn), len(CheckKind), 2))
    return {
        (question, place): {
            kind: _again(int(labels.judge[question, place]), kind, wavering, *draw)
            for kind, draw in zip(CheckKind, draws, strict=True)
        }
        for question, place, draws in zip(questions[drawn].tolist(), places[drawn].tolist(), chance.tolist(), strict=True)
    }


def _again(verdict: int, kind: CheckKind, wavering: Wavering, read: float, moved: float) -> Label | None:
    if verdict == UNSCORED or read < wavering.unscored:
        return None
    label = tuple(Label)[verdict]
    return ELSEWHERE[label] if moved < wavering.rate(kind, label) else label
