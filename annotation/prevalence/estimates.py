"""How common each label is in the whole run, corrected for the judge's errors.

The judge's own shares are biased by its errors, and an interval does not remove a bias. The sample shows, for each of the
judge's labels (or finer strata), which labels people give instead; the run shows exactly how many pairs each stratum has.
Weighting the one by the other gives the corrected share: sum over strata of W_h p_h. For strata made of the judge's
labels this equals stratified prediction-powered inference (Fisch et al. 2024, arXiv:2406.04291).

Its interval is that of `audit.stats.intervals.stratified_share`: the distances from each p_h to the ends of its own Jeffreys
interval, weighted and added as squares, for each side separately. A label that no rated item of a stratum had may still
occur there, and the upper end allows for it. Measured on simulated studies of 20, 40 and 80 items a stratum
(tests/annotation/prevalence/test_coverage.py) it covers the true share of every label in 93 to 98 %; for CONTRADICTORY,
0.15 % of the run, the bootstrap, which cannot see what no item shows, covers it in 60 %, and so does value +- 1.96 standard
errors. Where a label occurs only in a stratum of its own, the upper end is wide: 40 items do not rule out a few per cent.

A stratum in which every pair is rated adds no uncertainty; one rated in part adds less than a sample from an infinite
stratum would: its items count n (N - 1) / (N - n). A stratum without ratings may have the label in all its pairs or in none.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from annotation.agreement.tables import INTERVALS, ITEMS, LABEL, NOTE, with_interval
from annotation.ratings.design import Codes, Floats, SampleDesign
from annotation.ratings.gold import GOLD_RULE, WITHOUT_GOLD, gold_standard, votes
from annotation.ratings.table import GOLD, JUDGE, MISSING, Ratings
from audit.errors import AuditError
from audit.stats.intervals import ShareEstimate, jeffreys, stratified_share, wilson
from audit.tables import Column, TableSpec
from audit.vocabulary import DISAGREEING, LABELS

DISAGREES = "disagrees"
"""DIVERGENT or CONTRADICTORY."""
ROWS = (*(label.value for label in LABELS), DISAGREES)
CORRECTED, JUDGE_ALONE, PEOPLE_ALONE, UNWEIGHTED = "corrected", "judge", "human only", "sample"
METHOD_NAMES = {
    CORRECTED: "Corrected",
    JUDGE_ALONE: "Judge's own count",
    PEOPLE_ALONE: "People alone",
    "ppi++": "PPI++",
    "inversion": "Inverted matrix",
    UNWEIGHTED: "Unweighted sample",
}
"""Every estimator, those of `annotation.prevalence.sensitivity` included, in the order in which they are shown."""
CORRECTED_TABLE = TableSpec(
    "How common each label is in the run, corrected for the judge's errors",
    (
        LABEL, Column.share("value", "Corrected", "share of the run"), Column.share("judge", "Judge's own", "share"),
        Column.share("people", "People alone", "share"), ITEMS, NOTE,
    ),
    (
        "Corrected: people's labels, weighted stratum by stratum with the exactly known sizes (stratified prediction-powered "
        "inference, arXiv:2406.04291). Judge's own: uncorrected; no interval can make up for its bias. People alone: the "
        "same items and weights, ignoring the strata.",
        f"{GOLD_RULE} {WITHOUT_GOLD}",
        "Disagrees: divergent or contradictory. " + INTERVALS,
    ),
)  # fmt: skip
METHODS_TABLE = TableSpec(
    "Share of each label in the run, by every estimator",
    (Column.text("method", "Method", words=METHOD_NAMES), LABEL, Column.share("value", "Share of the run"), ITEMS, NOTE),
)
PLAN_TABLE = TableSpec(
    "Ratings that each stratum needs",
    (
        Column.text("stratum", "Stratum"), Column.count("pairs", "Pairs in the run"), Column.count("rated", "Rated"),
        Column.count("wanted", "Needed"), Column.count("more", "Still to rate"), Column.share("expected", "Assumed share"),
        Column.share("half_width", "Half-width"),
    ),
)  # fmt: skip
SPLIT, LEFT_OUT = " (each label given counts in equal parts)", " (left out)"
GROWTH = 0.05
"""A stratum gets this share more ratings at a time, at least one."""


def prevalence(ratings: Ratings, human: str = GOLD) -> pd.DataFrame:
    """How common each label is in the run, corrected and otherwise.

    `human` names whose labels count as right: an annotator, or `gold` (annotation.ratings.gold). An open dispute is split evenly
    between the labels that were given; an item rated by one annotator only has no gold label. The notes of the corrected shares
    say how many there are of both.

    One row per method and label (the five, and `disagrees`: DIVERGENT or CONTRADICTORY):
        method            corrected    the headline: the sample weighted back by stratum
                          judge        the judge's own share; without an interval, because its error is not sampling error
                          human only   the same items and weights, without using what stratum they come from
                          sample       the plain share of the rated items, which are not representative of the run
        label             str
        value, low, high  float in [0, 1]; low and high are a 95 % interval
        n                 int, rated items
        note              str, empty or what to know

    Raises AuditError when the table does not say how the sample was drawn, when nothing is rated, or for an unknown `human`.
    """
    design, labels = require_design(ratings), human_labels(ratings, human)
    rated = ~np.isnan(labels[:, 0])
    standard = gold_standard(ratings)
    if not rated.any():
        once = int(standard.rated_once.sum()) if human == GOLD else 0
        why = f" ({once:,} are rated by one annotator only, which is not enough for a gold label)" if once else ""
        raise AuditError(f"No item has a label by {human}{why}. Nothing was estimated. Label some items first.")
    n, counts = int(rated.sum()), with_disagrees(labels[rated]).sum(axis=0)
    sample = ShareEstimate(counts / n, *wilson(counts, np.full(counts.shape, n)))
    judge = with_disagrees(design.judge_shares(ratings.labels[JUDGE])[None])[0]
    note = "; ".join(filter(None, [standard.left_open(SPLIT, LEFT_OUT) if human == GOLD else "", _unrated_strata(design, rated)]))
    tables = [
        method_table(CORRECTED, corrected_shares(design, labels), n, note),
        method_table(JUDGE_ALONE, ShareEstimate(judge, *np.full((2, len(judge)), np.nan)), 0, ""),
        method_table(PEOPLE_ALONE, _weighted_shares(design, labels), n, ""),
        method_table(UNWEIGHTED, sample, n, "not weighted: describes the sample, not the run"),
    ]
    return pd.concat(tables, ignore_index=True)


def by_label(shares: pd.DataFrame) -> pd.DataFrame:
    """One row per label: the corrected share (value), the judge's own and people's alone, each with the ends of its interval."""
    named = with_interval(shares)
    columns = {JUDGE_ALONE: ["value"], PEOPLE_ALONE: ["value", "value_low", "value_high"]}
    judge, people = (named[named["method"] == method].set_index("label")[own] for method, own in columns.items())
    people = people.rename(columns=lambda column: column.replace("value", "people"))
    return named[named["method"] == CORRECTED].join(judge["value"].rename("judge"), on="label").join(people, on="label")


def require_design(ratings: Ratings) -> SampleDesign:
    """The design of the sample. Raises AuditError, naming the missing column, for ratings without one."""
    if ratings.design is None:
        raise AuditError(
            "The table does not say how the items were sampled: it has no column design_weight. Nothing was estimated. Add "
            "design_weight (pairs in the item's stratum over items sampled from it), or give the pairs of each stratum."
        )
    return ratings.design


def human_labels(ratings: Ratings, human: str = GOLD) -> Floats:
    """What people call each item: (items, labels), each row adding up to 1; NaN where it has no such label."""
    if human != GOLD and human not in ratings.annotators:
        raise AuditError(
            f"There is no annotator '{human}'. Allowed: {', '.join((GOLD, *ratings.annotators))}. Nothing was estimated."
        )
    if human != GOLD:
        return _one_label(ratings.labels[human])
    standard, given = gold_standard(ratings), votes(ratings)
    # Open disputes are split between their labels: dropping them would drop the difficult items.
    split = given / np.maximum(given.sum(axis=1, keepdims=True), 1)
    return np.where(standard.disputed[:, None], split, _one_label(standard.codes))


def _one_label(codes: Codes) -> Floats:
    """Each item's label as a share of 1, (items, labels); NaN where it has none."""
    return np.where((codes == MISSING)[:, None], np.nan, codes[:, None] == np.arange(len(LABELS)))


