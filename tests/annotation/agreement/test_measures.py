"""Precision, recall and F1, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement.measures import classifier_measures, f1, precision, recall, weighted_f1

STAIRS = np.array([[2.0, 1, 0], [0, 2, 0], [0, 1, 4]])


def test_precision_recall_and_f1_of_each_label() -> None:
    assert precision(STAIRS).tolist() == [2 / 2, 2 / 4, 4 / 4]
    assert recall(STAIRS) == pytest.approx([2 / 3, 2 / 2, 4 / 5])
    assert f1(STAIRS) == pytest.approx([4 / 5, 4 / 6, 8 / 9])
    assert classifier_measures(3)[1].formula(STAIRS) == pytest.approx((4 / 5 + 4 / 6 + 8 / 9) / 3)
    assert weighted_f1(STAIRS) == pytest.approx((3 * 4 / 5 + 2 * 4 / 6 + 5 * 8 / 9) / 10)


def test_a_label_that_nobody_used_has_no_f1_and_leaves_the_macro_mean() -> None:
    table = np.zeros((4, 4))
    table[:3, :3] = STAIRS
    assert np.isnan(f1(table)[3])
    assert classifier_measures(len(table))[1].formula(table) == pytest.approx(classifier_measures(3)[1].formula(STAIRS))


def test_a_label_given_by_one_rater_only_has_an_f1_of_zero() -> None:
    assert f1(np.array([[3.0, 1], [0, 0]])).tolist() == [6 / 7, 0]
