"""A figure with its interval and its note."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotation.agreement.comparisons import StratifiedTable, imagined_labels
from annotation.agreement.estimates import SKEWED_NOTE, Estimate, estimate_measure, multi_rater_estimates
from annotation.agreement.measures import Measure, classifier_measures, kappa_of_disagreement, label_measures, two_rater_measures
from audit.stats.agreement import derivatives
from audit.stats.intervals import ShareEstimate, Z, quotient_interval, wilson
from tests.annotation.tables import ratings

TWO = np.array([[1.0], [0], [1]])
"""Rows of the first and the last label."""
MEASURES = {measure.name: measure for measure in (*two_rater_measures(2), *classifier_measures(2), *label_measures(0))}


def of(name: str, table: list[list[float]], measures: dict[str, Measure] = MEASURES) -> Estimate:
    return estimate_measure(measures[name], StratifiedTable.unweighted(table), raters=("annotator_a", "judge"))


def test_raw_agreement_has_wilsons_interval() -> None:
    found = of("agreement", [[20, 5], [10, 15]])
    assert (found.low, found.high) == pytest.approx(tuple(map(float, wilson(35, 50))))


def test_f1_has_the_interval_of_the_items_that_are_or_were_called_so() -> None:
    found = of("f1", [[20, 5], [10, 15]])
    low, high = (float(end) for end in wilson(20, 35))
    assert (found.value, found.low, found.high) == pytest.approx((40 / 55, 2 * low / (1 + low), 2 * high / (1 + high)))


def test_full_agreement_is_not_certainty() -> None:
    found = of("kappa", [[20, 0], [0, 20]])
    lowest = float(wilson(40, 40)[0])
    assert (found.value, found.high, found.se) == (1, 1, 0)
    assert found.low == pytest.approx(1 - (1 - lowest) / 0.5)


@pytest.mark.parametrize("counts", [(1, 1, 2, 1, 1), (3, 3, 0, 0, 0), (7, 11, 13, 17, 19), (1, 1, 1, 1, 2)])
def test_full_agreement_is_recognised_despite_rounding(counts: tuple[int, ...]) -> None:
    measures = {measure.name: measure for measure in two_rater_measures(5)}
    found = of("agreement", np.diag(np.array(counts, dtype=float)).tolist(), measures)
    assert found.low == pytest.approx(float(wilson(sum(counts), sum(counts))[0]))
    assert of("kappa", np.diag(np.array(counts, dtype=float)).tolist(), measures).low < 0.99


def test_a_weighted_kappa_without_a_disagreement_allows_for_a_far_one() -> None:
    """Where weights grow with the distance, one far disagreement that is not among 40 items would cost more than a plain one."""
    measures = {measure.name: measure for measure in two_rater_measures(5)}
    diagonal = np.diag([8.0] * 5).tolist()
    lows = {name: of(name, diagonal, measures).low for name in ("kappa_quadratic", "kappa_linear", "kappa")}
    assert 0.7 < lows["kappa_quadratic"] < lows["kappa_linear"] < lows["kappa"]


def test_an_interval_lies_around_its_figure_even_far_below_chance() -> None:
    for table in ([[0, 20], [20, 0]], [[1, 30], [5, 1]], [[30, 1], [1, 0]]):
        for name in MEASURES:
            found = of(name, table)
            assert math.isnan(found.value) or found.low <= found.value <= found.high, (name, table)


def test_undefined_says_why() -> None:
    same = [[12.0, 0], [0, 0]]
    assert of("kappa", same).note.startswith("undefined: annotator_a and judge gave every item the same label")
    assert math.isnan(of("kappa", same).low)
    assert of("precision", [[0, 5], [0, 9]]).note == "undefined: judge never gave this label"
    assert of("recall", [[0, 0], [3, 9]]).note == "undefined: annotator_a never gave this label"
    assert of("f1", [[0, 0], [0, 9]]).note == "undefined: neither annotator_a nor judge gave this label"
    assert of("kappa", [[0, 0], [0, 0]]).note == "undefined: no item has both labels"


def test_macro_f1_has_no_interval_where_a_label_was_never_given_and_names_it() -> None:
    measures = {measure.name: measure for measure in classifier_measures(5)}
    table = np.diag([20.0, 20, 20, 20, 0])
    table[2, 4] = 1  # the judge says CONTRADICTORY once, where people say COMPLEMENTARY
    found = of("f1_macro", table.tolist(), measures)
    assert found.value == pytest.approx((3 + 40 / 41 + 0) / 5)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.note == "no interval: annotator_a never gave CONTRADICTORY, so the mean covers the other labels only"
    table[4, 4] = 1
    assert of("f1_macro", table.tolist(), measures).low < found.value


def test_a_small_figure_says_how_small() -> None:
    assert of("agreement", [[4, 1], [1, 1]]).note == "too small: 7 items, 10 needed"
    assert of("recall", [[1, 0], [9, 30]]).note == "too small: 1 item, 10 needed"
    assert of("agreement", [[5, 1], [1, 3]]).note == ""


@pytest.mark.parametrize("items", [50, 200, 400])
def test_a_weighted_kappa_of_items_with_one_label_is_flagged_at_any_size(items: int) -> None:
    skewed = np.diag([0.9, 0.06, 0.04]) * items
    measures = {measure.name: measure for measure in two_rater_measures(3)}
    assert of("kappa_quadratic", skewed.tolist(), measures).note == SKEWED_NOTE
    assert "76 to 93 %" in SKEWED_NOTE
    assert of("kappa_quadratic", (np.eye(3) * items / 3).tolist(), measures).note == ""


def test_kappa_of_disagrees_or_not_is_that_of_the_table_of_two() -> None:
    labels = np.arange(25).reshape(5, 5) + 3 * np.eye(5)
    two = [[labels[:3, :3].sum(), labels[:3, 3:].sum()], [labels[3:, :3].sum(), labels[3:, 3:].sum()]]
    found = estimate_measure(kappa_of_disagreement(5, [3, 4]), StratifiedTable.unweighted(labels))
    plain = of("kappa", two)
    assert (found.name, found.n) == ("kappa_disagrees", plain.n)
    assert (found.value, found.se) == pytest.approx((plain.value, plain.se))


def stratified(cells: list[list[list[float]]], pairs: list[float]) -> StratifiedTable:
    table = np.array(cells, dtype=float)
    return StratifiedTable(table, table.sum(axis=(1, 2)), np.array(pairs, dtype=float), np.ones(table.shape[:2], dtype=bool))


def test_a_run_weights_each_stratum_by_its_pairs() -> None:
    # 9 of 10 agree among 100 pairs, 5 of 10 among 900: (90 + 450) / 1000.
    counts = stratified([[[9, 1], [0, 0]], [[0, 0], [5, 5]]], [100, 900])
    assert estimate_measure(MEASURES["agreement"], counts).value == pytest.approx(0.54)
    assert counts.in_pairs.tolist() == [[90, 10], [450, 450]]
    assert counts.table.sum() == pytest.approx(20)


def test_a_fully_rated_run_has_no_standard_error() -> None:
    counts = stratified([[[9, 1], [0, 0]], [[0, 0], [5, 5]]], [10, 10])
    assert estimate_measure(MEASURES["agreement"], counts).se == pytest.approx(0)


def test_a_large_stratum_without_a_disagreement_still_widens_the_interval() -> None:
    few, many = (
        estimate_measure(MEASURES["agreement"], stratified([[[n, 0], [0, 0]], [[0, 0], [5, 5]]], [900, 100])) for n in (10, 100)
    )
    assert few.value == many.value == pytest.approx(0.95)
    assert few.high - few.low > 1.5 * (many.high - many.low)


def test_items_in_no_cell_take_part_in_the_spread() -> None:
    """Half the rated items have no agreed label: the share among the rest is known as from the rest, not as from all."""
    cells = np.array([[[15.0, 5], [0, 0]]])
    everyone, half = (StratifiedTable(cells, np.array([n]), np.array([1e9]), np.ones((1, 2), dtype=bool)) for n in (20.0, 40.0))
    assert estimate_measure(MEASURES["agreement"], half).se == pytest.approx(
        estimate_measure(MEASURES["agreement"], everyone).se, rel=0.05
    )


def test_an_imagined_item_is_half_as_likely_with_every_step_away() -> None:
    assert imagined_labels(3)[:, 0].tolist() == pytest.approx([4 / 7, 2 / 7, 1 / 7])


def test_a_derivative_by_complex_step_is_that_of_a_small_step() -> None:
    table, step = np.array([[20.0, 5], [10, 15]]), 1e-6
    kappa = MEASURES["kappa"].formula
    nudged = np.array(
        [
            [float(kappa(table + step * unit) - kappa(table - step * unit)) for unit in row]
            for row in np.eye(4).reshape(2, 2, 2, 2)
        ]
    )
    assert derivatives(kappa, table) == pytest.approx(nudged / (2 * step), abs=1e-8)


def test_a_quotient_of_two_exact_shares_is_exact() -> None:
    exact = (ShareEstimate(*np.full((3, 1), value)[:, 0]) for value in (0.2, 0.4))
    assert quotient_interval(*exact) == pytest.approx((0.5, 0.5))


def test_a_quotient_by_what_may_be_zero_has_no_upper_end() -> None:
    part, whole = ShareEstimate(*np.array([0.2, 0.1, 0.3])), ShareEstimate(*np.array([0.1, 0.0, 0.3]))
    low, high = quotient_interval(part, whole)
    assert high == math.inf
    assert 0 < low < 2


def test_the_spread_of_a_stratum_is_that_of_a_sample_from_its_pairs() -> None:
    """4 of 8 pairs rated, 3 agree: half an imagined item, two thirds of it agreeing, makes 3 1/3 of 4 1/2."""
    share = (3 + 1 / 3) / 4.5
    counts = stratified([[[2, 1], [0, 1]]], [8])
    assert estimate_measure(MEASURES["agreement"], counts).se == pytest.approx(
        math.sqrt((1 - 4 / 8) * share * (1 - share) / (4 - 1))
    )


def test_far_below_chance_no_share_corresponds_to_a_figure_and_the_interval_is_the_plain_one() -> None:
    kappa = {measure.name: measure for measure in two_rater_measures(3)}["kappa_quadratic"]
    found = estimate_measure(kappa, StratifiedTable.unweighted([[0, 0, 10], [1, 9, 0], [10, 0, 0]]))
    assert found.value < -0.9
    assert found.high == pytest.approx(found.value + Z * found.se)
    assert found.value - Z * found.se < -1 == found.low, "no kappa lies lower"


def test_two_who_never_agree_may_agree_on_the_next_items() -> None:
    """All of 40 items as far apart as can be: kappa is -1; at least 3.5 of 40 could have agreed, where chance expects half to."""
    found = estimate_measure(
        {measure.name: measure for measure in two_rater_measures(3)}["kappa_quadratic"],
        StratifiedTable.unweighted(20 * np.eye(3)[::-1] * TWO),
    )
    assert (found.value, found.se, found.low) == (-1, 0, -1)
    assert -1 + float(wilson(0, 40)[1]) / 0.5 < found.high < 0


def test_a_kappa_of_one_label_and_a_single_other_goes_no_lower_than_a_kappa_can() -> None:
    """39 items ABSENT by both and one by one of them: chance leaves 1 of 40 to differ, and Wilson's low end 1 - .13 / .025."""
    found = of("kappa", [[39, 1], [0, 0]])
    assert found.value == pytest.approx(0)
    assert found.low == -1
    assert found.high == pytest.approx(1 - (1 - float(wilson(39, 40)[1])) / (1 / 40))


