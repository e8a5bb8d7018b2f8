"""The agreement report: who is compared with whom, on which items, for the sample and for the run."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from annotation.agreement.comparisons import comparisons
from annotation.agreement.estimates import EXACT
from annotation.agreement.report import AgreementReport, agreement_report, report_without_judge
from annotation.agreement.sentences import share_words
from annotation.cli.ratings import report_json, report_markdown
from annotation.ratings.gold import gold_standard, majority
from audit.stats.intervals import finite_share_interval
from tests.annotation.tables import ratings

TWO = """
    annotator_a   annotator_b   judge         times
    CONSISTENT    CONSISTENT    CONSISTENT       12
    COMPLEMENTARY COMPLEMENTARY COMPLEMENTARY    10
    COMPLEMENTARY COMPLEMENTARY DIVERGENT         3
    COMPLEMENTARY DIVERGENT     DIVERGENT         2
    DIVERGENT     DIVERGENT     DIVERGENT         4
    DIVERGENT     DIVERGENT     -                 1
    ABSENT        -             ABSENT            5
"""


def value(
    report: AgreementReport, first: str, second: str, name: str, label: str = "", scope: str = "sample", about: str = "label"
) -> pd.Series:
    key = {"about": about, "first": first, "second": second, "scope": scope, "name": name, "label": label}
    rows = report.figures
    ((_, row),) = rows[(rows[list(key)] == pd.Series(key)).all(axis=1)].iterrows()
    return row


def test_two_annotators_are_compared_on_the_items_that_both_rated() -> None:
    row = value(agreement_report(ratings(TWO)), "annotator_a", "annotator_b", "agreement")
    assert (row["n"], row["value"]) == (32, 30 / 32)


def test_the_judge_is_measured_on_items_with_a_majority_and_a_verdict() -> None:
    report = agreement_report(ratings(TWO))
    row = value(report, "majority", "judge", "accuracy")
    assert (row["n"], row["value"]) == (29, 26 / 29)
    assert value(report, "annotator_a", "judge", "accuracy")["n"] == 36
    assert report.counts == {
        "items": 37, "annotator_a": 37, "annotator_b": 32, "rated by one annotator only": 5, "without a majority": 2,
        "without a verdict": 1,
    }  # fmt: skip


def test_precision_recall_and_f1_of_a_label_each_have_their_own_n() -> None:
    report = agreement_report(ratings(TWO))
    found = {name: value(report, "majority", "judge", name, "DIVERGENT") for name in ("precision", "recall", "f1")}
    assert {name: (row["value"], row["n"]) for name, row in found.items()} == {
        "precision": (5 / 9, 9), "recall": (1, 4), "f1": (8 / 11, 7)
    }  # fmt: skip


def test_a_label_that_was_not_used_is_undefined_with_the_reason() -> None:
    row = value(agreement_report(ratings(TWO)), "majority", "judge", "precision", "CONTRADICTORY")
    assert math.isnan(row["value"])
    assert row["note"] == "undefined: judge never gave this label"


def test_the_judges_errors_are_listed_by_kind_with_their_items() -> None:
    errors = agreement_report(ratings(TWO)).errors
    (row,) = errors[errors["by"] == "majority"].itertuples()
    assert (row.right, row.judged, row.n) == ("COMPLEMENTARY", "DIVERGENT", 3)
    assert row.items == ["item-23", "item-24", "item-25"]


def test_both_confusion_matrices_count_the_labels() -> None:
    cells = (
        agreement_report(ratings(TWO))
        .confusion.set_index(["first", "second", "first_label", "second_label"])["count"]
        .sort_index()
    )
    assert cells["annotator_a", "annotator_b", "COMPLEMENTARY", "DIVERGENT"] == 2
    assert cells["majority", "judge", "COMPLEMENTARY", "DIVERGENT"] == 3
    assert cells["majority", "judge"].sum() == 29


def test_how_often_each_rater_gave_each_label_is_reported() -> None:
    row = value(agreement_report(ratings(TWO)), "annotator_b", "", "prevalence", "DIVERGENT")
    assert (row["value"], row["n"]) == (7 / 32, 32)


def test_without_weights_there_are_no_figures_of_the_run() -> None:
    report = agreement_report(ratings(TWO))
    assert "design_weight" in report.population
    assert set(report.figures["scope"]) == {"sample"}


WEIGHTED = """
    annotator_a   annotator_b   judge         gold          design_weight times
    ABSENT        ABSENT        ABSENT        -             10            20
    COMPLEMENTARY COMPLEMENTARY COMPLEMENTARY -             5             10
    COMPLEMENTARY DIVERGENT     COMPLEMENTARY DIVERGENT     5             10
    DIVERGENT     DIVERGENT     DIVERGENT     -             1             10
