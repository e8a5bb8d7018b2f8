"""Agreement coefficients by hand, for two raters and for more; published tables are in tests/published."""

from __future__ import annotations

import numpy as np
import pytest

from audit.stats.agreement import (
    Chance,
    Floats,
    RatedItems,
    Values,
    brennan_prediger,
    chance_corrected,
    conger,
    derivatives,
    estimate,
    estimate_alpha,
    fleiss,
    gwet,
    identity,
    krippendorff_alpha,
    linear,
    nominal_distance,
    ordinal_distance,
    quadratic,
)
from audit.stats.paired import clustered_kappa_interval, cohen_kappa

HALVES = np.array([[20, 5], [10, 15]])
STAIRS = np.array([[2.0, 1, 0], [0, 2, 0], [0, 1, 4]])


def coefficient(table: Values, weights: Floats, chance: Chance) -> Values:
    return chance_corrected(RatedItems.from_table(table), weights, chance)


def alpha(table: Values, distance=nominal_distance) -> Values:
    return krippendorff_alpha(RatedItems.from_table(table), distance)


def test_kappa_is_the_agreement_beyond_chance() -> None:
    # 35 of 50 agree; by chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5.
    assert coefficient(HALVES, identity(2), conger) == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_weights_follow_the_declared_order() -> None:
    assert linear(3)[0].tolist() == [1, 0.5, 0]
    assert quadratic(3)[0].tolist() == [1, 0.75, 0]
    assert quadratic(5)[1, 4] == 1 - (3 / 4) ** 2


def test_a_quadratic_kappa_penalises_one_step_less() -> None:
    # Two of ten items are one step apart. Rows 3, 2, 5; columns 2, 4, 4.
    observed = 1 - 2 * 0.25 / 10
    expected = 1 - (0.25 * (3 * 4 + 2 * 2 + 2 * 4 + 5 * 4) + 1 * (3 * 4 + 5 * 2)) / 100
    assert coefficient(STAIRS, quadratic(3), conger) == pytest.approx((observed - expected) / (1 - expected))


def test_pabak_of_two_labels_is_twice_the_agreement_less_one() -> None:
    assert coefficient(HALVES, identity(2), brennan_prediger) == pytest.approx(2 * 0.7 - 1)


def test_ac1_stays_high_where_one_label_prevails_and_kappa_falls_below_zero() -> None:
    rare = np.array([[118, 5], [2, 0]])
    p = (123 + 120) / 250
    expected = 2 * p * (1 - p)
    assert coefficient(rare, identity(2), gwet) == pytest.approx((118 / 125 - expected) / (1 - expected))
    assert coefficient(rare, identity(2), conger) < 0


def test_alpha_of_two_raters_is_scotts_pi_with_labels_drawn_without_replacement() -> None:
    pi = float(coefficient(HALVES, identity(2), fleiss))
    assert alpha(HALVES, nominal_distance) == pytest.approx(pi + (1 - pi) / 100)


def test_the_ordinal_distance_counts_the_labels_in_between() -> None:
    # Used 4, 6 and 10 times: from the first to the second 4/2 + 6/2, from the first to the third 4/2 + 6 + 10/2.
    distance = ordinal_distance(np.array([4.0, 6, 10]))
    assert (distance[0, 1], distance[0, 2]) == ((2 + 3) ** 2, (2 + 6 + 5) ** 2)


def test_one_label_for_everything_leaves_kappa_and_alpha_undefined_but_not_ac1() -> None:
    table = np.array([[7.0, 0], [0, 0]])
    assert np.isnan(coefficient(table, identity(2), conger))
    assert np.isnan(alpha(table, nominal_distance))
    assert coefficient(table, identity(2), gwet) == 1


def test_many_tables_at_once_are_computed_separately() -> None:
    both = coefficient(np.stack([STAIRS, STAIRS.T + 1]), linear(3), conger)
    assert both.tolist() == [float(coefficient(t, linear(3), conger)) for t in (STAIRS, STAIRS.T + 1)]


TWO_RATERS = [np.array([0, 0, 1, 1, 2, 2, 2, 0]), np.array([0, 1, 1, 1, 2, 1, 2, 0])]


@pytest.mark.parametrize("chance", [conger, fleiss, gwet, brennan_prediger])
def test_two_raters_are_n_raters_with_n_of_two(chance):
    table = np.zeros((3, 3))
    np.add.at(table, tuple(TWO_RATERS), 1)
    by_item = estimate(RatedItems.from_codes(TWO_RATERS, 3), identity(3), chance)
    by_table = RatedItems.from_table(table)
    assert by_item.value == pytest.approx(float(chance_corrected(by_table, identity(3), chance)), abs=1e-15)
    slopes = derivatives(lambda cells: coefficient(cells, identity(3), chance), table)
    assert by_item.se == pytest.approx(float(np.sqrt((table * slopes**2).sum() * 8 / 7)))


