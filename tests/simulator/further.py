"""Verdicts after those of the demo's run: of a second simulated judge, and of the run's judge asked again at two later dates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.pipeline.stages.further_verdicts import OTHERS, PANEL
from audit.vocabulary import DISAGREEING, LABELS, CheckKind, FurtherKind, Label
from tests.simulator.judge import UNSCORED, CheckNoise, JudgeNoise, Labels, again, draw_verdicts, repeats
from tests.simulator.planted import REASONS
from tests.simulator.world import World

Record = dict[str, Any]

SECOND_JUDGE = "Simulated reader 2"
SECOND_NOISE = JudgeNoise(absent=0.02, unscored=0.01)
SECOND_DATE = "2026-02-01"
PANELS = (("2026-04-01", "revision 1", 0.0), ("2026-10-01", "revision 2", 0.4))
"""Date, revision of the run's judge, and the share of DIVERGENT pairs that it calls COMPLEMENTARY from then on: the change that a
panel has to find. Our choice."""
PANEL_NOISE = CheckNoise(repeat=0.06)
"""Pairs whose label is open. Each reading falls on either side, the run's too, so two readings differ on half of them."""


def further_records(world: World, labels: Labels, judge: str) -> Iterator[Record]:
    """The records of further_verdicts.jsonl, drawn as `audit judge --second-judge` and `--recheck` draw their pairs.

    They have random streams of their own, so the rest of a release is the same with and without them.
    """
    yield from _second(world, labels)
    yield from _panels(world, labels, judge)


def _second(world: World, labels: Labels) -> Iterator[Record]:
    rng = np.random.default_rng([world.config.seed, 21])
    verdicts = draw_verdicts(world, labels.truth, SECOND_NOISE, rng)
    disagree = np.isin(labels.judge, [label.code for label in DISAGREEING])
    read = (disagree | (labels.judge == UNSCORED)) & ~labels.prescreened
    others = np.argwhere(~labels.prescreened & ~read)
    read[tuple(rng.choice(others, min(OTHERS, len(others)), replace=False).T)] = True
    for question, pair in np.argwhere(read).tolist():
        about = {"kind": FurtherKind.SECOND, "round": 1, "number": 1, "judge": SECOND_JUDGE, "date": SECOND_DATE}
        code = int(verdicts[question, pair])
        yield _record(world, question, pair, None if code == UNSCORED else LABELS[code]) | about


def _panels(world: World, labels: Labels, judge: str) -> Iterator[Record]:
    rng = np.random.default_rng([world.config.seed, 22])
    asked = np.argwhere(~labels.prescreened & (labels.judge != UNSCORED))
    panel: NDArray[np.int64] = np.sort(rng.choice(len(asked), min(PANEL, len(asked)), replace=False))
    rates = repeats(labels, PANEL_NOISE)
    for question, pair in asked[panel].tolist():
        now = int(labels.judge[question, pair])
        other = again(now, CheckKind.REPEAT, PANEL_NOISE, rates, 1.0, rng.random()) or LABELS[now]
        milder = rng.random()
        for number, (date, revision, drift) in enumerate(PANELS, 1):
            for reading in (1, 2):
                label: Label | None = other if rng.random() < 0.5 else LABELS[now]
                if label is Label.DIVERGENT and milder < drift:
                    label = Label.COMPLEMENTARY
                if rng.random() < PANEL_NOISE.unscored:
                    label = None
                about = {"kind": FurtherKind.RECHECK, "round": number, "number": reading, "judge": judge, "date": date}
                yield _record(world, question, pair, label) | about | {"revision": revision}


def _record(world: World, question: int, pair: int, label: Label | None) -> Record:
    a, b = (world.handbooks[int(side[pair])].id for side in world.pairs)
    return {
        "question_id": world.questions[question].id, "handbook_a": a, "handbook_b": b, "label": label,
        "reasoning": REASONS[label] if label else None, "unscored_reason": None if label else "cut",
    }  # fmt: skip
