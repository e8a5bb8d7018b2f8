"""True labels by Dawid and Skene: against an independent implementation, by hand, and on simulated raters."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.prevalence.estimates import dawid_skene, prevalence, true_labels
from annotation.prevalence.sentences import annotator_errors_sentence
from annotation.ratings.design import MISSING
from tests.annotation.prevalence.test_estimates import STUDY
from tests.annotation.tables import ratings

RATERS = np.array(
    [
        [int(code) for code in line]
        for line in (
            "001002002101100111212200010220000200122000002100220100210000",
            "001002002101100110212010012220000210102000012202010100220000",
            "001222001200001111221110201200001220122001002100020111120000",
        )
    ]
)
ROWS = """
    annotator_a annotator_b annotator_c judge      design_weight times
    DIVERGENT   DIVERGENT   CONSISTENT  DIVERGENT  2             10
    CONSISTENT  CONSISTENT  CONSISTENT  CONSISTENT 9             20
    CONSISTENT  CONSISTENT  DIVERGENT   CONSISTENT 9             10
"""


def test_it_is_what_crowd_kit_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shares and confusion matrices of crowd-kit 1.4.2 after 6,000 rounds, on the same ratings."""
    monkeypatch.setattr("annotation.prevalence.estimates.ROUNDS", 6_000)
    found = dawid_skene(RATERS, 3, pseudo_items=0)
    assert found.probability.mean(axis=0) == pytest.approx([0.520576, 0.246994, 0.232430], abs=2e-5)
    assert found.confusion[1] == pytest.approx(
        np.array([[0.933207, 0.010303, 0.056490], [0.077087, 0.848293, 0.074619], [0.122566, 0.079364, 0.798069]]), abs=2e-4
    )


def test_the_annotator_who_errs_more_counts_less() -> None:
    """Raters who are right in 95, 90 and 55 % of 600 items: a majority is right less often than the model is."""
    rng = np.random.default_rng(5)
    true = rng.choice(5, 600, p=[0.4, 0.2, 0.2, 0.15, 0.05])
    codes = np.array(
        [np.where(rng.random(600) < right, true, (true + rng.integers(1, 5, 600)) % 5) for right in (0.95, 0.9, 0.55)]
    )
    found = dawid_skene(codes, 5)
    shares = found.probability.mean(axis=0)
    assert shares == pytest.approx(np.bincount(true) / 600, abs=0.02)
    assert [float(shares @ np.diag(confusion)) for confusion in found.confusion] == pytest.approx([0.95, 0.9, 0.55], abs=0.05)
    assert (found.probability.argmax(axis=1) == true).mean() > 0.94


def test_an_item_without_a_rating_has_no_label_and_moves_nothing() -> None:
    codes = np.column_stack([RATERS, np.full(3, MISSING)])
    found = dawid_skene(codes, 3)
    assert np.isnan(found.probability[-1]).all()
    assert found.probability[:-1] == pytest.approx(dawid_skene(RATERS, 3).probability)


def test_it_stands_beside_the_corrected_shares_of_three_annotators_and_of_no_fewer() -> None:
    table = ratings(ROWS)
    shares = prevalence(table).set_index(["method", "label"])["value"]
    # The third annotator errs on half of the items, and a majority overrules it: both give (10 * 2) / 290 disagreement
    assert shares["corrected", "disagrees"] == pytest.approx(20 / 290)
    assert shares["dawid-skene", "disagrees"] == pytest.approx(20 / 290, abs=0.01)
    assert "annotator C" in annotator_errors_sentence(table)
    two = ratings(STUDY)
    assert "dawid-skene" not in set(prevalence(two)["method"])
    assert annotator_errors_sentence(two) == ""
    assert true_labels(table).confusion.shape == (3, 5, 5)


def test_in_a_sample_drawn_by_the_judges_label_each_stratum_has_its_own_mixture_of_labels() -> None:
    """Two strata of 3,000 and 300 pairs, 60 items of each, three raters who are right in 85 %: bias of the share in points."""
    rng, strata, pairs = np.random.default_rng(8), np.repeat([0, 1], 60), np.array([3000.0, 300.0])
    chances = np.array([[0.95, 0.05], [0.2, 0.8]])
    truth = float(pairs @ chances[:, 1] / pairs.sum())
    errors: dict[str, list[float]] = {"one": [], "each": []}
    for _ in range(150):
        true = (rng.random(len(strata)) < chances[strata, 1]).astype(int)
        codes = np.where(rng.random((3, len(true))) < 0.85, true, 1 - true)
        for name, stratum in (("one", None), ("each", strata)):
            probability = dawid_skene(codes, 2, stratum=stratum).probability[:, 1]
            shares = np.array([probability[strata == number].mean() for number in (0, 1)])
            errors[name].append(float(pairs @ shares / pairs.sum()) - truth)
    bias = {name: 100 * float(np.mean(found)) for name, found in errors.items()}
    assert bias["one"] > 1.5
    assert abs(bias["each"]) < 0.8
