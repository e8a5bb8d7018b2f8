"""Populations of questions and handbooks whose true rates are known exactly, and samples drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from audit.stats.pair_table import PRESCREENED, Pairs
from audit.vocabulary import Label

Table = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """Kinds of questions and kinds of handbooks, each equally common.

    answers   questions' kinds x handbooks' kinds: chance that such a handbook addresses such a question
    dissent   the same shape: how prone such a handbook is to disagree on such a question
    policies  False: two handbooks disagree by the chance d_a + d_b of each pair of answers, one by one.
              True: each handbook follows the less common of two policies with chance d, and two handbooks disagree when
              their policies differ, so what one handbook says about one question affects all its pairs there.
    """

    answers: Table
    dissent: Table
    policies: bool = False

    def rates(self) -> dict[str, float]:
        """The true r_abs and r_div of two handbooks drawn at random on a question drawn at random."""
        present = self.answers[:, :, None] * self.answers[:, None, :]
        differ = self._differ(self.dissent[:, :, None], self.dissent[:, None, :])
        return {"r_abs": 1 - present.mean(), "r_div": (present * differ).sum() / present.sum()}

    def sample(self, questions: int, handbooks: int, rng: np.random.Generator) -> Pairs:
        """All pairs of so many questions and handbooks, both drawn at random."""
        q = rng.integers(self.answers.shape[0], size=(questions, 1))
        h = rng.integers(self.answers.shape[1], size=(1, handbooks))
        addressed = rng.random((questions, handbooks)) < self.answers[q, h]
        dissent = self.dissent[q, h]
        if self.policies:
            dissent = (rng.random(dissent.shape) < dissent).astype(float)
        a, b = np.array(list(combinations(range(handbooks), 2))).T
        differ = rng.random((questions, len(a))) < self._differ(dissent[:, a], dissent[:, b])
        label = np.where(differ, Label.DIVERGENT.code, Label.CONSISTENT.code)
        outcome = np.where(addressed[:, a] & addressed[:, b], label, PRESCREENED).astype(np.uint8)
        return Pairs(np.repeat(np.arange(questions), len(a)), np.tile(a * 32768 + b, questions), outcome.ravel())

    def _differ(self, p: Table, q: Table) -> Table:
        return p * (1 - q) + q * (1 - p) if self.policies else p + q
