"""How many ratings each stratum needs."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.prevalence.planning import allocate, items_of_random_sample, sample_size_plan
from audit.errors import AuditError
from audit.stats.intervals import stratified_share
from tests.annotation.prevalence.test_estimates import STUDY
from tests.annotation.tables import ratings

PAIRS = np.array([10_000.0, 2_000, 300, 20])
SHARE = np.array([0.002, 0.03, 0.6, 0.9])


def half_width(wanted: np.ndarray) -> float:
    estimate = stratified_share(SHARE * wanted, wanted, PAIRS)
    return float(estimate.high - estimate.low) / 2


def test_the_plan_reaches_the_wanted_width_and_hardly_overshoots() -> None:
    wanted = allocate(SHARE, np.full(4, 10.0), PAIRS, 0.01)
    assert 0.009 < half_width(wanted) <= 0.01


def test_a_narrower_interval_needs_more_ratings() -> None:
    costs = [allocate(SHARE, np.full(4, 10.0), PAIRS, width).sum() for width in (0.02, 0.01, 0.005)]
    assert costs == sorted(costs)
    assert costs[2] > 2 * costs[1]


def test_ratings_go_where_they_narrow_the_interval_so_an_even_spread_needs_more() -> None:
    wanted = allocate(SHARE, np.full(4, 10.0), PAIRS, 0.01)
    even = np.minimum(np.full(4, wanted.sum() / 4), PAIRS)
    assert half_width(even) > 0.0115


def test_planned_ratings_never_decrease_and_never_exceed_the_pairs() -> None:
    rated = np.array([10.0, 10, 250, 20])
    wanted = allocate(SHARE, rated, PAIRS, 1e-9)
    assert (wanted >= rated).all()
    assert wanted.tolist() == PAIRS.tolist()


def test_a_width_that_is_reached_needs_no_further_ratings() -> None:
    table = sample_size_plan(ratings(STUDY), 0.5)
    assert table["more"].tolist() == [0, 0, 0]
    assert table["pairs"].tolist() == [900, 80, 20]


def test_a_stratum_without_the_label_so_far_is_not_assumed_to_have_none() -> None:
    table = sample_size_plan(ratings(STUDY), 0.02).set_index("stratum")
    # The judge calls 20 of the 1,000 pairs divergent: that share counts as one item more.
    assert table.loc["ABSENT", "expected"] == pytest.approx(0.02 / 11)
    assert table.loc["ABSENT", "more"] > 20
    assert table["half_width"].max() <= 0.02


def test_a_random_sample_needs_as_many_items_as_the_normal_interval_of_a_middling_share_says() -> None:
    # .5 +- .05: 1.96 ** 2 * .25 / .05 ** 2 = 384
    assert items_of_random_sample(0.5, 0.05) == pytest.approx(384, abs=4)
    assert items_of_random_sample(0.01, 0.002) > items_of_random_sample(0.01, 0.004)


@pytest.mark.parametrize(
    ("width", "label", "fault"),
    [(0.1, "WRONG", "no label 'WRONG'"), (0, "ABSENT", "such as 0.02 .* not 0"), (2, "ABSENT", "not 2")],
)
def test_an_impossible_request_is_refused(width: float, label: str, fault: str) -> None:
    with pytest.raises(AuditError, match=fault):
        sample_size_plan(ratings(STUDY), width, label)
