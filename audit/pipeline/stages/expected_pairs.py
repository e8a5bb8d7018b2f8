"""How many pairs a judge will be asked about: counted once all answers exist, before that expected from those that do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb, sqrt

# Share of pairs with an absent answer, by organ, among handbooks of the question's own organ: the lowest and the highest
# (arXiv:2605.29084, section 6.2). A run asks such handbooks only; over all handbooks the share is 78.9 %.
PUBLISHED_LOW, PUBLISHED_HIGH = 0.60, 0.78
PUBLISHED_PAIRS = (PUBLISHED_LOW + PUBLISHED_HIGH) / 2
# With fewer pairs of existing answers, the single answers give the better estimate.
MIN_PAIRS = 30

AnswerSize = tuple[str, bool, int]
"""Question id, whether the answer is absent, its characters."""


@dataclass(frozen=True)
class AnswersSoFar:
    """The answers that exist: how many, present ones and their characters; their pairs, and those of two present answers."""

    answers: int = 0
    present: int = 0
    characters: int = 0
    pairs: int = 0
    present_pairs: int = 0

    @property
    def present_share(self) -> float:
        """Share of answers that are not absent, in [0, 1]; as published where there is no answer."""
        return self.present / self.answers if self.answers else sqrt(1 - PUBLISHED_PAIRS)

    @property
    def present_pair_share(self) -> float:
        """Share of pairs that need a judge, in [0, 1]; as published where there is no answer."""
        if self.pairs >= MIN_PAIRS:
            return self.present_pairs / self.pairs
        return self.present_share**2


def answers_so_far(answers: Iterable[AnswerSize]) -> AnswersSoFar:
    """The counts of some answers."""
    asked, present, characters = defaultdict[str, int](int), defaultdict[str, int](int), 0
    for question, absent, length in answers:
        asked[question] += 1
        present[question] += not absent
        characters += 0 if absent else length
    return AnswersSoFar(
        sum(asked.values()), sum(present.values()), characters,
        sum(comb(number, 2) for number in asked.values()), sum(comb(number, 2) for number in present.values()),
    )  # fmt: skip


@dataclass(frozen=True)
class ExpectedPairs:
    """All pairs, and those that need no judge because an answer is absent; `answers` is how many answers there will be."""

    total: int
    answers: int
    so_far: AnswersSoFar
    exact: bool

    @property
    def prescreened(self) -> int:
        """Pairs with an absent answer: counted, or expected."""
        return self.total - self.to_judge

    @property
    def to_judge(self) -> int:
        """Pairs of two present answers: counted, or expected."""
        return self.so_far.present_pairs if self.exact else round(self.total * self.so_far.present_pair_share)

    @property
    def text(self) -> str:
        """The counts, and what an expected one is based on."""
        if not self.total:
            return "0 pairs."
        if self.exact:
            return f"{self.total:,} pairs, {self.prescreened:,} of them ABSENT without a judge."
        if self.so_far.answers:
            absent = 1 - self.so_far.present_share
            basis = f"as in the {self.so_far.answers:,} of {self.answers:,} answers that exist, of which {absent:.0%} are absent"
        else:
            basis = (
                f"the middle of the published range of handbooks of the question's organ, {PUBLISHED_LOW:.0%} to "
                f"{PUBLISHED_HIGH:.0%}; replaced by this run's own share once there are answers"
            )
        return f"{self.total:,} pairs, about {self.prescreened:,} of them ABSENT without a judge ({basis})."