"""


def test_figures_of_the_run_weight_each_item_by_the_pairs_it_represents() -> None:
    report = agreement_report(ratings(WEIGHTED))
    assert value(report, "annotator_a", "annotator_b", "agreement")["value"] == pytest.approx(40 / 50)
    assert value(report, "annotator_a", "annotator_b", "agreement", scope="population")["value"] == pytest.approx(260 / 310)
    assert value(report, "gold", "judge", "accuracy", scope="population")["value"] == pytest.approx(260 / 310)


def test_the_judges_own_shares_of_the_run_are_known() -> None:
    row = value(agreement_report(ratings(WEIGHTED)), "judge", "", "prevalence", "COMPLEMENTARY", scope="population")
    assert row["value"] == pytest.approx(100 / 310)
    assert math.isnan(row["low"])


def test_a_label_whose_pairs_are_all_rated_has_a_precision_without_spread() -> None:
    """10 divergent pairs in the run, all rated, 8 confirmed; of 200 complementary ones 20 are rated and confirmed."""
    report = agreement_report(
        ratings("""
        annotator_a   annotator_b   judge         design_weight times
        DIVERGENT     DIVERGENT     DIVERGENT     1             8
        COMPLEMENTARY COMPLEMENTARY DIVERGENT     1             2
        COMPLEMENTARY COMPLEMENTARY COMPLEMENTARY 10            20
    """)
    )
    for scope in ("sample", "population"):
        row = value(report, "majority", "judge", "precision", "DIVERGENT", scope=scope)
        assert (row["value"], row["low"], row["n"]) == (pytest.approx(0.8), row["high"], 10)
        assert row["note"] == EXACT
        assert share_words(row) == "80 %, known exactly: all of them in the run were rated"
    rest = value(report, "majority", "judge", "precision", "COMPLEMENTARY", scope="population")
    assert (rest["low"], rest["high"]) == finite_share_interval(20, 20, 200)


def test_a_pair_in_dispute_keeps_its_label_from_being_known_exactly() -> None:
    report = agreement_report(
        ratings("""
        annotator_a   annotator_b   judge         design_weight times
        DIVERGENT     DIVERGENT     DIVERGENT     1             2
        COMPLEMENTARY DIVERGENT     DIVERGENT     1             1
        CONSISTENT    CONSISTENT    CONSISTENT    10            20
    """)
    )
    row = value(report, "majority", "judge", "precision", "DIVERGENT", scope="population")
    assert (row["n"], row["value"], row["low"], row["high"]) == (3, 2.5 / 3, 2 / 3, 1)
    assert row["note"] == "2 of 3, divided on 1, which count in parts"


def test_a_half_finished_study_weights_what_is_rated_so_far_up_to_the_whole_stratum() -> None:
    report = agreement_report(
        ratings("""
        annotator_a annotator_b judge      design_weight times
        ABSENT      ABSENT      ABSENT     10            5
        -           -           ABSENT     10            15
        DIVERGENT   CONSISTENT  DIVERGENT  2             10
    """)
    )
    row = value(report, "annotator_a", "annotator_b", "agreement", scope="population")
    assert (row["n"], row["value"]) == (15, pytest.approx(200 / 220))


def test_a_stratum_that_nobody_rated_leaves_the_run_undefined_and_is_named() -> None:
    report = agreement_report(
        ratings("""
        annotator_a annotator_b judge      design_weight times
        ABSENT      ABSENT      ABSENT     10            12
        -           -           DIVERGENT  2             10
    """)
    )
    row = value(report, "annotator_a", "annotator_b", "agreement", scope="population")
    assert row["note"] == "undefined: no item of stratum DIVERGENT is rated yet"
    assert value(report, "annotator_a", "annotator_b", "agreement")["value"] == 1


def test_a_study_without_ratings_says_so_everywhere() -> None:
    report = agreement_report(
        ratings("""
        annotator_a annotator_b judge  times
        -           -           ABSENT 3
    """)
    )
    assert value(report, "annotator_a", "annotator_b", "kappa")["note"] == "undefined: no item has both labels"
    assert value(report, "annotator_a", "", "prevalence", "ABSENT")["note"] == "undefined: no item has a label"


def test_a_majority_is_more_than_half_of_at_least_two() -> None:
    table = ratings("""
        annotator_a annotator_b annotator_c judge
        DIVERGENT   DIVERGENT   CONSISTENT  ABSENT
        DIVERGENT   CONSISTENT  ABSENT      ABSENT
        DIVERGENT   DIVERGENT   -           ABSENT
        DIVERGENT   CONSISTENT  -           ABSENT
        DIVERGENT   -           -           ABSENT
    """)
    assert majority(table).tolist() == [3, -1, 3, -1, -1]


def test_gold_is_the_adjudicated_label_else_the_majority() -> None:
    table = ratings("""
        annotator_a annotator_b gold       judge
        DIVERGENT   DIVERGENT   -          ABSENT
        DIVERGENT   CONSISTENT  CONSISTENT ABSENT
        DIVERGENT   DIVERGENT   CONSISTENT ABSENT
        DIVERGENT   CONSISTENT  -          ABSENT
    """)
    standard = gold_standard(table)
    assert standard.codes.tolist() == [3, 1, 1, -1]
    assert standard.adjudicated.tolist() == [False, True, True, False]
    assert standard.disputed.tolist() == [False, False, False, True]


def test_three_annotators_are_compared_two_by_two_and_all_together() -> None:
    report = agreement_report(
        ratings("""
        annotator_a annotator_b annotator_c judge     times
        ABSENT      ABSENT      ABSENT      ABSENT    10
        DIVERGENT   DIVERGENT   CONSISTENT  DIVERGENT 5
        CONSISTENT  CONSISTENT  CONSISTENT  ABSENT    10
    """)
    )
    couples = {(c.first, c.second) for c in comparisons(ratings(TWO)) if not c.of_judge}
    assert couples == {("annotator_a", "annotator_b")}
    row = value(report, "all annotators", "", "agreement")
    assert (row["n"], row["value"]) == (25, pytest.approx((20 * 3 + 5 * 1) / (25 * 3)))
    assert value(report, "annotator_b", "annotator_c", "agreement")["value"] == 20 / 25


def test_significance_is_compared_on_the_items_where_all_three_gave_one() -> None:
    report = agreement_report(
        ratings("""
        annotator_a annotator_b judge     significance_a significance_b judge_significance times
        DIVERGENT   DIVERGENT   DIVERGENT low            low            medium             8
        DIVERGENT   DIVERGENT   DIVERGENT high           high           high               6
        DIVERGENT   DIVERGENT   DIVERGENT high           -              high               5
        CONSISTENT  CONSISTENT  DIVERGENT -              -              low                5
    """)
    )
    between = value(report, "annotator_a", "annotator_b", "agreement", about="significance")
    judged = value(report, "annotator_a", "judge", "agreement", about="significance")
    assert (between["n"], between["value"], judged["n"], judged["value"]) == (14, 1, 14, 6 / 14)


def test_how_common_gold_is_counts_what_needed_no_adjudication_too() -> None:
    row = value(agreement_report(ratings(WEIGHTED)), "gold", "", "prevalence", "DIVERGENT")
    assert (row["n"], row["value"]) == (50, 20 / 50)


def test_a_stratum_drawn_by_the_judges_label_has_no_other_verdict_but_any_human_label() -> None:
    table = ratings(WEIGHTED)
    by_people, by_judge = (
        next(c for c in comparisons(table) if c.of_judge is of_judge).table(table.design) for of_judge in (False, True)
    )
    assert by_people.possible.all()
    assert by_judge.possible.sum(axis=1).tolist() == [1, 1, 1]


GRADED = """
    annotator_a annotator_b judge     significance_a significance_b judge_significance times
    DIVERGENT   DIVERGENT   DIVERGENT low            low            medium             8
    DIVERGENT   DIVERGENT   DIVERGENT high           high           high               6
    DIVERGENT   DIVERGENT   DIVERGENT high           -              high               5
