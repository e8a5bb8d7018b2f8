"""How common each label is in the whole run, from a sample that people labelled.

The judge's own shares are biased by its errors, and no interval helps that. The sample knows, for each of the judge's
labels (or finer strata), which labels people give instead; the run knows exactly how many pairs each stratum holds.
Weighting the one with the other gives the corrected share: sum over strata of W_h p_h. For strata made of the judge's
labels this is what stratified prediction-powered inference comes to (Fisch et al. 2024, arXiv:2406.04291).

Its interval is that of Zou, Huang and Zhang (2009), Comput. Stat. Data Anal. 53 (MOVER): the distances from each p_h to the
ends of its own interval, weighted and added as squares, for each side apart. The interval of one stratum is Jeffreys', with
its end at 0 or 1 where nothing or everything was of the label (Brown, Cai and DasGupta 2001, Stat. Sci. 16). A label that no
rated item of a stratum had may still be there, and the upper end says so. Measured on simulated studies of 20, 40 and 80 items a
stratum (tests/annotation/test_prevalence_coverage.py) it holds the true share of every label in 93 to 98 %; for CONTRADICTORY,
0.15 % of the run, the bootstrap, which cannot see what no item shows, in 60 %, and so does value +- 1.96 standard errors.
Where a label is nowhere but in a stratum of its own, the upper end is wide: 40 items do not rule out a few per cent.

A stratum that was rated whole adds no uncertainty; one rated in part, less than a sample from an endless one: its items count
n (N - 1) / (N - n). A stratum of which nothing is rated may hold the label in all its pairs or in none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import betaincinv

from annotation.design import UNSCORED, Design, Floats
from annotation.ratings import GOLD, JUDGE, MISSING, Codes, Ratings
from audit.errors import AuditError
from audit.stats.intervals import wilson
from audit.vocabulary import DISAGREEING, LABEL_SPELLINGS, LABELS, plain

DISAGREES = "disagrees"
"""Stands for DIVERGENT and CONTRADICTORY together."""
ROWS = (*(label.value for label in LABELS), DISAGREES)
TAIL = 0.025


class Share(NamedTuple):
    """Shares with the ends of their 95 % intervals, all of one shape."""

    value: npt.NDArray[np.floating]
    low: npt.NDArray[np.floating]
    high: npt.NDArray[np.floating]


def stratified(found: npt.ArrayLike, rated: npt.ArrayLike, pairs: npt.ArrayLike, possible: npt.ArrayLike = True) -> Share:
    """The share of the run that has a label, with its 95 % interval.

    found  (..., strata): rated items with the label; a fraction where an item is split between labels
    rated  (strata,): items rated
    pairs  (strata,): pairs in the run
    possible  bool, (strata,): False where a stratum is known to hold none

    The value is NaN where nothing is rated; a stratum without ratings counts in the interval, and not in the value.
    """
    x, n, size = (np.asarray(values, dtype=float) for values in (found, rated, pairs))
    can = np.asarray(possible, dtype=bool)
    weight = size / size.sum()
    known = n > 0
    share = np.divide(x, n, out=np.zeros(np.broadcast_shapes(x.shape, n.shape)), where=known)
    low, high = jeffreys(share, np.where(known & can, _worth(n, size), np.inf))
    part = (weight * share * known).sum(axis=-1)
    below = np.sqrt((known * (weight * (share - low)) ** 2).sum(axis=-1))
    above = np.sqrt((known * (weight * (high - share)) ** 2).sum(axis=-1)) + weight[~known & can].sum()
    covered = weight[known].sum()
    return Share(part / covered if covered else np.full(part.shape, np.nan), part - below, part + above)


def _worth(rated: Floats, pairs: Floats) -> Floats:
    """Items of an endless stratum that would tell as much; infinite where all its pairs are rated."""
    with np.errstate(divide="ignore", invalid="ignore"):  # of a stratum of a single pair, 0 / 0
        return np.asarray(np.where(rated < pairs, rated * (pairs - 1) / np.maximum(pairs - rated, 0), np.inf))


def jeffreys(share: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """The ends of Jeffreys' 95 % interval: 0 where the share is 0, 1 where it is 1, no width for endless trials."""
    n = np.where(np.isfinite(trials), trials, 1)
    yes, no = share * n + 0.5, (1 - share) * n + 0.5
    low, high = (np.where(np.isfinite(trials), betaincinv(yes, no, tail), share) for tail in (TAIL, 1 - TAIL))
    return np.where(share == 0, 0, low), np.where(share == 1, 1, high)