def with_disagrees(shares: Floats) -> Floats:
    """Shares of labels (rows, labels) with a further column for `disagrees`."""
    return np.column_stack([shares, shares[:, [label.code for label in DISAGREEING]].sum(axis=1)])


def corrected_shares(design: SampleDesign, labels: Floats) -> ShareEstimate:
    """The corrected share of each label and of `disagrees`, six of each."""
    return stratified_share(events_by_stratum(design, labels), design.count(~np.isnan(labels[:, 0])), design.pairs)


def events_by_stratum(design: SampleDesign, labels: Floats) -> Floats:
    """Rated items with each label, (labels and `disagrees`, strata)."""
    rows = with_disagrees(np.nan_to_num(labels))
    return np.stack([np.bincount(design.stratum, weights=row, minlength=len(design.strata)) for row in rows.T])


def item_weights(design: SampleDesign, rated: np.ndarray) -> Floats:
    """The pairs of the run that each item represents, if it is rated: the pairs of its stratum over the items rated there."""
    return np.asarray((design.pairs / np.maximum(design.count(rated), 1))[design.stratum])


def _weighted_shares(design: SampleDesign, labels: Floats) -> ShareEstimate:
    """The weighted share of the ratings, with Jeffreys' interval for as many items as equal weights would need (Kish 1965)."""
    rated = ~np.isnan(labels[:, 0])
    weight = item_weights(design, rated)[rated]
    value = with_disagrees(labels[rated]).T @ weight / weight.sum()
    # Unequal weights make the items worth fewer equal ones (Kish 1965).
    return ShareEstimate(value, *jeffreys(value, np.full(value.shape, weight.sum() ** 2 / (weight**2).sum())))


