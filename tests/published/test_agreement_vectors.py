"""Every coefficient, standard error and interval of the published tables, whatever the package that printed them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t

from annotation.agreement.comparisons import StratifiedTable
from annotation.agreement.measures import Measure, classifier_measures, f1, precision, recall, two_rater_measures, weighted_f1
from audit.stats import agreement
from audit.stats.agreement import Chance, CoefficientEstimate, Floats, RatedItems, derivatives

VALUE, ERROR = 1e-6, 1e-5
KINDS: Mapping[str, tuple[Callable[[int], Floats], Chance]] = {
    "cohen_kappa": (agreement.identity, agreement.conger),
    "kappa_linear": (agreement.linear, agreement.conger),
    "kappa_quadratic": (agreement.quadratic, agreement.conger),
    "cohen_kappa_gwet_se": (agreement.identity, agreement.conger),
    "kappa_linear_gwet_se": (agreement.linear, agreement.conger),
    "kappa_quadratic_gwet_se": (agreement.quadratic, agreement.conger),
    "gwet_ac1": (agreement.identity, agreement.gwet),
    "gwet_ac2_linear": (agreement.linear, agreement.gwet),
    "gwet_ac2_quadratic": (agreement.quadratic, agreement.gwet),
    "brennan_prediger": (agreement.identity, agreement.brennan_prediger),
    "scott_pi_fleiss2": (agreement.identity, agreement.fleiss),
}


def coefficient(table: Any, weights: Floats, chance: Chance) -> Any:
    return agreement.chance_corrected(RatedItems.from_table(table), weights, chance)


class PublishedTable:
    """One table of two raters, and what is published of it."""

    def __init__(self, vector: Mapping[str, Any]) -> None:
        self.expected: Mapping[str, Any] = vector["expected"]
        self.categories: list[str] = vector["categories"]
        places = {name: place for place, name in enumerate(self.categories)}
        self.table: Floats = np.zeros((len(places), len(places)))
        labels = zip(vector["labels_A"], vector["labels_B"], strict=True)
        np.add.at(self.table, tuple(np.array([[places[a], places[b]] for a, b in labels]).T), 1)

    @property
    def size(self) -> int:
        return len(self.categories)

    @property
    def n(self) -> float:
        return float(self.table.sum())

    def error(self, figure: Callable[[Any], Any]) -> float:
        counts = StratifiedTable.unweighted(self.table)
        return float(np.sqrt(counts.variance(derivatives(figure, self.table))))

    def kind(self, name: str) -> tuple[float, float]:
        weights, chance = KINDS[name][0](self.size), KINDS[name][1]

        def figure(table: Any) -> Any:
            return coefficient(table, weights, chance)

        return float(figure(self.table)), self.error(figure)

    def measure(self, name: str) -> Measure:
        (found,) = [measure for measure in two_rater_measures(self.size) if measure.name == name]
        return found


@pytest.fixture(params=range(6))
def pair(vectors: Mapping[str, Any], request: pytest.FixtureRequest) -> PublishedTable:
    return PublishedTable(vectors["two_rater"][request.param])


def close(found: float, expected: float, tolerance: float = VALUE) -> None:
    assert found == pytest.approx(expected, abs=tolerance)


def test_there_are_six_tables(vectors: Mapping[str, Any]) -> None:
    assert len(vectors["two_rater"]) == 6


def test_the_table_itself(pair: PublishedTable) -> None:
    assert pair.table.tolist() == pair.expected["table_rows_A_cols_B"]
    close(float(agreement.observed_agreement(RatedItems.from_table(pair.table), np.eye(pair.size))), pair.expected["po"])


@pytest.mark.parametrize("name", KINDS)
def test_value_standard_error_and_interval(pair: PublishedTable, name: str) -> None:
    value, error = pair.kind(name)
    expected = pair.expected[name]
    close(value, expected["value"])
    if "ase" in expected:  # Fleiss, Cohen and Everitt, with a normal interval
        close(error, expected["ase"], ERROR)
        assert [value + z * error for z in norm.ppf([0.025, 0.975])] == pytest.approx(expected["ci95_wald"], abs=ERROR)
        close(expected["sklearn"], value)
    else:  # Gwet, with Student's interval cut at 1
        close(error, expected["se"], ERROR)
        low, high = t.interval(0.95, pair.n - 1, value, error)
        assert [low, min(high, 1)] == pytest.approx(expected["ci95"], abs=ERROR)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "scott_pi_fleiss2"])
def test_observed_and_expected_agreement(pair: PublishedTable, name: str) -> None:
    weights, chance = KINDS[name][0](pair.size), KINDS[name][1]
    if "pa" in pair.expected[name]:
        close(float(agreement.observed_agreement(RatedItems.from_table(pair.table), weights)), pair.expected[name]["pa"])
        close(float(chance(RatedItems.from_table(pair.table), weights)), pair.expected[name]["pe"])


def test_alpha(pair: PublishedTable) -> None:
    close(
        float(agreement.krippendorff_alpha(RatedItems.from_table(pair.table), agreement.nominal_distance)),
        pair.expected["alpha_nominal"],
    )
    close(
        float(agreement.krippendorff_alpha(RatedItems.from_table(pair.table), agreement.ordinal_distance)),
        pair.expected["alpha_ordinal"],
    )
    by_interval = agreement.krippendorff_alpha(RatedItems.from_table(pair.table), lambda _: agreement.steps(pair.size) ** 2)
    close(float(by_interval), pair.expected["alpha_interval"])


def test_alpha_carries_the_standard_error_of_irrcac(pair: PublishedTable) -> None:
    measure, expected = pair.measure("alpha_nominal"), pair.expected["alpha_nominal_irrCAC"]
    value, error = float(measure.formula(pair.table)), pair.error(measure.spread)
    close(value, expected["value"])
    close(error, expected["se"], ERROR)
    low, high = t.interval(0.95, pair.n - 1, value, error)
    assert [low, min(high, 1)] == pytest.approx(expected["ci95"], abs=ERROR)


def test_pabak(pair: PublishedTable) -> None:
    close(float(pair.measure("pabak").formula(pair.table)), pair.expected["pabak"])


def test_the_null_standard_error_is_what_the_delta_method_gives_for_independent_raters(pair: PublishedTable) -> None:
    """Under independence kappa's variance is the delta method's, taken at the table of the margins."""
    margins = np.outer(pair.table.sum(axis=1), pair.table.sum(axis=0)) / pair.n
    for name in ("cohen_kappa", "kappa_linear", "kappa_quadratic"):
        weights = KINDS[name][0](pair.size)
        slope = derivatives(lambda table, w=weights: coefficient(table, w, agreement.conger), margins)
        error = float(np.sqrt((margins * slope**2).sum()))
        close(error, pair.expected[name]["ase_h0"], ERROR)
        close(pair.kind(name)[0] / error, pair.expected[name]["z_h0"], 1e-4)


def test_the_interval_of_kappa_is_near_the_bootstrap_of_the_items(pair: PublishedTable) -> None:
    rng = np.random.default_rng(1)
    replicates = rng.multinomial(int(pair.n), pair.table.ravel() / pair.n, size=5000).reshape(-1, pair.size, pair.size)
    ends = np.nanpercentile(coefficient(replicates, np.eye(pair.size), agreement.conger), [2.5, 97.5])
    assert list(ends) == pytest.approx(pair.expected["cohen_kappa_bootstrap_ci95"], abs=0.03)


def test_b_as_a_classifier_of_a(pair: PublishedTable) -> None:
    expected = pair.expected["B_vs_A"]
    for name, found in (("precision", precision), ("recall", recall), ("f1", f1)):
        by_category = dict(zip(pair.categories, np.nan_to_num(found(pair.table)), strict=True))
        assert by_category == pytest.approx(expected[name], abs=VALUE)
    assert dict(zip(pair.categories, pair.table.sum(axis=1), strict=True)) == expected["support"]
    close(float(classifier_measures(len(pair.table))[1].formula(pair.table)), expected["f1_macro_present"])
    close(float(np.nan_to_num(f1(pair.table)).mean()), expected["f1_macro_declared"])
    close(float(weighted_f1(pair.table)), expected["f1_weighted"])
    close(float(agreement.observed_agreement(RatedItems.from_table(pair.table), np.eye(pair.size))), expected["accuracy"])


@pytest.fixture
def four_raters(vectors: Mapping[str, Any]) -> tuple[RatedItems, Mapping[str, Any], Mapping[str, Any], Floats]:
    (vector,) = vectors["multi_rater"]
    places = {category: place for place, category in enumerate(vector["categories"])}
    codes = np.array([[places.get(rating, -1) for rating in row] for row in vector["ratings_rows_are_items"]])
    return (
        RatedItems.from_codes(list(codes.T), len(places)),
        vector["expected"],
        vector["published"],
        np.array(vector["categories"], float),
    )


def matches(found: CoefficientEstimate, expected: Mapping[str, Any]) -> None:
    close(found.value, expected["value"])
    close(found.se, expected["se"], ERROR)
    close(found.observed, expected["pa"])
    close(found.expected, expected["pe"])
    low, high = t.interval(0.95, found.n - 1, found.value, found.se)
    assert [low, min(high, 1)] == pytest.approx(expected["ci95"], abs=ERROR)


def test_four_raters_who_left_items_out(four_raters: tuple[RatedItems, Mapping[str, Any], Mapping[str, Any], Floats]) -> None:
    items, expected, published, _ = four_raters
    same = np.eye(5)
    matches(agreement.estimate(items, same, agreement.gwet), expected["gwet"])
    matches(agreement.estimate(items, same, agreement.fleiss), expected["fleiss"])
    matches(agreement.estimate(items, same, agreement.conger), expected["conger"])
    matches(agreement.estimate(items, same, agreement.brennan_prediger), expected["bp"])
    matches(agreement.estimate_alpha(items, agreement.nominal_distance), expected["krippendorff"])
    close(float(agreement.observed_agreement(items, same)), published["percent_agreement"])


def test_krippendorffs_own_example(four_raters: tuple[RatedItems, Mapping[str, Any], Mapping[str, Any], Floats]) -> None:
    items, expected, published, values = four_raters
    apart, together = np.subtract.outer(values, values), np.add.outer(values, values)
    distances = {
        "alpha_nominal": agreement.nominal_distance,
        "alpha_ordinal": agreement.ordinal_distance,
        "alpha_interval": lambda _: apart**2,
        "alpha_ratio": lambda _: (apart / together) ** 2,
    }
    for name, distance in distances.items():
        close(agreement.estimate_alpha(items, distance).value, expected[name])
        close(agreement.estimate_alpha(items, distance).value, published[name], 5.1e-4)


def test_what_the_sources_themselves_print(vectors: Mapping[str, Any]) -> None:
    """To the digits of SAS, R and Wikipedia, from which the expected values were recomputed."""
    for vector in vectors["two_rater"]:
        pair = PublishedTable(vector)
        for key, printed in vector["published"].items():
            name, _, what = key.partition(".")
            if name in KINDS and what in ("value", "se", "ase"):
                close(pair.kind(name)[what != "value"], printed, 6e-5)
