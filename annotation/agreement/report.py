"""The agreement report of a table of ratings: every figure, the tables behind them, and the judge's errors item by item."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
import pandas as pd

from annotation.agreement.comparisons import (
    LABEL_ORDER,
    NO_ITEM,
    POPULATION,
    SAMPLE,
    Comparison,
    ReferenceStandard,
    StratifiedTable,
    comparisons,
    judge_errors,
    reference_standards,
)
from annotation.agreement.estimates import (
    EXACT,
    MIN_ITEMS,
    Estimate,
    estimate_measure,
    multi_rater_estimates,
    multi_rater_significance,
    too_small,
    undefined,
)
from annotation.agreement.measures import (
    PRECISION,
    Measure,
    classifier_measures,
    kappa_of_disagreement,
    label_measures,
    two_rater_measures,
)
from annotation.ratings.design import MISSING, Codes, Floats, SampleDesign, width_of
from annotation.ratings.gold import MAJORITY, confirmed_calls, gold_standard, majority, reference_standard
from annotation.ratings.table import GOLD, JUDGE, Ratings
from annotation.schemes import PAIRS, Scheme
from audit.errors import AuditError
from audit.stats.bootstrap import stratified_draws
from audit.stats.intervals import ShareEstimate, percentiles, wilson
from audit.vocabulary import DISAGREEING, LABELS

# -- the annotators' work ------------------------------------------------------------------------------------
# Time per item, drift of labels over time, and intra-rater (test-retest) reliability.

QUARTERS = 4
TIME_COLUMNS = ("annotator", "n", "median_s", "fastest_tenth_s", "slowest_tenth_s", "first_quarter_s", "last_quarter_s")
DRIFT_COLUMNS = ("annotator", "against", "quarter", "n", "value", "low", "high", "note")
RETEST_COLUMNS = ("annotator", "name", "value", "low", "high", "n", "note")


def time_per_item(ratings: Ratings) -> pd.DataFrame:
    """Time taken by the annotators, if the table has times (columns seconds_a, ...).

    One row per annotator:
        annotator  str
        n          int, labelled items with a time
        median_s, fastest_tenth_s, slowest_tenth_s   float, seconds: the median, the 10 % and the 90 % point
        first_quarter_s, last_quarter_s   float, median seconds of the first and the last quarter of the work, NaN without
                                          the order of work (columns order_a, ...)
    """
    return pd.DataFrame([_time_row(ratings, annotator) for annotator in ratings.seconds], columns=list(TIME_COLUMNS))


def _time_row(ratings: Ratings, annotator: str) -> tuple[object, ...]:
    timed = (ratings.labels[annotator] != MISSING) & np.isfinite(ratings.seconds[annotator])
    seconds = ratings.seconds[annotator][timed]
    if not len(seconds):
        return annotator, 0, *np.full(5, np.nan)
    ends = [np.nan, np.nan]
    if annotator in ratings.order:
        quarters = _quarters(ratings.order[annotator][timed])
        ends = [float(pd.Series(seconds[quarters == quarter]).median()) for quarter in (0, QUARTERS - 1)]
    # Median and tenths, because one interrupted item would move a mean by minutes.
    return annotator, len(seconds), *np.percentile(seconds, [50, 10, 90]).tolist(), *ends


def drift(ratings: Ratings) -> pd.DataFrame:
    """Whether an annotator comes to agree more, or less, with the others and the judge (columns order_a, ...).

    An annotator's items are cut into four quarters in that annotator's own order of work. Since everyone works in a different
    order, a quarter of one is a mixture of all quarters of another, so a drift belongs to the annotator named.

    One row per annotator, other rater and quarter:
        annotator, against   str, two raters
        quarter              int, 1 to 4
        n                    int, items in that quarter that both labelled
        value, low, high     float in [0, 1], share with the same label, 95 % Wilson; NaN where n is 0
        note                 str, empty or `too small: ...`
    """
    rows = [row for annotator in ratings.order for row in _drift_rows(ratings, annotator)]
    return pd.DataFrame(rows, columns=list(DRIFT_COLUMNS))


def _drift_rows(ratings: Ratings, annotator: str) -> Iterator[tuple[object, ...]]:
    own = ratings.labels[annotator]
    quarters = _quarters(np.where(own == MISSING, np.nan, ratings.order[annotator]))
    for other in (rater for rater in (*ratings.annotators, JUDGE) if rater != annotator):
        for quarter in range(QUARTERS):
            both = (quarters == quarter) & (ratings.labels[other] != MISSING)
            same, n = int((both & (own == ratings.labels[other])).sum()), int(both.sum())
            low, high = (float(end) for end in wilson(same, n, width_of(n, live=ratings.live)))
            yield annotator, other, quarter + 1, n, same / n if n else np.nan, low, high, too_small(n, n)


def retest_agreement(repeats: pd.DataFrame, scheme: Scheme = PAIRS, *, live: bool = False) -> pd.DataFrame:
    """Intra-rater reliability: how often an annotator gives the same label to the same item twice, from hidden repeats.

    `repeats` has columns annotator, first and second: one row per item that an annotator labelled both times.

    One row per annotator and figure:
        annotator         str
        name              the headline coefficient of the scheme, agreement (the share with the same label)
        value, low, high  float, with its 95 % interval; NaN where undefined
        n                 int, items labelled both times
        note              as in the figures of the report
    """
    by_annotator = repeats.groupby("annotator", sort=True)
    rows = [row for annotator, pairs in by_annotator for row in _retest_rows(str(annotator), pairs, scheme, live=live)]
    return pd.DataFrame(rows, columns=list(RETEST_COLUMNS))


def _retest_rows(annotator: str, pairs: pd.DataFrame, scheme: Scheme, *, live: bool) -> Iterator[tuple[object, ...]]:
    order = list(scheme.words)
    # Unused labels keep their rows: the weights of kappa depend on the distances between all labels.
    table = pd.crosstab(pairs["first"], pairs["second"]).reindex(index=order, columns=order, fill_value=0)
    measures = {measure.name: measure for measure in two_rater_measures(len(order), scheme.ordered)}
    counts = StratifiedTable.unweighted(table.to_numpy(), live=live)
    for name in (scheme.headline, "agreement"):
        estimate = estimate_measure(measures[name], counts, raters=("the first labels", "the second"))
        yield annotator, name, estimate.value, estimate.low, estimate.high, estimate.n, estimate.note


def _quarters(order: Floats) -> Codes:
    """The quarter, 0 to 3, of each position in an order of work; -1 where the position is not known."""
    known = np.isfinite(order)
    # Ranks, because the positions of an unfinished order of work have gaps.
    ranks = np.argsort(np.argsort(order[known], kind="stable"), kind="stable")
    quarters = np.full(len(order), -1, dtype=np.intp)
    quarters[known] = ranks * QUARTERS // max(int(known.sum()), 1)
    return quarters


ALL_ANNOTATORS = "all annotators"
ANNOTATORS_AND_JUDGE = "annotators and judge"
WITHOUT_VERDICT = "without a verdict"
RATED_ONCE = "rated by one annotator only"
FIGURE_COLUMNS = ("about", "first", "second", "scope", "name", "label", "value", "low", "high", "se", "n", "note")
CELL_COLUMNS = ("about", "first", "second", "scope", "first_label", "second_label", "count")
NO_DESIGN = "the table has no column design_weight, so it is unknown how many pairs of the run an item represents"
Row = tuple[object, ...]


@dataclass(frozen=True)
class AgreementReport:
    """The agreement in a table of ratings.

    figures    one row per figure, columns FIGURE_COLUMNS: about (label, significance), the two raters (the first is what the
               judge is measured by; `second` is empty for a prevalence), scope (`sample`: these items; `population`: weighted
               to the run), name, label (empty where of all), value with its 95 % interval, standard error, items in the
               denominator, note
    confusion  one row per cell, columns CELL_COLUMNS; count is items, or in the population estimated pairs of the run
    errors     see `judge_errors`
    times      see `time_per_item`; drift, see `drift`: no rows where the table has neither times nor an order of work
    retest     see `retest_agreement`; no rows without hidden repeats
    counts     items in all, rated by each annotator, without a majority among the rated, without a verdict of the judge
    population why there are no figures of the run; empty where there are
    scheme     what the labels are
    live       as in `annotation.ratings.table.Ratings`
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
    live: bool = False

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
        _with_disputes_split(_with_exact_precision(pd.DataFrame(figures, columns=list(FIGURE_COLUMNS))), ratings),
        pd.DataFrame(cells, columns=list(CELL_COLUMNS)),
        judge_errors(ratings),
        time_per_item(ratings),
        drift(ratings),
        pd.DataFrame(columns=list(RETEST_COLUMNS))
        if repeats is None
        else retest_agreement(repeats, ratings.scheme, live=ratings.live),
        item_counts(ratings),
        NO_DESIGN if ratings.design is None else "",
        ratings.scheme,
        ratings.live,
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


