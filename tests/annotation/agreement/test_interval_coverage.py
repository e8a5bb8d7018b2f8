"""Whether intervals of agreement cover the truth in 95 % of samples: tables drawn from known ones, plain and by stratum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from annotation.agreement import comparisons, estimates
from annotation.agreement.comparisons import StratifiedTable
from annotation.agreement.estimates import estimate_measure
from annotation.agreement.measures import Measure, classifier_measures, label_measures, two_rater_measures
from audit.stats.intervals import Z
from benchmarks import kappa_coverage
from tests.annotation.studies import READER
from tests.simulator.config import paper_config
from tests.simulator.judge import UNSCORED, simulate_labels
from tests.simulator.world import draw_world

Table = npt.NDArray[np.float64]
SAMPLES = 400
OVERALL = {measure.name: measure for measure in (*two_rater_measures(5), *classifier_measures(5))}
FAIR = np.array([[40, 0, 0, 0, 0], [0, 21, 17, 1, 0], [0, 12, 35, 16, 0], [0, 0, 7, 11, 1], [0, 0, 0, 0.5, 39]])
GOOD = np.array([[6, 0.1, 0, 0, 0], [0, 18, 1, 0, 0], [0, 0.2, 89, 1, 0], [0, 0, 4, 25, 1], [0, 0, 0, 0.1, 3]])
"""Two raters who agree about as well as those of the paper, and of the NIH release."""


def coverage(measure: Measure, truth: float, drawn: Iterator[StratifiedTable]) -> tuple[float, float, float]:
    """Shares of the samples with an interval: the interval covers the truth; lies above it; and value +- Z se covers it."""
    found = [estimate_measure(measure, counts) for counts in drawn]
    ends = np.array([(f.low, f.high, f.value - Z * f.se, f.value + Z * f.se) for f in found if f.low == f.low])
    low, high, plain_low, plain_high = ends.T
    slack = 1e-12
    return (
        float(np.mean((low <= truth + slack) & (truth <= high + slack))),
        float(np.mean(low > truth + slack)),
        float(np.mean((plain_low <= truth) & (truth <= plain_high))),
    )


def unstratified(table: Table, items: int) -> Iterator[StratifiedTable]:
    rng = np.random.default_rng(5)
    for cells in rng.multinomial(items, table.ravel() / table.sum(), size=SAMPLES):
        yield StratifiedTable.unweighted(cells.reshape(5, 5))


@pytest.mark.parametrize("items", [40, 148])
@pytest.mark.parametrize("table", [FAIR, GOOD], ids=["fair", "good"])
@pytest.mark.parametrize("name", ["kappa_quadratic", "kappa", "ac1", "f1_weighted"])
def test_a_sample_covers_the_truth(table: Table, items: int, name: str) -> None:
    measure = OVERALL[name]
    covered, above, _ = coverage(measure, float(measure.formula(1e9 * table)), unstratified(table, items))
    # Weighted kappa allows for a far disagreement that the sample does not show, so where there is none it covers more
    assert 0.91 <= covered <= (0.99 if name == "kappa_quadratic" else 0.985)
    assert above <= 0.05


@pytest.mark.parametrize(
    ("labels", "right", "neighbours"),
    [("skewed", 0.99, False), ("skewed", 0.95, True), ("one unused", 0.99, False), ("balanced", 0.99, False)],
)
def test_quadratic_kappa_of_skewed_labels_covers_the_truth(labels: str, right: float, neighbours: bool) -> None:
    # Without half an imagined item: .77, .95, .83 and .83
    covered, _ = kappa_coverage.coverage(kappa_coverage.expected(kappa_coverage.LABELS[labels], right, neighbours), 148, 200)
    assert covered >= 0.91


RARE = np.array([[0, 0, 0, 0, 0], [0, 2, 2, 0, 0], [0, 2, 94, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
"""One label on nearly all items: 2 of 100 are the other by both, and 2 by either rater alone."""


@pytest.mark.parametrize("name", ["kappa", "kappa_quadratic", "alpha_nominal", "alpha_ordinal"])
def test_a_sample_that_meets_a_label_once_or_twice_covers_the_truth_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = OVERALL[name]
    truth = float(measure.formula(1e9 * RARE))
    assert coverage(measure, truth, unstratified(RARE, 40))[0] >= 0.93
    monkeypatch.setattr(estimates, "has_unmatched_label", lambda _: False)
    assert coverage(measure, truth, unstratified(RARE, 40))[0] < 0.9, "by the spread of the table alone"


def test_value_and_1_96_standard_errors_is_too_narrow_when_agreement_is_good() -> None:
    measure = OVERALL["ac1"]
    covered, _, usual = coverage(measure, float(measure.formula(1e9 * GOOD)), unstratified(GOOD, 40))
    assert usual < 0.9 < covered


@pytest.fixture(scope="module")
def run() -> Table:
    """A run of the published shape, read by a clinician: pairs by the judge's label (strata), human label, judge's label."""
    labels = simulate_labels(draw_world(paper_config(7)))
    scored = labels.judge != UNSCORED
    truth = np.zeros((5, 5))
    np.add.at(truth, (labels.judge[scored], labels.truth[scored]), 1)
    cells = np.zeros((5, 5, 5))
    for stratum in range(5):
        cells[stratum, :, stratum] = truth[stratum] @ READER
    return cells


def by_stratum(run: Table, items: int) -> Iterator[StratifiedTable]:
    """Studies of so many items of each of the judge's labels."""
    rng, pairs = np.random.default_rng(3), run.sum(axis=(1, 2))
    shares = run / pairs[:, None, None]
    for _ in range(SAMPLES):
        cells = np.stack([rng.multinomial(items, stratum.ravel()).reshape(5, 5) for stratum in shares]).astype(float)
        yield StratifiedTable(cells, np.full(5, float(items)), pairs, np.eye(5, dtype=bool))