def test_a_rater_who_labels_one_item_more_changes_only_that_item():
    """Three raters, one of whom left the last item out: it has one couple, the others have three."""
    third = np.array([0, 0, 1, 1, 2, 2, 2, -1])
    items = RatedItems.from_codes([*TWO_RATERS, third], 3)
    couples = [(3, 3), (1, 3), (3, 3), (3, 3), (3, 3), (1, 3), (3, 3), (1, 1)]
    observed = np.mean([agreeing / possible for agreeing, possible in couples])
    assert estimate(items, identity(3), brennan_prediger).observed == pytest.approx(observed)
    assert items.n == items.n_shared == 8


def test_an_item_with_one_rating_counts_in_the_label_shares_and_not_in_the_agreement():
    items = RatedItems.from_codes([np.array([0, 0, 1, 1]), np.array([0, 0, 1, -1])], 2)
    found = estimate(items, identity(2), fleiss)
    assert (found.observed, found.n) == (1, 4)
    assert found.expected == pytest.approx((2 / 4) ** 2 + (2 / 4) ** 2)
    assert estimate_alpha(items, nominal_distance).n == 3


def test_items_that_nobody_rated_are_left_out_and_without_any_nothing_is_known():
    items = RatedItems.from_codes([np.array([-1, -1]), np.array([-1, -1]), np.array([-1, -1])], 2)
    assert (items.n, items.n_shared) == (0, 0)
    assert not items.never_matched


def test_a_label_that_no_two_raters_gave_to_the_same_item_is_noticed():
    assert RatedItems.from_codes([np.array([0, 1]), np.array([0, 0])], 2).never_matched
    assert not RatedItems.from_codes([np.array([0, 1]), np.array([0, 1])], 2).never_matched


def test_kappa_of_a_hand_counted_table_and_of_one_without_a_kappa():
    table = np.array([[20, 5], [10, 15]], dtype=float)  # observed .70, expected .5*.6 + .5*.4 = .50
    assert cohen_kappa(table) == pytest.approx((0.70 - 0.50) / 0.50)
    assert np.isnan(cohen_kappa(np.array([[9.0, 0], [0, 0]])))


def test_kappa_has_no_interval_where_one_label_alone_was_given_twice():
    """Ten questions with nine pairs each that are complementary twice, and one that is consistent in one verdict only."""
    once = np.array([[0.0, 1], [0, 9]])
    assert cohen_kappa(np.array([once, once.T] * 5).sum(axis=0)) == pytest.approx(1 - 0.1 / (2 * 0.05 * 0.95))
    assert np.isnan(clustered_kappa_interval(np.array([once, once.T] * 5))).all()
    twice = np.array([once, once.T] * 4 + [np.array([[1.0, 0], [0, 9]])] * 2)
    assert cohen_kappa(twice.sum(axis=0)) == pytest.approx((0.92 - 0.8872) / 0.1128)
    low, high = clustered_kappa_interval(twice)
    assert low < 0.29 < high


def test_where_a_few_questions_decide_kappa_its_interval_is_wider():
    agree, differ = np.diag([3.0, 3.0]), np.array([[2.0, 1.0], [1.0, 2.0]])
    tables = np.array([agree, differ] * 10)
    low, high = clustered_kappa_interval(tables)
    # Two of twenty questions with the weight of nine others: kappa is theirs
    heavy = tables * np.where(np.arange(20) < 2, 9.0, 1.0)[:, None, None]
    low_h, high_h = clustered_kappa_interval(heavy)
    assert high_h - low_h > 1.5 * (high - low)
    assert clustered_kappa_interval(7 * tables) == pytest.approx((low, high))


def test_a_kappa_of_estimated_tables_is_known_only_where_enough_questions_were_read():
    tables, read = 1 + np.arange(1.0, 21)[:, None, None] * np.eye(2), np.zeros((20, 2, 2))
    read[:4] = 1
    assert np.isnan(clustered_kappa_interval(tables, read=read)).all()
    read[:5] = 1
    assert np.isfinite(clustered_kappa_interval(tables, read=read)).all()
    assert np.isnan(clustered_kappa_interval(np.full((20, 2, 2), 1.0) + np.eye(2), read=read)).all(), "no question changes it"


def test_kappa_is_known_however_rarely_another_label_was_given():
    """Of a million pairs one moves away and one comes: they agree on 999,998 of them, and by chance on a shade more."""
    assert cohen_kappa(np.array([[999_998.0, 1], [1, 0]])) == pytest.approx(-1e-6, rel=1e-3)
    assert cohen_kappa(np.array([[999_998.0, 0], [0, 2]])) == pytest.approx(1)
