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

Strata that a second criterion divides (`label/organ`) are put together by the judge's label first
(`annotation.ratings.design.SampleDesign.by_verdict`).

For strata made of the judge's labels the items weighted back without regard to strata ("people alone"), PPI++ (arXiv:2311.01453)
and the inverted confusion matrix (Rogan and Gladen 1978) give the same value to the last digit. They therefore check only the
arithmetic, not the method, and are in the tests (tests/annotation/prevalence/test_identities.py). A different design is a plain
random sample of as many items, without the judge; its expected interval is shown next to the corrected one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from annotation.agreement.tables import INTERVALS, ITEMS, LABEL, NOTE, with_interval
from annotation.ratings.design import MISSING, PRESCREENED, Codes, Floats, SampleDesign, width_of
from annotation.ratings.gold import GOLD_RULE, WITHOUT_GOLD, gold_standard, human_labels
from annotation.ratings.table import GOLD, JUDGE, Ratings
from audit.errors import AuditError
from audit.stats.intervals import ROUNDING_ERROR, Interval, ShareEstimate, jeffreys, quotient_interval, wilson
from audit.stats.measured_errors import MeasuredErrors, measured_errors
from audit.tables import Column, TableSpec
from audit.vocabulary import DISAGREEING, LABELS, PRESENT_LABELS, Label

DISAGREEING_CODES = [label.code for label in DISAGREEING]
DISAGREES = "disagrees"
"""DIVERGENT or CONTRADICTORY."""
ROWS = (*(label.value for label in LABELS), DISAGREES)
CORRECTED, JUDGE_ALONE, RANDOM_SAMPLE, UNWEIGHTED = "corrected", "judge", "random sample", "sample"
DAWID_SKENE = "dawid-skene"
METHOD_NAMES = {
    CORRECTED: "Corrected",
    DAWID_SKENE: "Corrected, annotators weighed (Dawid-Skene)",
    RANDOM_SAMPLE: "Random sample (expected)",
    JUDGE_ALONE: "Judge's own count",
    UNWEIGHTED: "Unweighted sample",
}
"""Every estimator, in the order in which they are shown."""
CORRECTED_TABLE = TableSpec(
    "How common each label is in the run, corrected for the judge's errors",
    (
        LABEL, Column.share("value", "Corrected", "share of the run"), Column.share("judge", "Judge's own", "share"),
        Column.share("random", "Random sample (expected)", "share"), ITEMS, NOTE,
    ),
    (
        "Corrected: the raters' labels, weighted stratum by stratum with the exactly known sizes (stratified prediction-powered "
        "inference, arXiv:2406.04291). Judge's own: uncorrected; no interval can make up for its bias. Random sample: the "
        "interval that as many items, drawn from all pairs without the judge, would be expected to have.",
        f"{GOLD_RULE} {WITHOUT_GOLD}",
        "Disagrees: divergent or contradictory.", INTERVALS,
    ),
)  # fmt: skip
METHODS_TABLE = TableSpec(
    "Share of each label in the run, by every estimator",
    (Column.text("method", "Method", words=METHOD_NAMES), LABEL, Column.share("value", "Share of the run"), ITEMS, NOTE),
    (INTERVALS,),
)
DAWID_SKENE_NOTE = "annotators weighed by how often they seem to err, which the interval takes as known"
SPLIT, LEFT_OUT = " (each label given counts in equal parts)", " (left out)"


