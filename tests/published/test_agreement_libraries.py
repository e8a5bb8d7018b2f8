"""Random tables give what scikit-learn, krippendorff and irrCAC give, to 1e-9."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from annotation.agreement.comparisons import StratifiedTable
from annotation.agreement.measures import classifier_measures, f1, precision, recall, weighted_f1
from audit.stats import agreement
from audit.stats.agreement import Chance, Floats, RatedItems, derivatives

Codes = npt.NDArray[np.intp]
TOLERANCE = 1e-9
WEIGHTS = {"identity": agreement.identity, "linear": agreement.linear, "quadratic": agreement.quadratic}


def random_pairs(number: int = 60) -> Iterator[tuple[Codes, Codes, int]]:
    """Two raters on 2 to 6 labels, 8 to 250 items, from hardly to nearly always agreeing; labels may stay unused."""
    rng = np.random.default_rng(20260529)
    for _ in range(number):
        size, items = int(rng.integers(2, 7)), int(rng.integers(8, 250))
        first = rng.choice(size, size=items, p=rng.dirichlet(np.ones(size)))
        guess = rng.choice(size, size=items, p=rng.dirichlet(np.ones(size)))
        yield first, np.where(rng.random(items) < rng.random(), first, guess), size


def table_of(first: Codes, second: Codes, size: int) -> Floats:
    table = np.zeros((size, size))
    np.add.at(table, (first, second), 1)
    return table


def coefficient(table: Floats, weights: Floats, chance: Chance) -> Floats:
    return agreement.chance_corrected(RatedItems.from_table(table), weights, chance)


def test_kappa_is_scikit_learns() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    for first, second, size in random_pairs():
        table, weights_of_items = table_of(first, second, size), np.random.default_rng(0).uniform(1, 9, len(first))
        weighted = np.zeros((size, size))
        np.add.at(weighted, (first, second), weights_of_items)
        for name, theirs in (("identity", None), ("linear", "linear"), ("quadratic", "quadratic")):
            ours = [float(coefficient(t, WEIGHTS[name](size), agreement.conger)) for t in (table, weighted)]
            expected = [
                metrics.cohen_kappa_score(first, second, labels=range(size), weights=theirs, sample_weight=sample)
                for sample in (None, weights_of_items)
            ]
            assert ours == pytest.approx(expected, abs=TOLERANCE, nan_ok=True)


def test_precision_recall_and_f1_are_scikit_learns() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    for first, second, size in random_pairs():
        table = table_of(first, second, size)
        by_label = metrics.precision_recall_fscore_support(first, second, labels=range(size), zero_division=np.nan)
        ours = precision(table), recall(table), f1(table)
        for mine, theirs in zip(ours, by_label, strict=False):
            assert list(mine) == pytest.approx(list(theirs), abs=TOLERANCE, nan_ok=True)
        for formula, average in ((classifier_measures(size)[1].formula, "macro"), (weighted_f1, "weighted")):
            assert float(formula(table)) == pytest.approx(metrics.f1_score(first, second, average=average), abs=TOLERANCE)


def test_alpha_is_krippendorffs() -> None:
    krippendorff = pytest.importorskip("krippendorff")
    for first, second, size in random_pairs():
        table = table_of(first, second, size)
        for level, distance in (("nominal", agreement.nominal_distance), ("ordinal", agreement.ordinal_distance)):
            if len(np.unique([first, second])) > 1:
                theirs = krippendorff.alpha(np.stack([first, second]), level_of_measurement=level, value_domain=range(size))
                assert float(agreement.krippendorff_alpha(RatedItems.from_table(table), distance)) == pytest.approx(
                    theirs, abs=TOLERANCE
                )
                both = agreement.estimate_alpha(RatedItems.from_codes([first, second], size), distance).value
                assert both == pytest.approx(theirs, abs=TOLERANCE)


def test_alpha_of_raters_with_gaps_is_krippendorffs() -> None:
    krippendorff = pytest.importorskip("krippendorff")
    for codes, size in ratings_with_gaps():
        for level, distance in (("nominal", agreement.nominal_distance), ("ordinal", agreement.ordinal_distance)):
            data = np.where(codes < 0, np.nan, codes).T
            theirs = krippendorff.alpha(data, level_of_measurement=level, value_domain=np.arange(float(size)))
            ours = agreement.estimate_alpha(RatedItems.from_codes(list(codes.T), size), distance).value
            assert ours == pytest.approx(theirs, abs=TOLERANCE)


def ratings_with_gaps(number: int = 25) -> Iterator[tuple[Codes, int]]:
    """Three to five raters who leave out some items."""
    rng = np.random.default_rng(7)
    for _ in range(number):
        size, items, raters = int(rng.integers(3, 6)), int(rng.integers(15, 80)), int(rng.integers(3, 6))
        truth = rng.integers(size, size=(items, 1))
        codes = np.where(rng.random((items, raters)) < 0.7, truth, rng.integers(size, size=(items, raters)))
        yield np.where(rng.random((items, raters)) < 0.15, -1, codes), size


def same(found: tuple[float, float], theirs: dict[str, Any]) -> None:
    expected = [float(np.ravel(theirs[key])[0]) for key in ("coefficient_value", "se")]
    assert list(found) == pytest.approx(expected, abs=TOLERANCE)


def with_error(table: Floats, weights: Floats, chance: Chance) -> tuple[float, float]:
    def figure(t: Floats) -> Floats:
        return coefficient(t, weights, chance)

    counts = StratifiedTable.unweighted(table)
    return float(figure(table)), float(np.sqrt(counts.variance(derivatives(figure, table))))


def test_two_raters_are_irrcacs() -> None:
    irrcac = pytest.importorskip("irrCAC.table", reason="irrCAC is not installed (pip install --no-deps irrCAC)")
    chances = {"cohen": agreement.conger, "gwet": agreement.gwet, "bp": agreement.brennan_prediger, "scott": agreement.fleiss}
    for first, second, size in random_pairs(30):
        table = table_of(first, second, size)
        for name, weights in WEIGHTS.items():
            theirs = irrcac.CAC(pd.DataFrame(table), weights=name, digits=14)
            for method, chance in chances.items():
                same(with_error(table, weights(size), chance), getattr(theirs, method)()["est"])


@pytest.mark.filterwarnings("ignore:Starting with pandas")
def test_raters_with_gaps_are_irrcacs() -> None:
    irrcac = pytest.importorskip("irrCAC.raw", reason="irrCAC is not installed (pip install --no-deps irrCAC)")
    ours = {"gwet": agreement.gwet, "fleiss": agreement.fleiss, "bp": agreement.brennan_prediger, "conger": agreement.conger}
    for codes, size in ratings_with_gaps():
        items, data = RatedItems.from_codes(list(codes.T), size), pd.DataFrame(np.where(codes < 0, np.nan, codes))
        for name, weights in ((name, of(size)) for name, of in WEIGHTS.items()):
            theirs = irrcac.CAC(data.copy(), weights=name, categories=[float(place) for place in range(size)], digits=14)
            for method, chance in ours.items():
                found = agreement.estimate(items, weights, chance)
                same((found.value, found.se), getattr(theirs, method)()["est"])
            apart = 1 - weights
            found = agreement.estimate_alpha(items, lambda _, apart=apart: apart)
            same((found.value, found.se), theirs.krippendorff()["est"])