@pytest.mark.parametrize("name", ["kappa_quadratic", "kappa", "accuracy", "ac1", "f1_weighted"])
def test_a_study_weighted_to_the_run_covers_the_truth_of_the_run(run: Table, name: str) -> None:
    measure = OVERALL[name]
    covered, _, _ = coverage(measure, float(measure.formula(run.sum(axis=0))), by_stratum(run, 40))
    assert 0.925 <= covered <= 0.99


@pytest.mark.parametrize("place", [2, 4], ids=["COMPLEMENTARY", "CONTRADICTORY"])
def test_so_do_precision_recall_and_f1_of_a_common_and_of_a_rare_label(run: Table, place: int) -> None:
    """Most CONTRADICTORY pairs hide among a thousand times as many COMPLEMENTARY ones: recall is .04, and few studies see it."""
    for measure in label_measures(place):
        covered, _, _ = coverage(measure, float(measure.formula(run.sum(axis=0))), by_stratum(run, 40))
        assert 0.925 <= covered <= 0.99, measure.name


@pytest.mark.parametrize("items", [40, 148])
@pytest.mark.parametrize("table", [FAIR, GOOD], ids=["fair", "good"])
def test_so_does_macro_f1_where_every_label_was_met(table: Table, items: int) -> None:
    """Of 40 items, half of the samples of GOOD lack a label that is there; those have no interval, and are left out here."""
    measure = OVERALL["f1_macro"]
    covered, above, _ = coverage(measure, float(measure.formula(1e9 * table)), unstratified(table, items))
    assert covered >= 0.91
    assert above <= 0.05


@pytest.mark.parametrize("items", [20, 40, 80])
def test_macro_f1_of_the_run_is_covered_even_where_its_rarest_label_is_overrated(run: Table, items: int) -> None:
    """F1 of CONTRADICTORY is .08, and 1.0 in a study that meets none of those that hide in other strata: all labels look
    better than they are at once. Were their errors taken as independent, 89 % of studies of 20 items a stratum would cover it."""
    measure = OVERALL["f1_macro"]
    covered, above, _ = coverage(measure, float(measure.formula(run.sum(axis=0))), by_stratum(run, items))
    assert covered >= 0.95
    assert above <= 0.025


def test_without_the_imagined_items_strata_where_nobody_disagreed_would_suggest_certainty(
    run: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparisons, "imagined_labels", lambda size: np.zeros((size, size)))
    measure = OVERALL["kappa_quadratic"]
    covered, _, _ = coverage(measure, float(measure.formula(run.sum(axis=0))), by_stratum(run, 40))
    assert covered < 0.8
