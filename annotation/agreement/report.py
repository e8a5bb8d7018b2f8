"""The agreement report of a table of ratings: every figure, the tables behind them, and the judge's errors item by item."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
import pandas as pd

from annotation.agreement.annotator_effort import RETEST_COLUMNS, drift, retest_agreement, time_per_item
from annotation.agreement.comparisons import POPULATION, SAMPLE, Comparison, comparisons, judge_errors
from annotation.agreement.estimates import (
    EXACT,
    Estimate,
    estimate_measure,
    multi_rater_estimates,
    multi_rater_significance,
    too_small,
    undefined,
)
from annotation.agreement.measures import PRECISION, Measure, classifier_measures, label_measures, two_rater_measures
from annotation.ratings.design import MISSING, SampleDesign
from annotation.ratings.gold import MAJORITY, gold_standard, majority
from annotation.ratings.table import GOLD, JUDGE, Ratings
from annotation.schemes import PAIRS, Scheme
from audit.errors import AuditError
from audit.stats.intervals import ShareEstimate, stratified_share, wilson

ALL_ANNOTATORS = "all annotators"
ANNOTATORS_AND_JUDGE = "annotators and judge"
HEADLINE = PAIRS.headline
WITHOUT_VERDICT = "without a verdict"
RATED_ONCE = "rated by one annotator only"
FIGURE_COLUMNS = ("about", "first", "second", "scope", "name", "label", "value", "low", "high", "se", "n", "word", "note")
CELL_COLUMNS = ("about", "first", "second", "scope", "first_label", "second_label", "count")
NO_DESIGN = "the table has no column design_weight, so it is unknown how many pairs of the run an item represents"
Row = tuple[object, ...]


@dataclass(frozen=True)
class AgreementReport:
    """The agreement in a table of ratings.

    figures    one row per figure, columns FIGURE_COLUMNS: about (label, significance), the two raters (the first is what the
               judge is measured by; `second` is empty for a prevalence), scope (`sample`: these items; `population`: weighted
               to the run), name, label (empty where of all), value with its 95 % interval, standard error, items in the
               denominator, Landis and Koch's word, note
    confusion  one row per cell, columns CELL_COLUMNS; count is items, or in the population estimated pairs of the run
    errors     see `judge_errors`
    times      see `time_per_item`; drift, see `drift`: no rows where the table has neither times nor an order of work
    retest     see `retest_agreement`; no rows without hidden repeats
    counts     items in all, rated by each annotator, without a majority among the rated, without a verdict of the judge
    population why there are no figures of the run; empty where there are
    scheme     what the labels are
    """

    figures: pd.DataFrame
    confusion: pd.DataFrame
    errors: pd.DataFrame
    times: pd.DataFrame
    drift: pd.DataFrame
    retest: pd.DataFrame
    counts: dict[str, int]
    population: str
    scheme: Scheme = PAIRS

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by the names that files and the command line use; `oneself` is the first version's name of `retest`."""
        return {
            "figures": self.figures, "confusion": self.confusion, "errors": self.errors, "times": self.times,
            "drift": self.drift, "oneself": self.retest,
        }  # fmt: skip


def agreement_report(ratings: Ratings, repeats: pd.DataFrame | None = None, in_play: Collection[str] = ()) -> AgreementReport:
    """Every figure of a table of ratings, even of an unfinished one: the note of a figure that is undefined says why.

    `repeats`: the labels of items that were shown twice, as `retest_agreement` takes them. `in_play`: the labels that the items
    can have, where some cannot occur; macro F1 is then the mean over these. Raises AuditError for an unknown label.
    """
    labels = _in_play(ratings, in_play)
    compared, designs = comparisons(ratings), [None] if ratings.design is None else [None, ratings.design]
    figures = [row for comparison in compared for design in designs for row in _comparison_rows(comparison, design, labels)]
    figures += [("label", ALL_ANNOTATORS, "", SAMPLE, *astuple(estimate)) for estimate in multi_rater_estimates(ratings)]
    figures += [
        ("significance", ANNOTATORS_AND_JUDGE, "", SAMPLE, *astuple(estimate)) for estimate in multi_rater_significance(ratings)
    ]
    figures += [row for design in designs for row in _prevalence_rows(ratings, design)]
    cells = [row for comparison in compared for design in designs for row in _cell_rows(comparison, design)]
    return AgreementReport(
        _with_exact_precision(pd.DataFrame(figures, columns=list(FIGURE_COLUMNS))),
        pd.DataFrame(cells, columns=list(CELL_COLUMNS)),
        judge_errors(ratings),
        time_per_item(ratings),
        drift(ratings),
        pd.DataFrame(columns=list(RETEST_COLUMNS)) if repeats is None else retest_agreement(repeats, ratings.scheme),
        item_counts(ratings),
        NO_DESIGN if ratings.design is None else "",
        ratings.scheme,
    )


def report_without_judge(ratings: Ratings, repeats: pd.DataFrame | None = None) -> AgreementReport:
    """The report for an adjudicator with open decisions: no figure, count or weight in it comes from a verdict."""
    labels = {**ratings.labels, JUDGE: np.full(len(ratings.items), MISSING)}
    graded = {rater: codes for rater, codes in ratings.significance.items() if rater != JUDGE}
    # No design either: the strata are the labels of the judge, so a weight would reveal the verdict on an item.
    report = agreement_report(replace(ratings, labels=labels, significance=graded, design=None), repeats)
    figures, confusion = (
        table[(table["first"] != JUDGE) & (table["second"] != JUDGE)] for table in (report.figures, report.confusion)
    )
    counts = {name: n for name, n in report.counts.items() if name != WITHOUT_VERDICT}
    return replace(
        report, figures=figures, confusion=confusion, drift=report.drift[report.drift["against"] != JUDGE], counts=counts
    )