def _with_disputes_split(figures: pd.DataFrame, ratings: Ratings) -> pd.DataFrame:
    """Precision of calls on which raters are divided: each label given counts in equal parts, as in corrected shares."""
    if ratings.scheme is not PAIRS:
        return figures
    found = figures.copy()
    for label in LABELS:
        calls = confirmed_calls(ratings, label)
        if not calls.divided:
            continue
        of_judge = (figures["first"] == reference_standard(ratings)) & (figures["second"] == JUDGE)
        own = of_judge & (figures["name"] == PRECISION) & (figures["label"] == label.value)
        value, low, high = map(float, calls.share)
        note = f"{calls.confirmed:,} of {calls.rated:,}, divided on {calls.divided:,}, which count in parts"
        for column, cell in {"value": value, "low": low, "high": high, "n": calls.rated, "note": note}.items():
            found[column] = found[column].where(~own, cell)
    return found


def _measures(comparison: Comparison, in_play: Sequence[int]) -> Iterator[tuple[Measure, str]]:
    size = len(comparison.order)
    yield from ((measure, "") for measure in two_rater_measures(size, comparison.ordered))
    if comparison.order == PAIRS.words:
        yield kappa_of_disagreement(size, [label.code for label in DISAGREEING]), ""
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
                share = _label_share(marked[:, index], rated, design, live=ratings.live)
                estimate = _prevalence(label, int(rated.sum()), share)
            yield "label", rater, "", _scope(design), *astuple(estimate)


