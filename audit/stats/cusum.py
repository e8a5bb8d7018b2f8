"""Whether errors become more frequent along a sequence: a cumulative sum of evidence, with a limit found by simulation.

Each item adds the log likelihood ratio of its error, or of its being right, for odds of an error that are ODDS times as high as
expected of it; the sum starts anew at 0 whenever it would fall below (Page 1954; risk-adjusted: Steiner et al. 2000,
Biostatistics 1). Its limit is what the highest sum exceeds in FALSE_ALARMS of the orders in which the same items could have come:
where the order means nothing, an alarm has this probability for the whole sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.stats.intervals import Floats

ODDS, FALSE_ALARMS = 2.0, 0.05
ORDERS, SEED = 999, 20_261_128


@dataclass(frozen=True)
class Cusum:
    """A sequence of sums.

    path   (items,), at least 0
    limit  which its highest value exceeds with probability FALSE_ALARMS if the order means nothing
    p      the share of orders whose highest value is at least as high, the actual one counted
    """

    path: Floats
    limit: float
    p: float

    @property
    def first_above(self) -> int | None:
        """The index of the first item above the limit; None without an alarm."""
        above = np.flatnonzero(self.path > self.limit)
        return int(above[0]) if len(above) else None

    @property
    def since(self) -> int | None:
        """The index of the item from which the sum rose to its first alarm."""
        if self.first_above is None:
            return None
        return int(np.max(np.flatnonzero(self.path[: self.first_above] == 0), initial=-1)) + 1


def cusum(errors: Floats, expected: Floats) -> Cusum:
    """The sums of a sequence, in its order.

    errors    (items,), 1 for an error, 0 for none; fractions where raters are divided
    expected  (items,), the probability of an error of such an item, in (0, 1)
    """
    steps = errors * np.log(ODDS) - np.log(1 - expected + ODDS * expected)
    rng = np.random.default_rng(SEED)
    highest = _path(rng.permuted(np.tile(steps[:, None], ORDERS), axis=0)).max(axis=0, initial=0)
    own = _path(steps[:, None])[:, 0]
    p = (1 + (highest >= own.max(initial=0) - 1e-9).sum()) / (ORDERS + 1)
    return Cusum(own, float(np.quantile(highest, 1 - FALSE_ALARMS, method="higher")), float(p))


def _path(steps: Floats) -> Floats:
    """(items, sequences): each sum so far, less the lowest before it."""
    total = np.cumsum(steps, axis=0)
    return np.asarray(total - np.minimum(np.minimum.accumulate(total, axis=0), 0))