def item_counts(ratings: Ratings) -> dict[str, int]:
    """Items: in all, rated by each annotator, by one only, by two or more without a majority, without a readable verdict."""
    is_labelled = {annotator: ratings.labels[annotator] != MISSING for annotator in ratings.annotators}
    raters = np.sum(list(is_labelled.values()), axis=0)
    return {
        "items": len(ratings.items),
        **{annotator: int(rated.sum()) for annotator, rated in is_labelled.items()},
        RATED_ONCE: int((raters == 1).sum()),
        f"without a {MAJORITY}": int(((raters >= 2) & (majority(ratings) == MISSING)).sum()),
        WITHOUT_VERDICT: int((ratings.labels[JUDGE] == MISSING).sum()),
    }


def _in_play(ratings: Ratings, names: Collection[str]) -> list[int]:
    unknown = [name for name in names if name not in ratings.scheme.words]
    if unknown:
        allowed = ", ".join(ratings.scheme.words)
        raise AuditError(f"'{unknown[0]}' is not a label. Allowed: {allowed}. Nothing was computed.")
    return [index for index, word in enumerate(ratings.scheme.words) if word in names]


def _comparison_rows(comparison: Comparison, design: SampleDesign | None, in_play: Sequence[int]) -> Iterator[Row]:
    table, raters = comparison.table(design), (comparison.first, comparison.second)
    unrated = [] if design is None else [name for name, n in zip(design.strata, table.rated, strict=True) if n == 0]
    for measure, label in _measures(comparison, in_play):
        if unrated:
            # A stratum without a rating can have any labels, and no weighting of the others compensates for it.
            estimate = undefined(measure.name, label, table.items, f"no item of stratum {', '.join(unrated)} is rated yet")
        else:
            estimate = estimate_measure(measure, table, label, raters, comparison.empty_reason)
        yield comparison.about, *raters, _scope(design), *astuple(estimate)


def _with_exact_precision(figures: pd.DataFrame) -> pd.DataFrame:
    """A precision known exactly for the run has no spread in the sample either: the run has no other such items."""
    keys = ["about", "first", "second", "label"]
    known = figures.loc[figures["note"] == EXACT, keys]
    exact = (figures["name"] == PRECISION) & pd.MultiIndex.from_frame(figures[keys]).isin(pd.MultiIndex.from_frame(known))
    ends = {end: figures[end].where(~exact, figures["value"]) for end in ("low", "high")}
    return figures.assign(**ends, note=figures["note"].where(~exact, EXACT))


def _measures(comparison: Comparison, in_play: Sequence[int]) -> Iterator[tuple[Measure, str]]:
    size = len(comparison.order)
    yield from ((measure, "") for measure in two_rater_measures(size, comparison.ordered))
    if comparison.of_judge and comparison.about == "label":
        yield from ((measure, "") for measure in classifier_measures(size, in_play))
        yield from ((measure, label) for index, label in enumerate(comparison.order) for measure in label_measures(index))


def _cell_rows(comparison: Comparison, design: SampleDesign | None) -> Iterator[Row]:
    stratified = comparison.table(design)
    table = stratified.table if design is None else stratified.in_pairs
    for row, first in enumerate(comparison.order):
        for column, second in enumerate(comparison.order):
            key = comparison.about, comparison.first, comparison.second, _scope(design)
            yield *key, first, second, float(table[row, column])


def _scope(design: SampleDesign | None) -> str:
    return SAMPLE if design is None else POPULATION


def _prevalence_rows(ratings: Ratings, design: SampleDesign | None) -> Iterator[Row]:
    """How often each rater gave each label, of the items to which they gave one."""
    settled = gold_standard(ratings).codes
    for rater, given_codes in ratings.labels.items():
        # Adjudicators decide disputes only; without the items on which people agree, gold would consist of disputes.
        codes = settled if rater == GOLD else given_codes
        rated = codes != MISSING
        marked = codes[:, None] == np.arange(len(ratings.scheme.words))
        for index, label in enumerate(ratings.scheme.words):
            if design is not None and rater == JUDGE:
                # The judge has labelled the whole run, so its own shares have no sampling error and no interval.
                share = ShareEstimate(design.judge_shares(codes)[index], *np.full(2, np.nan))
                estimate = _prevalence(label, int(rated.sum()), share, "known for the whole run")
            else:
                share = _label_share(marked[:, index], rated, design)
                estimate = _prevalence(label, int(rated.sum()), share)
            yield "label", rater, "", _scope(design), *astuple(estimate)


def _label_share(marked: np.ndarray, rated: np.ndarray, design: SampleDesign | None) -> ShareEstimate:
    if design is not None:
        return stratified_share(*design.by_verdict(design.count(marked), design.count(rated)))
    # At least 1, because an undefined share is reported below instead of a division by zero.
    n = max(rated.sum(), 1)
    return ShareEstimate(marked.sum() / n, *wilson(marked.sum(), n))


def _prevalence(label: str, n: int, share: ShareEstimate, note: str = "") -> Estimate:
    """A share that is known for the whole run has that as its note, and may be based on no item at all."""
    if not n and not note:
        return undefined("prevalence", label, 0, "no item has a label")
    value, low, high = (float(number) for number in share)
    return Estimate("prevalence", label, value, low, high, math.nan, n, note=note or too_small(n, n))
