"""Bang's blinding index: how much more often than by chance raters name whose answer they read."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from audit.formatting import fixed
from audit.stats.intervals import Z, wilson


@dataclass(frozen=True)
class BlindingIndex:
    """The index of some guesses, with its 95 % interval.

    right, wrong, unknown  guesses; unknown: "I do not know"
    value                  1: everybody names the right one; 0: as by chance, or nobody knows; below 0: worse than by chance
    """

    right: int
    wrong: int
    unknown: int
    value: float
    low: float
    high: float

    @property
    def n(self) -> int:
        """All guesses."""
        return self.right + self.wrong + self.unknown

    def sentence(self) -> str:
        """The index in words."""
        ends = f"{fixed(self.value, 2)} ({fixed(self.low, 2)} to {fixed(self.high, 2)})"
        meaning = "Raters named institutions better than by chance." if self.low > 0 else "This does not differ from guessing."
        meaning = "Raters named institutions worse than by chance." if self.high < 0 else meaning
        return (
            f"Asked whose an answer is, raters were right {self.right:,} times, wrong {self.wrong:,} times and did not know "
            f"{self.unknown:,} times: Bang's blinding index is {ends}, where 0 is guessing and 1 no blinding. {meaning}"
        )


def blinding_index(right: int, wrong: int, unknown: int, choices: int = 2) -> BlindingIndex:
    """The index of these guesses among `choices` answers, at least two; NaN without a guess.

    A right guess scores 1, "I do not know" 0, and a wrong one -1 / (choices - 1), so that guessing at random scores 0; the index
    is the mean score and its interval is normal. With two choices this is the index of Bang, Ni and Davis (2004), Control Clin
    Trials 25:143, equation of the 2 x 3 format, with its variance. Where all scores are equal, which leaves a variance of 0, the
    interval is Wilson's of the share on the same scale. Guesses of one rater are taken to be independent.
    """
    n, lost = right + wrong + unknown, 1 / (choices - 1)
    if not n:
        return BlindingIndex(0, 0, 0, float("nan"), float("nan"), float("nan"))
    value = (right - lost * wrong) / n
    half = Z * sqrt(max((right + lost**2 * wrong) / n - value**2, 0.0) / n)
    low, high = value - half, value + half
    if n in (right, wrong):
        low, high = (float(end) * (1 + lost) - lost for end in wilson(right, n))
    elif n == unknown:
        named = float(wilson(0, n)[1])
        low, high = -named * lost, named
    return BlindingIndex(right, wrong, unknown, value, max(low, -lost), min(high, 1.0))
