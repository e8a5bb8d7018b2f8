"""A simulated judge: a noisy reader of the true relations, with published error rates, also asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit.vocabulary import DISAGREEING, LABELS, CheckKind, Label
from tests.simulator.world import Codes, World

# The code of a pair whose verdict could not be parsed.
UNSCORED = -1

# Label given by the judge -> label agreed by two clinicians -> pairs, in arXiv:2605.29084, section 5.1 (146 pairs).
#
# F1 by label 1.00, .83, .70, .69, .99; 18 errors, 14 of them on the complementary boundary. One of 39 contradictory pairs was
# called complementary there; it is counted as right here, because 1 of 25 complementary verdicts, weighted up to three quarters
# of all verdicts, would make true contradictions thirty times as frequent as the judge finds them.
VALIDATED = {
    Label.CONSISTENT: {Label.CONSISTENT: 19, Label.COMPLEMENTARY: 6},
    Label.COMPLEMENTARY: {Label.CONSISTENT: 2, Label.COMPLEMENTARY: 22, Label.DIVERGENT: 1},
    Label.DIVERGENT: {Label.COMPLEMENTARY: 8, Label.DIVERGENT: 10},
}
CONTRADICTION_MISSED = 1 / 39
# Published shares of the judge's labels among judged pairs (arXiv:2605.29084, section 6.1).
JUDGED_SHARE = {Label.CONSISTENT: 0.071, Label.COMPLEMENTARY: 0.754, Label.DIVERGENT: 0.129}


@dataclass(frozen=True)
class JudgeNoise:
    """Parameters that are not in the validation table.

    absent, unscored  shares of the pairs asked about that are called ABSENT, or get no readable verdict. The published label
                      shares leave 4.5 % of judged pairs to the two together; the split is ours
    borderline        share of COMPLEMENTARY pairs that are on borderline questions, as measured at paper scale; with
                      it, DIVERGENT is 12.9 % of judged pairs

    A complementary pair is called divergent on borderline questions only: those that turn on a value, where two answers give
    figures that can be compared. Were such errors independent over all questions, every general
    question, with its thousands of present pairs, would have a divergent pair, and pct_any_div would be
    100 %; it is published as 30 to 56 % by organ.
    """

    absent: float = 0.04
    unscored: float = 0.0055
    borderline: float = 0.456


@dataclass(frozen=True)
class Labels:
    """True relations and verdicts of every pair, int8 (questions, pairs); the pairs are in the order of `World.pairs`.

    truth  code 0 to 4; 0 means that a handbook does not address the question; such a pair is pre-screened
    judge  code 0 to 4, or UNSCORED; 0 where pre-screened
    """

    truth: Codes
    judge: Codes

    @property
    def prescreened(self) -> NDArray[np.bool_]:
        """Pairs that were labelled ABSENT without asking the judge."""
        return np.equal(self.truth, Label.ABSENT.code)


def simulate_labels(world: World, noise: JudgeNoise | None = None) -> Labels:
    """Draw the judge's verdicts on a world, without any text.

    The seed is that of the world's config, so the labels are those of the release that `write_demo` writes. Paper scale
    takes about a second, a world of 60 questions and 30 handbooks a few milliseconds.
    """
    truth = np.stack([world.relation(q) for q in range(len(world.questions))])
    return Labels(truth, draw_verdicts(world, truth, noise or JudgeNoise(), np.random.default_rng([world.config.seed, 1])))


def draw_verdicts(world: World, truth: Codes, noise: JudgeNoise, rng: np.random.Generator) -> Codes:
    """What one judge says of every pair, int8 (questions, pairs); 0 where pre-screened."""
    cumulative = np.cumsum(kernel(noise), axis=-1)
    return np.stack(
        [_verdicts(codes, cumulative[int(q.contested)], rng) for codes, q in zip(truth, world.questions, strict=True)]
    )


def _verdicts(truth: Codes, cumulative: NDArray[np.float64], rng: np.random.Generator) -> Codes:
    judge = np.zeros(len(truth), dtype=np.int8)
    asked = np.flatnonzero(truth != Label.ABSENT.code)
    u = rng.random(len(asked))
    # The last cumulative probability may be just below 1 by rounding; without it `drawn` never exceeds UNSCORED's column.
    drawn = (u[:, None] > cumulative[truth[asked], :-1]).sum(axis=1)
    judge[asked] = np.where(drawn == len(LABELS), UNSCORED, drawn)
    return judge


def kernel(noise: JudgeNoise) -> NDArray[np.float64]:
    """P(verdict | true label), float (2, 5, 6): borderline question or not, true label, verdict; the last verdict is UNSCORED.

    The validation sample was stratified by the judge's label, so it gives P(true | verdict); weighting it with the
    published shares of the verdicts and normalising by true label turns it round.
    """
    either = np.zeros((2, len(LABELS), len(LABELS) + 1))
    either[:] = _turned_round()
    called_divergent = either[0, Label.COMPLEMENTARY.code, Label.DIVERGENT.code]
    for borderline, rate in enumerate((0.0, called_divergent / noise.borderline)):
        row = either[borderline, Label.COMPLEMENTARY.code]
        # What is not called divergent here is called what it is: the row still adds up to 1.
        row[Label.COMPLEMENTARY.code] += called_divergent - rate
        row[Label.DIVERGENT.code] = rate
    # Pairs whose true label is ABSENT are never shown to the judge, so their row stays as it is.
    either[:, 1:] *= 1 - noise.absent - noise.unscored
    either[:, 1:, Label.ABSENT.code] = noise.absent
    either[:, 1:, -1] = noise.unscored
    return either


def _turned_round() -> NDArray[np.float64]:
    joint = np.zeros((len(LABELS), len(LABELS) + 1))
    for verdict, agreed in VALIDATED.items():
        for true, pairs in agreed.items():
            joint[true.code, verdict.code] = JUDGED_SHARE[verdict] * pairs / sum(agreed.values())
    joint[Label.CONTRADICTORY.code, Label.CONTRADICTORY.code] = 1 - CONTRADICTION_MISSED
    joint[Label.CONTRADICTORY.code, Label.COMPLEMENTARY.code] = CONTRADICTION_MISSED
    joint[Label.ABSENT.code, Label.ABSENT.code] = 1
    rates: NDArray[np.float64] = joint / joint.sum(axis=1, keepdims=True)
    return rates


# Pairs that are checked in every way: enough for intervals of a few points, few enough for a page to be read.
N_CHECKED = 600

# Where a label goes when the judge changes its mind.
CHANGED_LABELS = {
    Label.ABSENT: Label.COMPLEMENTARY,
    Label.CONSISTENT: Label.COMPLEMENTARY,
    Label.COMPLEMENTARY: Label.DIVERGENT,
    Label.DIVERGENT: Label.COMPLEMENTARY,
    Label.CONTRADICTORY: Label.DIVERGENT,
}


# In a repeat, a judge is as likely to move from one label to another as back, or it would have become stricter or milder.
# So each boundary has its share of all changes, half of them in either direction.
REPEAT_BOUNDARIES = {
    (Label.CONSISTENT, Label.COMPLEMENTARY): 0.45,
    (Label.COMPLEMENTARY, Label.DIVERGENT): 0.5,
    (Label.ABSENT, Label.COMPLEMENTARY): 0.05,
}


@dataclass(frozen=True)
class CheckNoise:
    """How often the simulated judge gives another label when asked again; all rates are our choice, as none are published.

    swap                 with the answers in the other order: whatever the label was
    repeat               the same once more, of all judged pairs, over the boundaries of REPEAT_BOUNDARIES
    blind, blind_others  without the names of centers: of the pairs that disagree, which then become milder, and of the others
    unscored             checks without a readable verdict
    """

    swap: float = 0.09
    repeat: float = 0.03
    blind: float = 0.2
    blind_others: float = 0.005
    unscored: float = 0.01

    def rate(self, kind: CheckKind, label: Label) -> float:
        """The chance that a check of `kind` moves `label`; of a repeat, on average over all labels."""
        if kind is CheckKind.BLIND:
            return self.blind if label in DISAGREEING else self.blind_others
        return self.swap if kind is CheckKind.SWAP else self.repeat


Verdicts = Mapping[CheckKind, Label | None]
"""The label that each kind of check gives, None where unscored."""


def simulate_checks(world: World, labels: Labels, noise: CheckNoise = CheckNoise()) -> dict[tuple[int, int], Verdicts]:
    """(question, index among its pairs) -> the checks of that pair, for N_CHECKED pairs drawn from all that were judged.

    They have their own random stream, so the rest of a release is the same with and without them.
    """
    rng = np.random.default_rng([world.config.seed, 4])
    questions, pairs = np.nonzero(~labels.prescreened)
    moves = repeats(labels, noise)
    drawn = np.sort(rng.choice(len(questions), min(N_CHECKED, len(questions)), replace=False))
    chance = rng.random((len(drawn), len(CheckKind), 2))
    return {
        (question, pair): {
            kind: again(int(labels.judge[question, pair]), kind, noise, moves, *draw)
            for kind, draw in zip(CheckKind, draws, strict=True)
        }
        for question, pair, draws in zip(questions[drawn].tolist(), pairs[drawn].tolist(), chance.tolist(), strict=True)
    }


Moves = Mapping[Label, Sequence[tuple[Label, float]]]
"""Label -> the labels that a repeat may give instead, with the chance of each."""


def repeats(labels: Labels, noise: CheckNoise) -> Moves:
    """Where each label may go in a repeat, over the boundaries of REPEAT_BOUNDARIES; `noise.repeat` of all judged pairs move."""
    judged = labels.judge[~labels.prescreened]
    share = {label: max(float(np.mean(judged == label.code)), 1 / max(len(judged), 1)) for label in Label}
    return {label: [(other, noise.repeat * part / 2 / share[label]) for other, part in _boundaries(label)] for label in Label}


def _boundaries(label: Label) -> Iterator[tuple[Label, float]]:
    """The labels across each boundary of a label, with the boundary's share of all changes."""
    for (one, other), part in REPEAT_BOUNDARIES.items():
        if label in (one, other):
            yield (other if label is one else one), part


def again(verdict: int, kind: CheckKind, noise: CheckNoise, moves: Moves, read: float, moved: float) -> Label | None:
    """The label of one check, from two draws on [0, 1): whether the reply can be read, and whether the label moves."""
    if verdict == UNSCORED or read < noise.unscored:
        return None
    label = tuple(Label)[verdict]
    if kind is CheckKind.REPEAT:
        reached = 0.0
        for other, rate in moves[label]:
            reached += rate
            if moved < reached:
                return other
        return label
    return CHANGED_LABELS[label] if moved < noise.rate(kind, label) else label