@pytest.mark.parametrize("name", ["kappa", "alpha_nominal", "alpha_ordinal"])
def test_a_label_that_both_gave_and_never_to_the_same_item_leaves_a_wide_interval(name: str) -> None:
    """38 items of one label and two of another, each from one rater: two rare items say next to nothing, in either direction.

    The spread of the table alone would give -0.03 [-0.06, 0.01], as precise as 60,000 items.
    """
    found = of(name, [[38, 1], [1, 0]])
    room = 1 - (39**2 + 1) / 40**2
    assert (found.low, found.high) == (
        -1,
        pytest.approx(1 - (1 - float(wilson(share_for(found.value, room) * 40, 40)[1])) / room),
    )


def share_for(value: float, room: float) -> float:
    return 1 - (1 - value) * room


def test_so_does_one_among_three_annotators() -> None:
    """Of 40 items, three have another label by one of the three each; any two agree on 38, yet no two ever on that label."""
    odd = "CONSISTENT ABSENT ABSENT ABSENT 1\nABSENT CONSISTENT ABSENT ABSENT 1\nABSENT ABSENT CONSISTENT ABSENT 1"
    table = ratings(f"annotator_a annotator_b annotator_c judge times\nABSENT ABSENT ABSENT ABSENT 37\n{odd}")
    found = {one.name: one for one in multi_rater_estimates(table)}
    assert found["kappa_fleiss"].value == pytest.approx(0, abs=0.03)
    assert found["kappa_fleiss"].low == found["alpha_nominal"].low == -1
    assert found["kappa_fleiss"].high > 0.5


def test_many_items_of_small_strata_do_not_make_up_for_few_of_a_large_one() -> None:
    found = estimate_measure(MEASURES["agreement"], stratified([[[3, 1], [0, 1]], [[5, 0], [1, 6]]], [1_000_000, 100]))
    assert found.n == 17
    assert found.note == "too small: as precise as 4 independent items, 10 needed"
