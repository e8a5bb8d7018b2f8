"""The outer shape of a simulated corpus: how many questions and handbooks, which centers, which phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from audit.vocabulary import GENERAL


@dataclass(frozen=True)
class Coverage:
    """Which handbook answers which question: a probit model with effects of question, handbook and organ.

    A handbook answers when  ease of the question + breadth of the handbook + match of organ and phase + chance > 0.
    Chance has unit variance; `policy_share` of it belongs to handbook and policy, so a handbook
    tends to answer both or neither of two questions about one policy. All numbers are in those units, fitted at paper scale:

    general_ease, general_spread   middle and spread of general questions: 78.9 % of pairs pre-screened absent
    organ_ease, organ_spread       the same for organ questions, with it mean handbook absence 0.74
    other_organ, kindred_organ     for a handbook of another organ, of a kindred one: pct_any_div 30 to 56 % by organ
    narrow, broad                  stretch of the narrow and of the broad handbooks: absence up to 0.99, down to 0.45
    other_phase, policy_share      not published; chosen

    The values below are for a run in which every handbook is asked every question; PAPER_COVERAGE is for one in which
    organ questions go to the handbooks of their organ.
    """

    general_ease: float = 2.88
    general_spread: float = 2.42
    organ_ease: float = -0.99
    organ_spread: float = 0.42
    other_organ: float = -2.4
    kindred_organ: float = -0.68
    other_phase: float = -0.35
    narrow: float = 0.73
    broad: float = 0.215
    policy_share: float = 0.5


# Fitted to the same figures where organ questions go to the handbooks of their organ. They close in one corner only: 78.9 % of
# all pairs are absent if general questions are answered by nearly every handbook or by nearly none (hence the spread); a mean
# handbook absence near 0.74 then leaves a third to half of the organ questions, and r_abs by organ is rather 0.78 than 0.60.
PAPER_COVERAGE = replace(
    Coverage(),
    general_ease=5.95,
    general_spread=6.8,
    organ_ease=-1.1,
    organ_spread=5.0,
    other_phase=-0.23,
    narrow=1.62,
    broad=1.14,
)


@dataclass(frozen=True)
class Variety:
    """How far handbooks that answer differ from each other.

    general_contested, organ_contested  share of questions that turn on a value, the rest turns on advice that all share;
                         fitted to pct_any_div, and to R_div higher by organ (0.14 to 0.19) than over all pairs (0.135)
    min_other, max_other, bend  share of centers that leave the commonest value, for u in [0, 1]:
                         min_other + (max_other - min_other) * u ** bend; fitted to 12.9 % DIVERGENT among judged pairs
    own_page             share of programs (center and organ) that wrote their own page instead of taking the center's; chosen
    dissent              share of handbooks that give the opposite advice on a stance policy; below 0.1 % CONTRADICTORY

    That 7.1 % of judged pairs are CONSISTENT follows from ten equally frequent sets of two details (`policies.DETAIL_SETS`).
    """

    general_contested: float = 0.515
    organ_contested: float = 0.61
    min_other: float = 0.04
    max_other: float = 0.24
    bend: float = 1.7
    own_page: float = 0.1
    dissent: float = 0.0016


# Where only the 11 to 26 handbooks of an organ answer its questions, more of these must be contested for R_div of 0.14 to 0.19.
PAPER_VARIETY = replace(Variety(), organ_contested=0.64)


@dataclass(frozen=True)
class WorldConfig:
    """The settings of a simulation. The same config always gives the same world.

    handbooks    organ -> number of handbooks
    questions    organ or `general` -> number of questions
    n_centers    number of centers; the first 23 have names of their own
    phases       numbers of pre, post and combined handbooks; they add up to the handbooks
    independent  True: every question has a policy of its own, every handbook a center of its own, and all effects are
                 drawn independently, so questions and handbooks are exchangeable (for testing intervals; such a
                 world has labels but no texts). False: quotas keep a single release close to the intended shares.
    asked        organ: organ questions are put to the handbooks of that organ, general ones to all; all: every question to all
    parse_status whether the release has the parse status of each judge reply; the published one does not
    traces       whether answers record every layer of their search, and absent answers the passages they were given
    matters      number of matters that pairs disagree about, and `topics` the number of different divergence topics; 0: a few
                 topics for each subject (`tests.simulator.topics`)
    """

    seed: int
    handbooks: Mapping[str, int]
    questions: Mapping[str, int]
    n_centers: int
    phases: tuple[int, ...]
    independent: bool = False
    asked: str = "all"
    parse_status: bool = False
    traces: bool = False
    matters: int = 0
    topics: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    variety: Variety = field(default_factory=Variety)

    @property
    def n_handbooks(self) -> int:
        """Number of handbooks over all organs."""
        return sum(self.handbooks.values())


def paper_config(seed: int) -> WorldConfig:
    """The published shape: 102 handbooks of 23 centers, 1,115 questions, 311 of them general (arXiv:2605.29084, section 3); 991
    themes of 16,113 divergence topics (section 6).

    The number of questions per organ is not published. These give the 48,056 answers of section 4 where organ questions go
    to the handbooks of their organ; kidney has most, as in waiting lists and forums, without which no handbook could leave
    out as little as 45 % of all questions (appendix G).
    """
    return WorldConfig(
        seed=seed,
        handbooks={"kidney": 22, "liver": 17, "heart": 26, "lung": 26, "pancreas": 11},
        questions={GENERAL: 311, "kidney": 310, "liver": 200, "heart": 100, "lung": 92, "pancreas": 102},
        n_centers=23,
        phases=(37, 39, 26),
        asked="organ",
        matters=991,
        topics=16_113,
        coverage=PAPER_COVERAGE,
        variety=PAPER_VARIETY,
    )


def small_config(seed: int) -> WorldConfig:
    """A release that is written in seconds: 24 handbooks of 8 centers, 118 questions.

    Organ questions are answered more often than in the paper, and opposite advice is less rare: so small a corpus
    would otherwise show next to none.
    """
    return WorldConfig(
        seed=seed,
        handbooks={"kidney": 6, "liver": 5, "heart": 5, "lung": 5, "pancreas": 3},
        questions={GENERAL: 48, "kidney": 18, "liver": 14, "heart": 14, "lung": 14, "pancreas": 10},
        n_centers=8,
        phases=(8, 9, 7),
        parse_status=True,
        traces=True,
        coverage=replace(Coverage(), organ_ease=0.4, other_organ=-1.4),
        variety=replace(Variety(), dissent=0.02),
    )


def scaled(counts: Sequence[int], total: int) -> tuple[int, ...]:
    """`total` shared out in proportion to `counts`, in whole numbers that add up to it."""
    edges = np.rint(np.cumsum([0, *counts]) * total / sum(counts)).astype(int)
    return tuple(int(step) for step in np.diff(edges))