def prevalence(ratings: Ratings, human: str = GOLD) -> pd.DataFrame:
    """How common each label is in the run, corrected and otherwise.

    `human` names whose labels count as right: an annotator, or `gold` (annotation.ratings.gold). An open dispute is split evenly
    between the labels that were given; an item rated by one annotator only has no gold label. The notes of the corrected shares
    say how many there are of both.

    One row per method and label (the five, and `disagrees`: DIVERGENT or CONTRADICTORY):
        method            corrected    the headline: the sample weighted back by stratum
                          judge        the judge's own share; without an interval, because its error is not sampling error
                          random sample the corrected share with the interval that a plain random sample of as many items is
                                       expected to have: what the judge's labels save
                          dawid-skene  as corrected, with the true labels of annotation.prevalence.estimates instead of gold;
                                       only where three annotators or more rated an item
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
    n, counts = int(rated.sum()), append_disagreement(labels[rated]).sum(axis=0)
    sample = ShareEstimate(counts / n, *wilson(counts, np.full(counts.shape, n), width_of(n, live=ratings.live)))
    judge = append_disagreement(design.judge_shares(ratings.labels[JUDGE])[None])[0]
    left_open = standard.left_open(SPLIT, LEFT_OUT) if human == GOLD else ""
    note = "; ".join(filter(None, [left_open, _unrated_strata(design, rated), checked_absent(design, labels)]))
    corrected = corrected_shares(design, labels)
    width = width_of(n, live=ratings.live)
    random = ShareEstimate(corrected.value, *jeffreys(corrected.value, np.full(corrected.value.shape, n / width**2)))
    tables = [
        method_table(CORRECTED, corrected, n, note),
        method_table(JUDGE_ALONE, ShareEstimate(judge, *np.full((2, len(judge)), np.nan)), 0, ""),
        method_table(RANDOM_SAMPLE, random, n, "expected, at the corrected share"),
        method_table(UNWEIGHTED, sample, n, "not weighted: describes the sample, not the run"),
    ]
    if human == GOLD and can_tell_annotators_apart(ratings):
        weighed = true_labels(ratings).probability
        items = int((~np.isnan(weighed[:, 0])).sum())
        tables.append(method_table(DAWID_SKENE, corrected_shares(design, weighed), items, DAWID_SKENE_NOTE))
    return pd.concat(tables, ignore_index=True)


def by_label(shares: pd.DataFrame) -> pd.DataFrame:
    """One row per label: the corrected share (value), the judge's own, a random sample's; with the ends of their intervals."""
    named = with_interval(shares)
    columns = {JUDGE_ALONE: ["value"], RANDOM_SAMPLE: ["value", "value_low", "value_high"]}
    judge, random = (named[named["method"] == method].set_index("label")[own] for method, own in columns.items())
    random = random.rename(columns=lambda column: column.replace("value", "random"))
    return named[named["method"] == CORRECTED].join(judge["value"].rename("judge"), on="label").join(random, on="label")


def require_design(ratings: Ratings) -> SampleDesign:
    """The design of the sample. Raises AuditError, naming the missing column, for ratings without one."""
    if ratings.design is None:
        raise AuditError(
            "The table does not say how the items were sampled: it has no column design_weight. Nothing was estimated. Add "
            "design_weight (pairs in the item's stratum over items sampled from it), or give the pairs of each stratum."
        )
    return ratings.design


def append_disagreement(shares: Floats) -> Floats:
    """Shares of labels (rows, labels) with a further column for `disagrees`."""
    return np.column_stack([shares, shares[:, DISAGREEING_CODES].sum(axis=1)])


def corrected_shares(design: SampleDesign, labels: Floats) -> ShareEstimate:
    """The corrected share of each label and of `disagrees`, six of each."""
    return design.share(events_by_stratum(design, labels), design.count(~np.isnan(labels[:, 0])))


def events_by_stratum(design: SampleDesign, labels: Floats) -> Floats:
    """Rated items with each label, (labels and `disagrees`, strata)."""
    rows = append_disagreement(np.nan_to_num(labels))
    return np.stack([np.bincount(design.stratum, weights=row, minlength=len(design.strata)) for row in rows.T])


def item_weights(design: SampleDesign, rated: np.ndarray) -> Floats:
    """The pairs of the run that each item represents, if it is rated: the pairs of its stratum over the items rated there."""
    return np.asarray((design.pairs / np.maximum(design.count(rated), 1))[design.stratum])


def _unrated_strata(design: SampleDesign, rated: np.ndarray) -> str:
    _, items, _ = design.by_verdict(np.zeros(len(design.strata)), design.count(rated))
    empty = [name for name, n in zip(design.verdicts, items, strict=True) if n == 0]
    return f"the interval allows for anything in strata without ratings: {', '.join(empty)}" if empty else ""


def checked_absent(design: SampleDesign, labels: Floats) -> str:
    """What the check of a stratum of pre-screened pairs found; "" where there is none, or nothing of it is rated."""
    checked = np.array([name.endswith(f"/{PRESCREENED}") for name in design.strata])[design.stratum] & ~np.isnan(labels[:, 0])
    found, n = labels[checked, Label.ABSENT.code].sum(), int(checked.sum())
    taken = "so all of them are taken as absent" if found == n else "so they count as any other stratum"
    return f"of {n} pre-screened pairs that were checked, raters call {found:g} absent, {taken}" if n else ""


def method_table(method: str, share: ShareEstimate, n: int, note: str) -> pd.DataFrame:
    """The rows of one method, see `prevalence`."""
    columns = {"method": method, "label": ROWS, "value": share.value, "low": share.low, "high": share.high}
    return pd.DataFrame({**columns, "n": n, "note": note})


# -- The disagreement rate of a run (R_div), corrected for the judge's errors: the headline figure -----------


@dataclass(frozen=True)
class CorrectedRate:
    """R_div among the pairs that a sample was drawn from: DIVERGENT or CONTRADICTORY, of the pairs that are not ABSENT.

    judge             the judge's own rate, [0, 1]; without an interval, because its error is not sampling error
    value, low, high  by raters' labels, weighted by stratum, with its 95 % interval; NaN where undefined
    n                 rated items
    pairs             pairs in the strata, those that are ABSENT included
    slope             the judge's sensitivity to disagreements minus its share of false alarms, among pairs that raters do not
                      call ABSENT, weighted to the run; NaN where no rated pair disagrees, or none agrees
    """

    judge: float
    value: float
    low: float
    high: float
    n: int
    pairs: int
    slope: float


def corrected_disagreement(ratings: Ratings, human: str = GOLD) -> CorrectedRate:
    """The disagreement rate by the judge and corrected; `human` as in `annotation.prevalence.estimates.prevalence`.

    Both shares, disagreeing pairs and pairs that are not ABSENT, are estimated from the same stratified sample; the interval is
    that of their quotient (`audit.stats.intervals.quotient_interval`). In 1,000 simulated studies of the published shape it
    covers the true rate in 96 to 99 % (tests/annotation/prevalence/test_headline.py).

    Raises AuditError when the table does not say how the sample was drawn, and for an unknown `human`.
    """
    design, labels = require_design(ratings), human_labels(ratings, human)
    rated = ~np.isnan(labels[:, 0])
    judge = append_disagreement(design.judge_shares(ratings.labels[JUDGE])[None])[0]
    events = events_by_stratum(design, labels)
    estimate = disagreement_rate(events[ROWS.index(DISAGREES)], events[Label.ABSENT.code], design.count(rated), design)
    own = judge[ROWS.index(DISAGREES)] / (1 - judge[Label.ABSENT.code]) if judge[Label.ABSENT.code] < 1 else math.nan
    slope = _slope(labels, ratings.labels[JUDGE], item_weights(design, rated))
    return CorrectedRate(float(own), *estimate, int(rated.sum()), round(design.pairs.sum()), slope)


def errors_of(ratings: Ratings) -> MeasuredErrors | None:
    """How often the judge errs on pairs in which both answer, by these ratings; None where it is unknown how they were drawn."""
    if ratings.design is None:
        return None
    labels, judge = human_labels(ratings), ratings.labels[JUDGE]
    rated = ~np.isnan(labels[:, 0])
    own = rated & np.isin(judge, [label.code for label in PRESENT_LABELS])
    disagreeing = append_disagreement(labels[own])[:, -1]
    return measured_errors(item_weights(ratings.design, rated)[own], disagreeing, np.isin(judge[own], DISAGREEING_CODES) * 1.0)


def _slope(labels: Floats, judge: Codes, weight: Floats) -> float:
    """Of the disagreements by raters, the share that the judge calls so, minus the same of the agreements."""
    known = np.nan_to_num(labels)
    disagreeing = known[:, DISAGREEING_CODES].sum(axis=1)
    agreeing = weight * (known.sum(axis=1) - disagreeing - known[:, Label.ABSENT.code])
    disagreeing = weight * disagreeing
    called = np.isin(judge, DISAGREEING_CODES)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(disagreeing[called].sum() / disagreeing.sum() - agreeing[called].sum() / agreeing.sum())


def disagreement_rate(disagreeing: Floats, absent: Floats, rated: Floats, design: SampleDesign) -> tuple[float, float, float]:
    """Value and interval of R_div from rated items per stratum (each argument: (strata,)); NaN where nothing is present."""
    numerator, denominator = design.share(disagreeing, rated), design.share(rated - absent, rated)
    if not float(denominator.value) > 0:
        return math.nan, math.nan, math.nan
    low, high = quotient_interval(numerator, denominator)
    return float(numerator.value) / float(denominator.value), low, min(high, 1.0)


LEAST_SLOPE = 0.2
"""A judge that hardly tells disagreement from agreement would make an interval endless by an error of its slope alone."""
WIDEST = 0.99
"""From nearly 0 to nearly 1 an interval says nothing, so none is given."""


def total_interval(rate: CorrectedRate, judge: Interval | tuple[float, float]) -> tuple[float, float]:
    """The 95 % interval of the corrected rate for other questions and other handbooks: the judge's errors and both samples.

    judge  the 95 % interval of the judge's own rate for other questions and other handbooks (audit.stats.clustered)

    On the scale of logits the distances from the corrected rate C to the ends of its own interval, which speaks of these pairs,
    and those from the judge's rate J to the ends of its interval are added as squares for each side. The latter are carried from
    J to C: J = false alarms + slope C, so a distance on the logit scale grows by J (1 - J) / (C (1 - C)) / slope (delta method;
    distances added as squares: Zou and Donner 2008, Stat. Med. 27; slope: Rogan and Gladen 1978, Am. J. Epidemiol. 107).
    It takes the judge's errors as independent of question and handbook.

    In simulated runs it covers the true rate in 95 to 99 % (`python -m benchmarks.coverage --total`). NaN where one of the parts
    is unknown, and where no rated pair disagrees, or every one: how the judge's rate carries over is then not known; and where it
    would be wider than WIDEST.
    """
    if not (0 < rate.value < 1 and 0 < rate.judge < 1) or math.isnan(rate.slope):
        return math.nan, math.nan
    carried = rate.judge * (1 - rate.judge) / (rate.value * (1 - rate.value)) / max(rate.slope, LEAST_SLOPE)
    own = _logit_distances(rate.value, rate.low, rate.high)
    spread = _logit_distances(rate.judge, float(judge[0]), float(judge[1]))
    below, above = (math.hypot(here, carried * elsewhere) for here, elsewhere in zip(own, spread, strict=True))
    low, high = float(expit(logit(rate.value) - below)), float(expit(logit(rate.value) + above))
    return (low, high) if high - low <= WIDEST else (math.nan, math.nan)


def _logit_distances(value: float, low: float, high: float) -> tuple[float, float]:
    ends = np.clip([low, high], ROUNDING_ERROR, 1 - ROUNDING_ERROR)
    below, above = logit(value) - logit(ends[0]), logit(ends[1]) - logit(value)
    return float(max(below, 0.0)), float(max(above, 0.0))


# -- Error rates of annotators and probable true labels, from three or more ratings of each item -------------
# A majority takes every annotator to be equally right. Dawid and Skene (1979), J. R. Stat. Soc. C 28, estimate from the ratings
# alone with which probability each annotator gives which label to an item of which true label, and from these the probability of
# each true label of each item, alternately until neither changes (expectation maximisation). Annotators are taken to err
# independently: the model cannot detect items that all of them misread (`annotation.prevalence.shared_errors`). It is a check
# on the corrected shares, not the headline figure: its interval takes the probabilities as labels, without their own error.

MIN_ANNOTATORS = 3
"""With two raters of an item it is unknown which of them made an error."""
ROUNDS, TOLERANCE = 500, 1e-8


class TrueLabels(NamedTuple):
    """The model's estimates of the true labels.

    probability  (items, labels), of each true label; NaN for an item without a rating
    confusion    (annotators, labels, labels): P(label given | true label)
    """

    probability: Floats
    confusion: Floats


def can_tell_annotators_apart(ratings: Ratings) -> bool:
    """Whether enough annotators rated each item for this model."""
    is_labelled = np.array([ratings.labels[annotator] != MISSING for annotator in ratings.annotators])
    return bool((is_labelled.sum(axis=0) >= MIN_ANNOTATORS).any())


def true_labels(ratings: Ratings) -> TrueLabels:
    """The model's estimate for a study of pairs; labels are as common in each stratum as they are there, by the judge's label."""
    codes = np.array([ratings.labels[annotator] for annotator in ratings.annotators])
    design = ratings.design
    if design is None:
        return dawid_skene(codes, len(LABELS))
    stratum = design.stratum if design.verdict is None else design.verdict[design.stratum]
    return dawid_skene(codes, len(LABELS), stratum=stratum)


def dawid_skene(codes: Codes, size: int, pseudo_items: float = 1.0, stratum: Codes | None = None) -> TrueLabels:
    """`codes` (annotators, items) of `size` labels, MISSING where not given.

    stratum       of each item, from 0: how common a label is, is estimated in each. One estimate for a sample drawn by the
                  judge's label would take a label as equally probable whatever the judge said
    pseudo_items  added to every row of every confusion matrix, spread evenly, so what was never seen is not impossible;
                  0 is the original
    """
    is_given = (codes[:, :, None] == np.arange(size)).astype(float)  # (annotators, items, labels)
    rated = is_given.any(axis=(0, 2))
    votes = is_given[:, rated].sum(axis=0)
    probability = votes / votes.sum(axis=1, keepdims=True)
    confusion = np.zeros((len(codes), size, size))
    member = np.zeros(int(rated.sum()), dtype=np.intp) if stratum is None else np.unique(stratum[rated], return_inverse=True)[1]
    belongs = (member[:, None] == np.arange(member.max(initial=0) + 1)).astype(float)
    for _ in range(ROUNDS):
        shares = (belongs.T @ probability / belongs.sum(axis=0)[:, None])[member]
        counts = np.einsum("it,ril->rtl", probability, is_given[:, rated]) + pseudo_items / size
        confusion = counts / np.maximum(counts.sum(axis=2, keepdims=True), np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            logs = np.log(shares) + np.einsum("ril,rtl->it", is_given[:, rated], np.maximum(np.log(confusion), -1e3))
        updated = np.exp(logs - logs.max(axis=1, keepdims=True))
        updated /= updated.sum(axis=1, keepdims=True)
        moved, probability = np.abs(updated - probability).max(), updated
        if moved < TOLERANCE:
            break
    everything = np.full((codes.shape[1], size), np.nan)
    everything[rated] = probability
    return TrueLabels(everything, confusion)
