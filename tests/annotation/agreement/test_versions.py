"""Versions of a judge's prompt beside each other: figures by hand, and intervals that contain the truth in simulated worlds."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement.versions import ProofItems, version_figures
from annotation.ratings.design import MISSING
from audit.vocabulary import Label
from benchmarks import alignment

CONSISTENT, DIVERGENT = Label.CONSISTENT.code, Label.DIVERGENT.code


def row(frame, version: str, figure: str, label: str = ""):
    (found,) = frame[(frame["version"] == version) & (frame["figure"] == figure) & (frame["label"] == label)].to_dict("records")
    return found


def items(gold: list[int], weight: list[float] | None = None) -> ProofItems:
    return ProofItems(np.array(gold), np.arange(len(gold)), np.array(weight or [1.0] * len(gold)))


def test_precision_and_recall_are_those_of_the_cells():
    """Of ten divergent pairs the first version finds six, and calls two of ten consistent ones divergent."""
    gold = [DIVERGENT] * 10 + [CONSISTENT] * 10
    first = [DIVERGENT] * 6 + [CONSISTENT] * 4 + [DIVERGENT] * 2 + [CONSISTENT] * 8
    frame = version_figures(items(gold), {"shipped": np.array(first), "second": np.array(gold)})
    assert row(frame, "shipped", "recall", "DIVERGENT")["value"] == pytest.approx(6 / 10)
    precision = row(frame, "shipped", "precision", "DIVERGENT")
    assert (precision["value"], precision["n"]) == (pytest.approx(6 / 8), 8)
    assert row(frame, "shipped", "kappa")["value"] == pytest.approx((14 / 20 - 0.5) / 0.5)
    second = row(frame, "second", "accuracy")
    assert (second["change"], second["moves"]) == (pytest.approx(6 / 20), "rises")
    assert np.isnan(row(frame, "shipped", "accuracy")["change"])


def test_an_item_counts_for_the_pairs_that_it_stands_for():
    frame = version_figures(items([DIVERGENT] * 6, [3, 1, 1, 1, 1, 1]), {"shipped": np.array([CONSISTENT] + [DIVERGENT] * 5)})
    assert row(frame, "shipped", "accuracy")["value"] == pytest.approx(5 / 8)


def test_a_version_gains_nothing_by_leaving_difficult_items_without_a_label():
    gold = [DIVERGENT] * 8 + [CONSISTENT] * 8
    shipped = [CONSISTENT] * 2 + gold[2:]
    silent = [MISSING] * 2 + gold[2:]
    frame = version_figures(items(gold), {"shipped": np.array(shipped), "silent": np.array(silent)})
    assert row(frame, "silent", "accuracy")["value"] == row(frame, "shipped", "accuracy")["value"]
    assert row(frame, "silent", "recall", "DIVERGENT")["value"] == pytest.approx(6 / 8)
    kappa = row(frame, "silent", "kappa")
    assert (kappa["n"], kappa["change"], kappa["moves"]) == (14, 0, "the same")


def test_too_few_questions_that_differ_have_no_interval_and_say_so():
    gold = [DIVERGENT] * 10 + [CONSISTENT] * 10
    frame = version_figures(items(gold), {"shipped": np.array([CONSISTENT] * 2 + gold[2:]), "second": np.array(gold)})
    found = row(frame, "second", "accuracy")
    assert np.isnan(found["change_low"])
    assert found["note"].startswith("fewer than 5 questions")


@pytest.mark.slow
def test_intervals_of_differences_contain_the_truth():
    """A small form of `python -m benchmarks.alignment`: .938 to .976 of each figure's in 2,000 worlds."""
    found = alignment.coverage(40)
    for key in (("kappa", ""), ("accuracy", "")):
        held, known = found[key]
        assert known == 40
        assert held >= 35  # fewer happen in 2 of 1,000 trials where .95 is true
    held, known = (sum(column) for column in zip(*found.values(), strict=True))
    assert 0.92 <= held / known <= 0.985