def prevalence(ratings: Ratings, human: str = GOLD) -> pd.DataFrame:
    """How common each label is in the run, corrected and otherwise.

    `human` says whose labels are believed: an annotator, or `gold`: an item's adjudicated label, else the label that all its
    annotators gave, else split evenly between the labels they gave.

    One row per method and label (the five, and `disagrees`: DIVERGENT or CONTRADICTORY):
        method            corrected    the headline: the sample weighted back by stratum
                          judge        the judge's own share; no interval, since its error is not one of sampling
                          human only   the same items and weights, without using what stratum they come from
                          sample       the plain share of the rated items, which are not like the run
        label             str
        value, low, high  float in [0, 1]; low and high are a 95 % interval
        n                 int, rated items
        note              str, empty or what to know

    Raises AuditError when the table does not say how the sample was drawn, when nothing is rated, or for an unknown `human`.
    """
    design, said = sampled(ratings), believed(ratings, human)
    rated = ~np.isnan(said[:, 0])
    if not rated.any():
        raise AuditError(f"No item has a label by {human}. Nothing was estimated. Label some items first.")
    n = int(rated.sum())
    tables = [
        _table("corrected", corrected(design, said), n, _unrated(design, rated)),
        _table("judge", judge_share(design, ratings.labels[JUDGE]), 0, ""),
        _table("human only", _human_only(design, said), n, ""),
        _table("sample", _plain(said[rated]), n, "not weighted: describes the sample, not the run"),
    ]
    return pd.concat(tables, ignore_index=True)


def sampled(ratings: Ratings) -> Design:
    """The design, or an AuditError that says what is missing."""
    if ratings.design is None:
        raise AuditError(
            "The table does not say how the items were drawn: it has no column design_weight. Nothing was estimated. Add "
            "design_weight (pairs in the item's stratum over items sampled from it), or give the pairs of each stratum."
        )
    return ratings.design


def corrected(design: Design, said: Floats) -> Share:
    """The corrected share of each label and of `disagrees`, six of each."""
    rated = ~np.isnan(said[:, 0])
    return stratified(found_by_stratum(design, said), design.counted(rated), design.pairs)


def found_by_stratum(design: Design, said: Floats) -> Floats:
    """Rated items with each label, (labels and `disagrees`, strata)."""
    rows = with_disagrees(np.nan_to_num(said))
    return np.stack([np.bincount(design.stratum, weights=row, minlength=len(design.names)) for row in rows.T])


def believed(ratings: Ratings, human: str = GOLD) -> Floats:
    """What people say of each item: (items, labels), each row adding up to 1; NaN where nobody said anything."""
    if human != GOLD and human not in ratings.annotators:
        raise AuditError(
            f"There is no annotator '{human}'. Allowed: {', '.join((GOLD, *ratings.annotators))}. Nothing was estimated."
        )
    if human != GOLD:
        return _split([ratings.labels[human]])
    said = _split([ratings.labels[seat] for seat in ratings.annotators])
    gold = _split([ratings.labels.get(GOLD, np.full(len(ratings.items), MISSING))])
    return np.where(np.isnan(gold), said, gold)


def _split(codes: list[Codes]) -> Floats:
    votes = np.sum([seat[:, None] == np.arange(len(LABELS)) for seat in codes], axis=0).astype(float)
    with np.errstate(invalid="ignore"):
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def with_disagrees(shares: Floats) -> Floats:
    """A further column for `disagrees`."""
    return np.column_stack([shares, shares[:, [label.code for label in DISAGREEING]].sum(axis=1)])


def judge_share(design: Design, judge: Codes) -> Share:
    """The judge's own shares in the run, without intervals.

    Exact where a stratum holds one of the judge's labels only, as it does when items were drawn by label.
    """
    shares = np.array([_verdicts(name, judge[design.stratum == place]) for place, name in enumerate(design.names)])
    value = with_disagrees((design.pairs[:, None] * shares).sum(axis=0, keepdims=True) / design.pairs.sum())[0]
    return Share(value, *np.full((2, len(value)), np.nan))


def _verdicts(stratum: str, judge: Codes) -> Floats:
    """The judge's labels in a stratum, as shares; a stratum without items goes by its name."""
    if len(judge):
        return np.asarray((judge[:, None] == np.arange(len(LABELS))).mean(axis=0))
    if stratum != UNSCORED and plain(stratum) not in LABEL_SPELLINGS:
        return np.full(len(LABELS), np.nan)
    return np.array([float(LABEL_SPELLINGS.get(plain(stratum)) is label) for label in LABELS])


def _human_only(design: Design, said: Floats) -> Share:
    """The weighted share of the ratings, with Jeffreys' interval for as many items as equal weights would need (Kish 1965)."""
    rated = ~np.isnan(said[:, 0])
    weight = (design.pairs / np.maximum(design.counted(rated), 1))[design.stratum[rated]]
    value = with_disagrees(said[rated]).T @ weight / weight.sum()
    return Share(value, *jeffreys(value, np.full(value.shape, weight.sum() ** 2 / (weight**2).sum())))


def _plain(said: Floats) -> Share:
    counts = with_disagrees(said).sum(axis=0)
    return Share(counts / len(said), *wilson(counts, np.full(counts.shape, len(said))))


def _unrated(design: Design, rated: npt.NDArray[np.bool_]) -> str:
    empty = [name for name, n in zip(design.names, design.counted(rated), strict=True) if n == 0]
    return f"the interval leaves open what strata without ratings hold: {', '.join(empty)}" if empty else ""


def _table(method: str, share: Share, n: int, note: str) -> pd.DataFrame:
    columns = {"method": method, "label": ROWS, "value": share.value, "low": share.low, "high": share.high}
    return pd.DataFrame({**columns, "n": n, "note": note})