def _label_share(marked: np.ndarray, rated: np.ndarray, design: SampleDesign | None, *, live: bool) -> ShareEstimate:
    if design is not None:
        return design.share(design.count(marked), design.count(rated))
    # At least 1, because an undefined share is reported below instead of a division by zero.
    n = max(rated.sum(), 1)
    return ShareEstimate(marked.sum() / n, *wilson(marked.sum(), n, width_of(n, live=live)))


def _prevalence(label: str, n: int, share: ShareEstimate, note: str = "") -> Estimate:
    """A share that is known for the whole run has that as its note, and may be based on no item at all."""
    if not n and not note:
        return undefined("prevalence", label, 0, "no item has a label")
    value, low, high = (float(number) for number in share)
    return Estimate("prevalence", label, value, low, high, math.nan, n, note=note or too_small(n, n))


# -- The judge compared with another judge, whose labels a file has, on the same items -----------------------
# On simulated samples of 40 and 140 items the interval of the difference covered the true difference in 92 to 96 %.

NAMES = ("kappa_quadratic", "kappa_linear", "kappa", "accuracy", "f1_weighted")
SIZE = len(LABEL_ORDER)
MEASURES = tuple(measure for measure in (*two_rater_measures(SIZE), *classifier_measures(SIZE)) if measure.name in NAMES)
# A fixed seed, so the same ratings always give the same report.
REPLICATES, SEED = 2000, 1915
COLUMNS = (
    "by", "scope", "name", "n", "judge", "judge_low", "judge_high", "other", "other_low", "other_high",
    "difference", "difference_low", "difference_high", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Comparator:
    """Another judge of the same items: its name, and its label codes, MISSING where it gave none."""

    name: str
    labels: Codes


def compare_with_baseline(ratings: Ratings, baseline: Comparator) -> pd.DataFrame:
    """How much better the judge agrees with people than another judge does, on the items that both have labelled.

    One row per reference standard, scope and figure:
        by          what both are measured by: majority, gold or an annotator
        scope       sample or population, as in the report
        name        kappa_quadratic, kappa_linear, kappa, accuracy, f1_weighted
        n           items that both judges and the reference standard have labelled
        judge, other            the figure of each, with its 95 % interval (`judge_low`, ...)
        difference  judge minus other, with the 95 % percentile interval of a paired bootstrap: items are drawn with
                    replacement, the same ones for both judges; within the strata for the population. NaN where undefined
        note        why something is undefined or too small; the bootstrap cannot see an error that no item shows, so a
                    difference that is based on fewer than ten items on which exactly one judge is right is marked too
    """
    designs = [None] if ratings.design is None else [None, ratings.design]
    references = reference_standards(ratings)
    rows = [row for reference in references for design in designs for row in _rows_by(reference, ratings, baseline, design)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows_by(reference: ReferenceStandard, ratings: Ratings, baseline: Comparator, design: SampleDesign | None) -> Iterator[Row]:
    judge, scope = ratings.labels[JUDGE], SAMPLE if design is None else POPULATION
    # Only items that both judges have labelled, so neither is measured on harder items than the other.
    codes = np.where((judge != MISSING) & (baseline.labels != MISSING), reference.codes, MISSING)
    both = [
        Comparison("label", reference.name, name, codes, labels, reference.rated, LABEL_ORDER)
        for name, labels in ((JUDGE, judge), (baseline.name, baseline.labels))
    ]
    tables = [comparison.table(design) for comparison in both]
    if not tables[0].items or (tables[0].rated == 0).any():
        reason = f"undefined: {NO_ITEM if not tables[0].items else 'a stratum has no rated item yet'}"
        yield from ((reference.name, scope, measure.name, tables[0].items, *[math.nan] * 9, reason) for measure in MEASURES)
        return
    replicates, discordant = _paired_replicates(both, design), _discordant_items(both)
    for measure in MEASURES:
        of_judge, of_other = (
            estimate_measure(measure, table, raters=(reference.name, comparison.second))
            for comparison, table in zip(both, tables, strict=True)
        )
        ends = of_judge.value, of_judge.low, of_judge.high, of_other.value, of_other.low, of_other.high
        difference = of_judge.value - of_other.value, *_difference_interval(measure, replicates, of_judge.n)
        yield reference.name, scope, measure.name, of_judge.n, *ends, *difference, _note(of_judge, of_other, discordant)


def _paired_replicates(both: Sequence[Comparison], design: SampleDesign | None) -> list[Floats]:
    """Both comparisons' tables in each replicate, (replicates, K, K), of the same items."""
    rated = both[0].rated
    cells = np.stack([np.where(pair.labelled_by_both, pair.rows * SIZE + pair.columns, MISSING) for pair in both])
    stratum = np.zeros(len(rated), dtype=np.intp) if design is None else design.stratum
    # Items of one stratum that are in the same cell of both tables are alike, so they are drawn together.
    kinds, times = np.unique(np.vstack([stratum, cells])[:, rated], axis=1, return_counts=True)
    size = np.bincount(kinds[0], weights=times, minlength=1 if design is None else len(design.strata))
    # A stratum that is rated in full has no sampling error, so its items are not drawn again.
    fully_rated = np.zeros(len(size), dtype=bool) if design is None else size >= design.pairs
    drawn = stratified_draws(times, kinds[0], fully_rated, SEED, REPLICATES)
    if design is not None:
        drawn *= (design.pairs / size)[kinds[0]]
    one_hot = [(kind[:, None] == np.arange(SIZE * SIZE)).astype(float) for kind in kinds[1:]]
    return [(drawn @ members).reshape(-1, SIZE, SIZE) for members in one_hot]


def _discordant_items(both: Sequence[Comparison]) -> int:
    """Items on which exactly one of the two is right: they alone carry the difference."""
    judge_right, other_right = (pair.labelled_by_both & (pair.rows == pair.columns) for pair in both)
    return int((judge_right != other_right).sum())


def _difference_interval(measure: Measure, replicates: list[Floats], n: int) -> tuple[float, float]:
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = np.real(measure.formula(replicates[0]) - measure.formula(replicates[1]))
    low, high = percentiles(difference[None], [n])
    return float(low[0]), float(high[0])


def _note(of_judge: Estimate, of_other: Estimate, discordant: int) -> str:
    items = f"{discordant} item{'' if discordant == 1 else 's'}"
    # The bootstrap cannot see an error that no item shows, and only discordant items carry the difference.
    too_few = f"too small: exactly one is right on {items}, {MIN_ITEMS} needed" if discordant < MIN_ITEMS else ""
    return "; ".join(dict.fromkeys(note for note in (of_judge.note, of_other.note, too_few) if note))
