"""Sample-size planning: which strata need more ratings until the interval of a corrected share is narrow enough.

A plan can be carried out: a further study of the same run leaves out the pairs of earlier ones (`SamplePlan.after`), and their
ratings are estimated together (`annotation.studies.earlier_studies`). What a plan assumes of a label that no item has shown yet
is the judge's own share of it; whoever rates part of what a plan says and plans again needs the fewest ratings
(python -m benchmarks.planning). Active sampling, which rates where another judge or a repeat disagrees, would need 2 to 7 % fewer
for DIVERGENT and none for CONTRADICTORY, so it is not offered.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from annotation.prevalence.estimates import DISAGREES, ROWS, append_disagreement, events_by_stratum, require_design
from annotation.ratings.design import Floats
from annotation.ratings.gold import human_labels
from annotation.ratings.table import GOLD, JUDGE, Ratings
from audit.errors import AuditError
from audit.stats.intervals import jeffreys, stratified_share
from audit.tables import Column, TableSpec

PLAN_TABLE = TableSpec(
    "Ratings that each stratum needs",
    (
        Column.text("stratum", "Stratum"), Column.count("pairs", "Pairs in the run"), Column.count("rated", "Rated"),
        Column.count("wanted", "Needed"), Column.count("more", "Still to rate"), Column.share("expected", "Assumed share"),
        Column.share("half_width", "Half-width"),
    ),
)  # fmt: skip
GROWTH = 0.05
"""A stratum gets this share more ratings at a time, at least one."""


def sample_size_plan(ratings: Ratings, half_width: float, label: str = DISAGREES, human: str = GOLD) -> pd.DataFrame:
    """The ratings per stratum after which the 95 % interval of a corrected share is expected to be narrow enough.

    The ratings so far show how common `label` (one of the five, or `disagrees`) is in each stratum; the judge's own share of it
    in the run is added as one more item, so a stratum in which none occurred is not assumed to have none. Ratings go where
    one narrows the interval most, until it extends `half_width` to either side on average, or everything is rated.

    One row per label of the judge (or stratum, where strata are not labels):
        stratum    str
        pairs      int, in the run
        rated      int, so far; where a second criterion divides the label, as many as equal weights would need
        wanted     int, in all; never fewer than rated
        more       int, wanted - rated
        expected   float in [0, 1], the share of the label that the plan assumes
        half_width float, of the corrected share once every stratum has what is wanted; the same in every row

    Raises AuditError for an unknown label, a width outside (0, 1), or a table without a design.
    """
    _check_request(half_width, label)
    design, labels = require_design(ratings), human_labels(ratings, human)
    all_events = events_by_stratum(design, labels)[ROWS.index(label)]
    events, rated, pairs = design.by_verdict(all_events, design.count(~np.isnan(labels[:, 0])))
    rated = np.floor(rated)
    judge = append_disagreement(design.judge_shares(ratings.labels[JUDGE])[None])[0][ROWS.index(label)]
    expected = np.minimum((events + np.nan_to_num(judge, nan=0.5)) / (rated + 1), 1.0)
    wanted = allocate(expected, rated, pairs, half_width)
    table = {"stratum": design.verdicts, "pairs": pairs, "rated": rated, "wanted": wanted, "more": wanted - rated}
    counts = pd.DataFrame(table).astype({column: int for column in table if column != "stratum"})
    return counts.assign(expected=expected, half_width=expected_half_width(expected, wanted, pairs))


def items_of_random_sample(value: float, half_width: float) -> int:
    """The items that a plain random sample needs for a 95 % interval of `value` with this half-width; both in (0, 1)."""
    low, high = 1, 2
    while _random_half_width(value, high) > half_width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _random_half_width(value, middle) > half_width else (low, middle)
    return high


def _random_half_width(value: float, items: int) -> float:
    low, high = jeffreys(np.array(value), np.array(float(items)))
    return float(high - low) / 2


def allocate(share: Floats, rated: Floats, pairs: Floats, half_width: float) -> Floats:
    """Ratings per stratum: from `rated`, each next one where it narrows the interval most, until it is narrow enough.

    `share` is how common the label is assumed to be in each stratum. Stops when every pair is rated.
    """
    # At least one rating in each stratum: without one, the interval allows for anything there.
    wanted = np.maximum(rated, np.minimum(1, pairs))
    while expected_half_width(share, wanted, pairs) > half_width and (wanted < pairs).any():
        # In steps of 5 %, because each step compares all strata and a plan may need thousands of ratings.
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


def neyman(spread: Floats, pairs: Floats, total: int, least: int) -> Floats:
    """`total` ratings over strata in proportion to pairs times spread, (strata,): the most precise share or rate for them.

    At least `least` from each stratum, even if these exceed `total`, and never more than it has; the largest remainders first.
    Source: Neyman (1934), J. R. Stat. Soc. 97; Cochran (1977), 5.5.
    """
    lowest = np.minimum(least, pairs)
    wanted, fixed = lowest.copy(), np.zeros(len(pairs), dtype=bool)
    while not fixed.all():
        room = max(total - wanted[fixed].sum(), 0.0)
        weight = np.where(fixed, 0.0, pairs * spread)
        exact = room * weight / weight.sum() if weight.sum() else np.zeros(len(pairs))
        outside = ~fixed & ((exact < lowest) | (exact > pairs))
        wanted = np.where(fixed, wanted, np.clip(exact, lowest, pairs))
        if not outside.any():
            break
        fixed |= outside
    whole = np.floor(wanted)
    for index in np.argsort(whole - wanted, kind="stable")[: max(round(min(total, pairs.sum()) - whole.sum()), 0)]:
        whole[index] += whole[index] < pairs[index]
    return whole


def rate_spread(disagreeing: Floats, absent: Floats, pairs: Floats) -> Floats:
    """The standard deviation, in each stratum, of what an item adds to R_div (linearised), from assumed shares of its labels."""
    agreeing = 1 - disagreeing - absent
    rate = float(disagreeing @ pairs) / max(float((1 - absent) @ pairs), 1e-9)
    mean = disagreeing * (1 - rate) - agreeing * rate
    return np.asarray(np.sqrt(np.maximum(disagreeing * (1 - rate) ** 2 + agreeing * rate**2 - mean**2, 0.0)))


def _check_request(half_width: float, label: str) -> None:
    if label not in ROWS:
        raise AuditError(f"There is no label '{label}'. Allowed: {', '.join(ROWS)}. Nothing was planned.")
    if not 0 < half_width < 1:
        raise AuditError(
            f"The half-width must be a share between 0 and 1, such as 0.02 for two points to either side, not {half_width:g}. "
            "Nothing was planned."
        )
