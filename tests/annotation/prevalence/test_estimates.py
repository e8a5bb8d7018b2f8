"""Corrected shares, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from annotation.agreement.report import agreement_report
from annotation.prevalence.estimates import prevalence
from annotation.ratings.gold import human_labels
from annotation.ratings.table import Ratings
from audit.errors import AuditError
from audit.stats.intervals import jeffreys, stratified_share
from tests.annotation.tables import ratings

STUDY = """
    annotator_a   annotator_b   judge         design_weight times
    ABSENT        ABSENT        ABSENT        90            10
    COMPLEMENTARY COMPLEMENTARY COMPLEMENTARY 8             8
    DIVERGENT     DIVERGENT     COMPLEMENTARY 8             2
    DIVERGENT     DIVERGENT     DIVERGENT     2             6
    COMPLEMENTARY COMPLEMENTARY DIVERGENT     2             4
"""


def shares(table: Ratings, method: str = "corrected", human: str = "gold") -> pd.DataFrame:
    estimates = prevalence(table, human)
    return estimates[estimates["method"] == method].set_index("label")


def test_the_corrected_share_weights_each_stratum_by_its_pairs() -> None:
    # 900 pairs ABSENT; 80 COMPLEMENTARY, 2 in 10 DIVERGENT by people; 20 DIVERGENT, 6 in 10 of them by people too.
    estimate = shares(ratings(STUDY))["value"]
    assert estimate["DIVERGENT"] == pytest.approx((80 * 0.2 + 20 * 0.6) / 1000)
    assert estimate["disagrees"] == estimate["DIVERGENT"]
    assert estimate["ABSENT"] == pytest.approx(0.9)


def test_a_stratum_of_a_single_pair_that_is_rated_is_known_without_a_warning() -> None:
    with np.errstate(all="raise"):
        estimate = stratified_share([1, 0], [1, 0], [1, 3])
    assert (estimate.value, estimate.low, estimate.high) == (1, 0.25, 1), "a quarter of the run is of the label, the rest unrated"


def test_the_judges_own_share_has_no_interval() -> None:
    estimate = shares(ratings(STUDY), "judge")
    assert estimate.loc["DIVERGENT", "value"] == pytest.approx(20 / 1000)
    assert estimate[["low", "high"]].isna().all(axis=None)


def test_the_expected_interval_of_a_random_sample_is_that_of_the_corrected_share_among_as_many_items() -> None:
    corrected, random = (shares(ratings(STUDY), method).loc["COMPLEMENTARY"] for method in ("corrected", "random sample"))
    assert random["value"] == corrected["value"] == pytest.approx((80 * 0.8 + 20 * 0.4) / 1000)
    ends = beta.ppf([0.025, 0.975], 30 * 0.072 + 0.5, 30 * 0.928 + 0.5)  # 30 items, Jeffreys
    assert (random["low"], random["high"]) == pytest.approx(tuple(ends))


def test_the_share_of_the_sample_is_marked_as_not_weighted() -> None:
    row = shares(ratings(STUDY), "sample").loc["DIVERGENT"]
    assert row["value"] == pytest.approx(8 / 30)
    assert row["note"].startswith("not weighted")


def test_one_infinite_stratum_has_jeffreys_interval() -> None:
    estimate = stratified_share([3], [40], [10**9])
    assert (estimate.low, estimate.high) == pytest.approx(tuple(beta.ppf([0.025, 0.975], 3.5, 37.5)), abs=1e-6)


def test_a_label_that_no_item_had_may_still_occur() -> None:
    estimate = stratified_share([0, 5], [40, 40], [900, 100])
    assert estimate.high > 0.9 * beta.ppf(0.975, 0.5, 40.5) * 0.9
    assert estimate.low == pytest.approx(0.1 * (jeffreys(np.array(5 / 40), np.array(40 * 99 / 60))[0]))


def test_a_fully_rated_stratum_is_known() -> None:
    estimate = stratified_share([3, 1], [10, 4], [10, 4])
    assert tuple(estimate) == pytest.approx((4 / 14,) * 3)


def test_a_stratum_without_ratings_may_have_the_label_in_all_pairs_or_none() -> None:
    estimate = stratified_share([3, 0], [10, 0], [10, 10])
    assert tuple(estimate) == pytest.approx((0.3, 0.15, 0.15 + 0.5))


def test_a_second_criterion_in_proportion_does_not_widen_the_interval() -> None:
    """40 of 400 pairs by label, once with five organs as strata, four of which have two items that tell little by themselves."""
    header, judged = "annotator_a annotator_b judge design_weight stratum times", "COMPLEMENTARY 10 COMPLEMENTARY"
    undivided = f"{header}\nDIVERGENT DIVERGENT {judged} 4\nCONSISTENT CONSISTENT {judged} 36"
    organs = [f"CONSISTENT CONSISTENT {judged}/{organ} 2" for organ in ("heart", "lung", "liver", "pancreas")]
    divided = [header, *organs, f"DIVERGENT DIVERGENT {judged}/kidney 4", f"CONSISTENT CONSISTENT {judged}/kidney 28"]
    columns = ["value", "low", "high"]
    expected, found = (shares(ratings(text)).loc["DIVERGENT", columns].tolist() for text in (undivided, "\n".join(divided)))
    assert found == pytest.approx(expected)
    cells = stratified_share([0, 0, 0, 0, 4], [2, 2, 2, 2, 32], [20, 20, 20, 20, 320])
    assert cells.high - cells.low > 1.05 * (found[2] - found[1])


def test_an_organ_without_ratings_is_taken_to_be_like_the_others_of_its_label() -> None:
    lines = ["DIVERGENT DIVERGENT DIVERGENT 10 DIVERGENT/heart 5", "ABSENT ABSENT DIVERGENT 10 DIVERGENT/heart 5",
             "- - DIVERGENT 10 DIVERGENT/lung 2"]  # fmt: skip
    text = "\n".join(["annotator_a annotator_b judge design_weight stratum times", *lines])
    found = shares(ratings(text)).loc["DIVERGENT"]
    assert (found["value"], found["note"]) == (pytest.approx(0.5), "")
    assert found["high"] < 0.8


def test_without_ratings_nothing_is_known() -> None:
    estimate = stratified_share([0, 0], [0, 0], [10, 10])
    assert np.isnan(estimate.value)
    assert (estimate.low, estimate.high) == (0, 1)


def test_shares_of_all_labels_and_studies_at_once_are_computed_separately() -> None:
    estimate = np.array([[[0, 5], [3, 3]], [[40, 1], [2, 0]]])
    at_once = stratified_share(estimate, [40, 20], [1000, 50])
    one = stratified_share(estimate[1, 0], [40, 20], [1000, 50])
    assert at_once.value.shape == (2, 2)
    assert (at_once.low[1, 0], at_once.high[1, 0]) == (one.low, one.high)


def test_an_item_that_two_annotators_differ_on_counts_half_for_each_until_adjudicated() -> None:
    table = """
        annotator_a annotator_b judge  design_weight {}
        DIVERGENT   CONSISTENT  ABSENT 2 {}
        ABSENT      ABSENT      ABSENT 2 {}
    """
    split = human_labels(ratings(table.format("stratum", "s", "s")))
    assert split[0].tolist() == [0, 0.5, 0, 0.5, 0]
    settled = human_labels(ratings(table.format("gold", "CONSISTENT", "-")))
    assert settled.tolist() == [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0]]


def test_items_rated_by_one_annotator_have_no_gold_label_and_are_counted() -> None:
    """Of 240 items 120 are rated by one annotator only, who calls all of them divergent; 40 are disputed."""
    lines = ["DIVERGENT - ABSENT 10 120", "ABSENT ABSENT ABSENT 10 80", "ABSENT DIVERGENT ABSENT 10 40"]
    table = ratings("\n".join(["annotator_a annotator_b judge design_weight times", *lines]))
    gold = shares(table)
    assert (gold["n"]["DIVERGENT"], gold["value"]["DIVERGENT"]) == (120, pytest.approx(20 / 120))
    assert gold["note"]["DIVERGENT"] == (
        "without a gold label: 40 items in open dispute (each label given counts in equal parts); "
        "120 of 240 rated items rated by one annotator only (left out)"
    )
    assert shares(table, human="annotator_a")["n"]["DIVERGENT"] == 240
    assert agreement_report(table).counts["rated by one annotator only"] == 120
    with pytest.raises(AuditError, match=r"No item has a label by gold \(3 are rated by one annotator only"):
        prevalence(ratings("annotator_a annotator_b judge design_weight times\nABSENT - ABSENT 2 3"))


def test_three_annotators_settle_an_item_by_majority() -> None:
    lines = ["annotator_a annotator_b annotator_c judge design_weight", "DIVERGENT DIVERGENT ABSENT ABSENT 2"]
    assert human_labels(ratings("\n".join(lines))).tolist() == [[0, 0, 0, 1, 0]]


def test_one_annotator_may_count_as_right_alone() -> None:
    table = ratings(STUDY.replace("DIVERGENT     DIVERGENT     COMPLEMENTARY", "DIVERGENT     CONSISTENT    COMPLEMENTARY"))
    assert shares(table, human="annotator_b")["value"]["CONSISTENT"] == pytest.approx(80 * 0.2 / 1000)


def test_an_unknown_annotator_and_a_table_without_labels_are_refused() -> None:
    with pytest.raises(AuditError, match=r"There is no annotator 'annotator_z'\. Allowed: gold, annotator_a, annotator_b"):
        prevalence(ratings(STUDY), "annotator_z")
    empty = ratings("annotator_a annotator_b judge design_weight\n- - ABSENT 2")
    with pytest.raises(AuditError, match="No item has a label by gold"):
        prevalence(empty)


def test_strata_without_ratings_are_named_with_the_corrected_shares() -> None:
    table = ratings(STUDY + "    - - CONTRADICTORY 1 3\n")
    assert set(shares(table)["note"]) == {"the interval allows for anything in strata without ratings: CONTRADICTORY"}


def test_pairs_without_a_verdict_are_part_of_the_run_and_not_a_label_of_the_judge() -> None:
    table = ratings(STUDY + "    DIVERGENT DIVERGENT - 10 10\n")
    assert shares(table, "judge").loc[list(shares(table).index[:-1]), "value"].sum() == pytest.approx(1000 / 1100)
    assert shares(table)["value"]["DIVERGENT"] == pytest.approx((80 * 0.2 + 20 * 0.6 + 100) / 1100)
