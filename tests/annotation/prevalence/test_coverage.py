"""Whether intervals of corrected shares cover the truth in 95 % of studies: simulated runs whose every pair has a human label."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from annotation.prevalence.estimates import ROWS, append_disagreement
from audit.stats.intervals import ShareEstimate, stratified_share
from audit.vocabulary import LABELS, Label
from tests.annotation.studies import READER, Counts, Run, simulated_run
from tests.simulator.config import paper_config

STUDIES = 1000
Method = Callable[[npt.NDArray[np.float64], Counts, Counts], ShareEstimate]


@pytest.fixture(scope="module")
def run() -> Run:
    """The published shape: 5.7 million pairs; people call 1 of 650 CONTRADICTORY, the judge 1 of 15,000."""
    return simulated_run(paper_config(7), seed=1)


def coverage(run: Run, per_stratum: int, method: Method = stratified_share, studies: int = STUDIES) -> dict[str, float]:
    """Share of studies whose interval covers the true share, per label and for `disagrees`."""
    labels = run.studies(per_stratum, studies, seed=2).astype(float)
    truth = append_disagreement(run.shares[None])[0]
    rated = np.minimum(per_stratum, run.sizes)
    covered = {}
    for name, true, counts in zip(ROWS, truth, np.moveaxis(with_both(labels), 2, 0), strict=True):
        share = method(counts, rated, run.sizes)
        covered[name] = float(np.mean((share.low <= true) & (true <= share.high)))
    return covered


def with_both(labels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(studies, strata, labels) with a further label: either of the two that disagree."""
    both = labels[:, :, [Label.DIVERGENT.code, Label.CONTRADICTORY.code]].sum(axis=2, keepdims=True)
    return np.concatenate([labels, both], axis=2)


@pytest.mark.parametrize("per_stratum", [20, 40, 80])
def test_every_label_is_covered_in_93_to_98_of_100_studies(run: Run, per_stratum: int) -> None:
    covered = coverage(run, per_stratum)
    assert all(0.93 <= share <= 0.98 for share in covered.values()), covered


def test_the_corrected_share_is_right_on_average_where_the_judges_own_is_not(run: Run) -> None:
    labels = run.studies(40, STUDIES, seed=3)
    for code, label in enumerate(LABELS):
        shares = stratified_share(labels[:, :, code], np.minimum(40, run.sizes), run.sizes).value
        error = shares.std() / np.sqrt(STUDIES)
        assert abs(shares.mean() - run.shares[code]) < 4 * error, label
    judge = run.sizes / run.sizes.sum()
    assert judge[Label.CONTRADICTORY.code] < run.shares[Label.CONTRADICTORY.code] / 10


def bootstrap(counts: npt.NDArray[np.float64], rated: Counts, pairs: Counts) -> ShareEstimate:
    """Percentiles of shares resampled within the strata."""
    weight, shares = pairs / pairs.sum(), counts / rated
    again = np.random.default_rng(4).binomial(rated, shares, size=(200, *shares.shape)) / rated
    return ShareEstimate((shares * weight).sum(-1), *np.quantile((again * weight).sum(-1), [0.025, 0.975], axis=0))


def normal(counts: npt.NDArray[np.float64], rated: Counts, pairs: Counts) -> ShareEstimate:
    """Value +- 1.96 standard errors."""
    weight, shares = pairs / pairs.sum(), counts / rated
    value, error = (shares * weight).sum(-1), np.sqrt((weight**2 * shares * (1 - shares) / rated).sum(-1))
    return ShareEstimate(value, value - 1.96 * error, value + 1.96 * error)


@pytest.mark.parametrize("method", [bootstrap, normal])
def test_the_usual_intervals_miss_the_rare_label_so_the_check_can_fail(run: Run, method: Method) -> None:
    covered = coverage(run, 40, method, studies=300)
    assert covered["CONTRADICTORY"] < 0.7, covered
    assert covered["DIVERGENT"] > 0.85, covered


def drawn_at_random(run: Run, items: int, studies: int) -> Counts:
    """Samples that are not stratified: (studies, strata, labels)."""
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_hypergeometric(run.pairs.ravel(), items, size=studies, method="marginals")
    return drawn.reshape(studies, *run.pairs.shape)


@pytest.fixture(scope="module")
def small_run() -> Run:
    """20,000 pairs, 1 % truly CONTRADICTORY, 1.7 % by people."""
    rng = np.random.default_rng(0)
    judge = (
        np.array(
            [[98, 1, 1, 0, 0], [2, 50, 46, 2, 0], [2, 3, 85, 10, 0], [2, 0, 30, 67, 1], [3, 0, 5, 12, 80]],
        )
        / 100
    )
    pairs = np.zeros((5, 5), dtype=np.int64)
    for true, count in enumerate(rng.multinomial(20_000, [0.2, 0.07, 0.6, 0.12, 0.01])):
        pairs += np.array([rng.multinomial(judged, READER[true]) for judged in rng.multinomial(count, judge[true])])
    return Run(pairs)


def test_a_plain_random_sample_of_500_weighted_by_the_judges_labels_covers_a_rare_label(small_run: Run) -> None:
    labels = drawn_at_random(small_run, 500, STUDIES)
    shares = [stratified_share(study.T, study.sum(axis=1), small_run.sizes) for study in labels]
    covered = np.mean([(share.low <= small_run.shares) & (small_run.shares <= share.high) for share in shares], axis=0)
    assert ((covered >= 0.93) & (covered <= 0.98)).all(), covered


def test_the_normal_interval_of_ppi_does_not(small_run: Run) -> None:
    ppi_py = pytest.importorskip("ppi_py", reason="ppi-python is not installed (pip install -c constraints.txt --group test)")
    code = Label.CONTRADICTORY.code
    by_judge = np.repeat(np.arange(5) == code, small_run.sizes).astype(float)
    covered = []
    for study in drawn_at_random(small_run, 500, 150):
        judged, human = (np.repeat(codes, study.ravel()) for codes in (np.repeat(np.arange(5), 5), np.tile(np.arange(5), 5)))
        low, high = ppi_py.ppi_mean_ci((human == code).astype(float), (judged == code).astype(float), by_judge, alpha=0.05)
        covered.append(low[0] <= small_run.shares[code] <= high[0])
    assert 0.8 < np.mean(covered) < 0.92
