"""Agreement coefficients and F1, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement import classification, coefficients
from annotation.agreement.coefficients import alpha, corrected, identity, linear, nominal_distance, ordinal_distance, quadratic

HALVES = np.array([[20, 5], [10, 15]])
STAIRS = np.array([[2.0, 1, 0], [0, 2, 0], [0, 1, 4]])


def test_kappa_is_the_agreement_beyond_chance() -> None:
    # 35 of 50 agree; by chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5.
    assert corrected(HALVES, identity(2), coefficients.cohen) == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_weights_follow_the_declared_order() -> None:
    assert linear(3)[0].tolist() == [1, 0.5, 0]
    assert quadratic(3)[0].tolist() == [1, 0.75, 0]
    assert quadratic(5)[1, 4] == 1 - (3 / 4) ** 2


def test_a_step_aside_costs_a_quadratic_kappa_less() -> None:
    # Two of ten items are one step apart. Rows 3, 2, 5; columns 2, 4, 4.
    observed = 1 - 2 * 0.25 / 10
    expected = 1 - (0.25 * (3 * 4 + 2 * 2 + 2 * 4 + 5 * 4) + 1 * (3 * 4 + 5 * 2)) / 100
    assert corrected(STAIRS, quadratic(3), coefficients.cohen) == pytest.approx((observed - expected) / (1 - expected))


def test_pabak_of_two_labels_is_twice_the_agreement_less_one() -> None:
    assert corrected(HALVES, identity(2), coefficients.uniform) == pytest.approx(2 * 0.7 - 1)


def test_ac1_holds_where_one_label_prevails_and_kappa_falls_below_zero() -> None:
    rare = np.array([[118, 5], [2, 0]])
    p = (123 + 120) / 250
    expected = 2 * p * (1 - p)
    assert corrected(rare, identity(2), coefficients.gwet) == pytest.approx((118 / 125 - expected) / (1 - expected))
    assert corrected(rare, identity(2), coefficients.cohen) < 0


def test_alpha_of_two_raters_is_scotts_pi_with_labels_dealt_out_without_replacement() -> None:
    pi = float(corrected(HALVES, identity(2), coefficients.scott))
    assert alpha(HALVES, nominal_distance) == pytest.approx(pi + (1 - pi) / 100)


def test_the_ordinal_distance_counts_the_labels_in_between() -> None:
    # Used 4, 6 and 10 times: from the first to the second 4/2 + 6/2, from the first to the third 4/2 + 6 + 10/2.
    distance = ordinal_distance(np.array([4.0, 6, 10]))
    assert (distance[0, 1], distance[0, 2]) == ((2 + 3) ** 2, (2 + 6 + 5) ** 2)


def test_one_label_for_everything_leaves_kappa_and_alpha_undefined_and_not_ac1() -> None:
    table = np.array([[7.0, 0], [0, 0]])
    assert np.isnan(corrected(table, identity(2), coefficients.cohen))
    assert np.isnan(alpha(table, nominal_distance))
    assert corrected(table, identity(2), coefficients.gwet) == 1


def test_many_tables_at_once_are_each_on_its_own() -> None:
    both = corrected(np.stack([STAIRS, STAIRS.T + 1]), linear(3), coefficients.cohen)
    assert both.tolist() == [float(corrected(t, linear(3), coefficients.cohen)) for t in (STAIRS, STAIRS.T + 1)]


def test_precision_recall_and_f1_of_each_label() -> None:
    assert classification.precision(STAIRS).tolist() == [2 / 2, 2 / 4, 4 / 4]
    assert classification.recall(STAIRS) == pytest.approx([2 / 3, 2 / 2, 4 / 5])
    assert classification.f1(STAIRS) == pytest.approx([4 / 5, 4 / 6, 8 / 9])
    assert classification.macro_f1(STAIRS) == pytest.approx((4 / 5 + 4 / 6 + 8 / 9) / 3)
    assert classification.weighted_f1(STAIRS) == pytest.approx((3 * 4 / 5 + 2 * 4 / 6 + 5 * 8 / 9) / 10)


def test_a_label_that_nobody_gave_has_no_f1_and_leaves_the_macro_mean() -> None:
    table = np.zeros((4, 4))
    table[:3, :3] = STAIRS
    assert np.isnan(classification.f1(table)[3])
    assert classification.macro_f1(table) == pytest.approx(classification.macro_f1(STAIRS))


def test_a_label_given_by_one_seat_only_has_an_f1_of_zero() -> None:
    assert classification.f1(np.array([[3.0, 1], [0, 0]])).tolist() == [6 / 7, 0]
