"""Bootstrap resampling, for figures without an interval in closed form: kappas, rank correlations, means, changes between runs.

Questions, or whatever the units of a figure are, are drawn with replacement. There are REPLICATES draws, seeded, so the same
run always shows the same interval. Shares of pairs, and their changes, have intervals in closed form (audit.stats.clustered,
audit.stats.share_changes). A replicate with less than MIN_KEPT of the denominator is discarded.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from audit.stats.intervals import Floats, Ints

REPLICATES = 1000
# Fixed, so the same run always shows the same interval.
SEED = 2007
# On fewer questions most draws miss an event or its opposite; with no event at all every draw gives zero, and the interval
# has no width.
MIN_QUESTIONS = 5
# The share of the denominator that a replicate must keep. Where a few handbooks have most present pairs, a draw can miss them
# all; the handful of pairs that remain carry hardly any information about the share.
MIN_KEPT = 1 / 3

Bools = npt.NDArray[np.bool_]


# Without the cache a metric of thirty shares would draw the same thousand replicates sixty times; 1,115 questions take 4.5 MB.
@lru_cache(8)
def draws(units: int, stream: int) -> Floats:
    """How often each unit is drawn in each replicate: float32, read-only, units x REPLICATES; each replicate draws `units` units.

    Streams are independent: 0 for questions, 2 for ranked units.
    """
    if not units:
        return np.zeros((0, REPLICATES), dtype=np.float32)
    # A multinomial draw is how often each unit is drawn when `units` are drawn with replacement.
    rng = np.random.default_rng([SEED, stream])
    drawn: Floats = rng.multinomial(units, np.full(units, 1 / units), size=REPLICATES).T.astype(np.float32)
    drawn.setflags(write=False)
    return drawn


def stratified_draws(times: Ints, stratum: Ints, fixed: Bools, seed: int, replicates: int) -> Floats:
    """How often each kind of item is drawn when items are drawn with replacement within strata: float (replicates, kinds).

    `times` is how often a kind occurs, `stratum` the stratum it belongs to, `fixed` (per stratum) where nothing is drawn
    because all of the stratum was rated.
    """
    rng, counts = np.random.default_rng(seed), np.tile(np.asarray(times, dtype=float), (replicates, 1))
    for member in np.unique(stratum[~fixed[stratum]]):
        (kinds,) = np.nonzero(stratum == member)
        # As many items are drawn from a stratum as were rated in it, so its weight does not change.
        n = int(times[kinds].sum())
        counts[:, kinds] = rng.multinomial(n, times[kinds] / n, size=replicates)
    return counts