def _unrated_strata(design: SampleDesign, rated: np.ndarray) -> str:
    empty = [name for name, n in zip(design.strata, design.count(rated), strict=True) if n == 0]
    return f"the interval allows for anything in strata without ratings: {', '.join(empty)}" if empty else ""


def method_table(method: str, share: ShareEstimate, n: int, note: str) -> pd.DataFrame:
    """The rows of one method, see `prevalence`."""
    columns = {"method": method, "label": ROWS, "value": share.value, "low": share.low, "high": share.high}
    return pd.DataFrame({**columns, "n": n, "note": note})


# -- how many ratings are enough ---------------------------------------------------------------------------------------


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
    # Half an item on either side, so that a stratum in which the label did not occur is not assumed to have none.
    expected = (events_by_stratum(design, labels)[ROWS.index(label)] + 0.5) / (rated + 1)
    wanted = allocate(expected, rated, design.pairs, half_width)
    table = {"stratum": design.strata, "pairs": design.pairs, "rated": rated, "wanted": wanted, "more": wanted - rated}
    counts = pd.DataFrame(table).astype({column: int for column in table if column != "stratum"})
    return counts.assign(expected=expected, half_width=expected_half_width(expected, wanted, design.pairs))


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


def _check_request(half_width: float, label: str) -> None:
    if label not in ROWS:
        raise AuditError(f"There is no label '{label}'. Allowed: {', '.join(ROWS)}. Nothing was planned.")
    if not 0 < half_width < 1:
        raise AuditError(
            f"The half-width must be a share between 0 and 1, such as 0.02 for two points to either side, not {half_width:g}. "
            "Nothing was planned."
        )
