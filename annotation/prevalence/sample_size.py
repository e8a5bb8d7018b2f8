"""How many ratings each stratum needs before a corrected share is known as precisely as wanted."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from annotation.prevalence.estimates import DISAGREES, ROWS, events_by_stratum, human_labels, require_design
from annotation.ratings.design import Floats
from annotation.ratings.table import GOLD, Ratings
from audit.errors import AuditError
from audit.stats.intervals import stratified_share

GROWTH = 0.05
"""A stratum gets this share more ratings at a time, at least one."""


def sample_size_plan(ratings: Ratings, half_width: float, label: str = DISAGREES, human: str = GOLD) -> pd.DataFrame:
    """The ratings per stratum after which the 95 % interval of a corrected share is expected to be narrow enough.

    The ratings so far show how common `label` (one of the five, or `disagrees`) is in each stratum; half an item is added on
    either side, so that a stratum in which none occurred is not assumed to have none. Ratings go where one narrows the
    interval most, until it extends `half_width` to either side on average, or everything is rated.

    One row per stratum:
        stratum    str
        pairs      int, in the run
        rated      int, so far
        wanted     int, in all; never fewer than rated
        more       int, wanted - rated
        expected   float in [0, 1], the share of the label that the plan assumes
        half_width float, of the corrected share once every stratum has what is wanted; the same in every row

    Raises AuditError for an unknown label, a width outside (0, 1), or a table without a design.
    """
    _check_request(half_width, label)
    design, labels = require_design(ratings), human_labels(ratings, human)
    rated = design.count(~np.isnan(labels[:, 0]))
    expected = (events_by_stratum(design, labels)[ROWS.index(label)] + 0.5) / (rated + 1)
    wanted = allocate(expected, rated, design.pairs, half_width)
    table = {"stratum": design.strata, "pairs": design.pairs, "rated": rated, "wanted": wanted, "more": wanted - rated}
    counts = pd.DataFrame(table).astype({column: int for column in table if column != "stratum"})
    return counts.assign(expected=expected, half_width=expected_half_width(expected, wanted, design.pairs))


def allocate(share: Floats, rated: Floats, pairs: Floats, half_width: float) -> Floats:
    """Ratings per stratum: from `rated`, each next one where it narrows the interval most, until it is narrow enough.

    `share` is how common the label is assumed to be in each stratum. Stops when every pair is rated.
    """
    wanted = np.maximum(rated, np.minimum(1, pairs))
    while expected_half_width(share, wanted, pairs) > half_width and (wanted < pairs).any():
        larger = np.minimum(pairs, wanted + np.maximum(1, np.floor(GROWTH * wanted)))
        candidates = np.where(np.eye(len(pairs), dtype=bool), larger, wanted)
        widths = np.array([expected_half_width(share, candidate, pairs) for candidate in candidates])
        gain = (expected_half_width(share, wanted, pairs) - widths) / np.maximum(larger - wanted, 1)
        best = np.where(larger > wanted, gain, -math.inf).argmax()
        wanted[best] = larger[best]
    return wanted


def expected_half_width(share: Floats, rated: Floats, pairs: Floats) -> float:
    """Half the width of the corrected share's interval, if each stratum shows the assumed share."""
    estimate = stratified_share(share * rated, rated, pairs)
    return float(estimate.high - estimate.low) / 2


def _check_request(half_width: float, label: str) -> None:
    if label not in ROWS:
        raise AuditError(f"There is no label '{label}'. Allowed: {', '.join(ROWS)}. Nothing was planned.")
    if not 0 < half_width < 1:
        raise AuditError(
            f"The half-width must be a share between 0 and 1, such as 0.02 for two points to either side, not {half_width:g}. "
            "Nothing was planned."
        )