"""


def test_significance_has_figures_of_annotators_and_judge_together_on_the_same_items() -> None:
    """Of 14 items 6 have one word from all three; on the other 8 one couple of three agrees: (6 * 3 + 8) / 42."""
    row = value(agreement_report(ratings(GRADED)), "annotators and judge", "", "agreement", about="significance")
    assert (row["n"], row["value"]) == (14, pytest.approx(26 / 42))
    assert "where all chose one: annotators and judge together" in report_markdown(agreement_report(ratings(GRADED)), "x")


def test_without_an_item_that_all_three_graded_significance_names_who_has_to() -> None:
    report = agreement_report(
        ratings("""
        annotator_a annotator_b judge     significance_a significance_b judge_significance times
        DIVERGENT   DIVERGENT   DIVERGENT low            low            -                  8
    """)
    )
    reason = "undefined: no item has a significance from each of annotator_a, annotator_b, judge"
    rows = report.figures[report.figures["about"] == "significance"]
    assert set(rows["first"]) == {"annotator_a", "annotator_b", "annotators and judge"}
    assert set(rows["note"]) == {reason}
    assert set(rows["n"]) == {0}


def test_a_report_without_the_judge_is_the_same_whatever_the_judge_gave() -> None:
    other = GRADED.replace("DIVERGENT low            low            medium", "ABSENT    low            low            high")
    weighted = WEIGHTED.replace("COMPLEMENTARY -             5 ", "CONSISTENT    -             5 ")
    for one, changed in ((GRADED, other), (WEIGHTED, weighted)):
        reports = [report_without_judge(ratings(table)) for table in (one, changed)]
        texts = [report_json(report, "x") for report in reports]
        assert one != changed
        assert texts[0] == texts[1]
        assert '"judge"' not in texts[0]
    assert value(report_without_judge(ratings(WEIGHTED)), "annotator_a", "annotator_b", "agreement")["value"] == 40 / 50


def test_a_value_that_rounds_to_zero_has_no_sign_in_the_markdown_report() -> None:
    report = agreement_report(ratings(TWO))
    text = report_markdown(replace(report, figures=report.figures.assign(value=-0.1, low=-0.2, high=-0.00002)), "labels.csv")
    assert "\N{MINUS SIGN}0.100 \\[\N{MINUS SIGN}0.200, 0.000\\]" in text
    assert "\N{MINUS SIGN}0.000" not in text
