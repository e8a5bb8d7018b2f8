"""How many ratings each stratum needs before a corrected share is known as closely as wanted."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from annotation.design import Floats
from annotation.prevalence import DISAGREES, ROWS, believed, found_by_stratum, sampled, stratified
from annotation.ratings import GOLD, Ratings
from audit.errors import AuditError

STEP = 0.05
"""A stratum gets this share more ratings at a time, one at least."""


def plan(ratings: Ratings, half_width: float, label: str = DISAGREES, human: str = GOLD) -> pd.DataFrame:
    """The ratings per stratum after which the 95 % interval of a corrected share is expected to be narrow enough.

    What is rated so far says how common `label` (one of the five, or `disagrees`) is in each stratum; half an item is added on
    either side, so that a stratum in which none was found is not taken to hold none. Ratings go where one narrows the
    interval most, until it is `half_width` wide to either side, on average, or everything is rated.

    One row per stratum:
        stratum    str
        pairs      int, in the run
        rated      int, so far
        wanted     int, in all; never fewer than rated
        more       int, wanted - rated
        expected   float in [0, 1], the share of the label that is planned with
        half_width float, of the corrected share once every stratum has what is wanted; the same in every row

    Raises AuditError for an unknown label, a width outside (0, 1), or a table without a design.
    """
    _check(half_width, label)
    design, said = sampled(ratings), believed(ratings, human)
    rated = design.counted(~np.isnan(said[:, 0]))
    found = found_by_stratum(design, said)[ROWS.index(label)]
    expected = (found + 0.5) / (rated + 1)
    wanted = allocate(expected, rated, design.pairs, half_width)
    table = {"stratum": design.names, "pairs": design.pairs, "rated": rated, "wanted": wanted, "more": wanted - rated}
    counts = pd.DataFrame(table).astype({column: int for column in table if column != "stratum"})
    return counts.assign(expected=expected, half_width=float(_half_width(expected, wanted, design.pairs)))


def allocate(share: Floats, rated: Floats, pairs: Floats, half_width: float) -> Floats:
    """Ratings per stratum: from `rated`, each next one where it narrows the interval most, until it is narrow enough.

    `share` is how common the label is taken to be in each stratum. Stops when every pair is rated.
    """
    wanted = np.maximum(rated, np.minimum(1, pairs))
    while _half_width(share, wanted, pairs) > half_width and (wanted < pairs).any():
        further = np.minimum(pairs, wanted + np.maximum(1, np.floor(STEP * wanted)))
        tried = np.where(np.eye(len(pairs), dtype=bool), further, wanted)
        widths = np.array([_half_width(share, row, pairs) for row in tried])
        gain = (_half_width(share, wanted, pairs) - widths) / np.maximum(further - wanted, 1)
        best = np.where(further > wanted, gain, -math.inf).argmax()
        wanted[best] = further[best]
    return wanted


def _half_width(share: Floats, rated: Floats, pairs: Floats) -> float:
    expected = stratified(share * rated, rated, pairs)
    return float(expected.high - expected.low) / 2


def _check(half_width: float, label: str) -> None:
    if label not in ROWS:
        raise AuditError(f"There is no label '{label}'. Allowed: {', '.join(ROWS)}. Nothing was planned.")
    if not 0 < half_width < 1:
        raise AuditError(
            f"A half-width of {half_width:g} cannot be planned for. Allowed: a share between 0 and 1, such as 0.02 for two "
            "points to either side. Nothing was planned."
        )
