"""Time per item, drift over the order of work, and test-retest reliability."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from annotation.agreement.report import drift, retest_agreement, time_per_item
from annotation.ratings.table import Ratings, ratings_from
from audit.errors import AuditError
from audit.stats.intervals import wilson
from tests.annotation.tables import ratings

WORK = """
    annotator_a annotator_b judge     order_a seconds_a
    DIVERGENT   DIVERGENT   DIVERGENT 8       10
    DIVERGENT   DIVERGENT   DIVERGENT 7       20
    DIVERGENT   CONSISTENT  DIVERGENT 6       30
    DIVERGENT   CONSISTENT  DIVERGENT 5       40
    CONSISTENT  CONSISTENT  DIVERGENT 4       50
    CONSISTENT  DIVERGENT   DIVERGENT 3       60
    CONSISTENT  DIVERGENT   -         2       70
    CONSISTENT  DIVERGENT   DIVERGENT 1       80
    -           DIVERGENT   DIVERGENT -       -
"""


def drift_against(table: Ratings, against: str) -> list[tuple[int, float]]:
    found = drift(table)
    return [(row.n, row.value) for row in found[found["against"] == against].itertuples()]


def test_quarters_follow_the_annotators_own_order_of_work() -> None:
    assert drift_against(ratings(WORK), "annotator_b") == [(2, 0), (2, 0.5), (2, 0), (2, 1)]
    assert drift_against(ratings(WORK), "judge") == [(1, 0), (2, 0), (2, 1), (2, 1)]


def test_an_annotator_without_an_order_has_no_drift() -> None:
    assert set(drift(ratings(WORK))["annotator"]) == {"annotator_a"}


def test_time_per_item_and_its_change() -> None:
    (row,) = time_per_item(ratings(WORK)).itertuples()
    assert (row.annotator, row.n, row.median_s, row.first_quarter_s, row.last_quarter_s) == ("annotator_a", 8, 45, 75, 15)


def test_times_without_an_order_have_no_quarters() -> None:
    (row,) = time_per_item(ratings(WORK.replace("order_a", "place_x"))).itertuples()
    assert row.median_s == 45
    assert math.isnan(row.first_quarter_s)


def test_a_table_without_times_and_order_has_no_rows() -> None:
    bare = ratings("annotator_a annotator_b judge\nABSENT ABSENT ABSENT")
    assert time_per_item(bare).empty
    assert drift(bare).empty


@pytest.mark.parametrize("cell", ["soon", "-3", "inf"])
def test_a_time_is_a_number(cell: str) -> None:
    frame = pd.DataFrame({"item_id": ["x"], "annotator_a": ["1"], "annotator_b": ["1"], "judge": ["1"], "seconds_b": [cell]})
    with pytest.raises(AuditError, match=f"labels.csv, row 2: seconds_b must be a number of at least 0 or empty, not '{cell}'"):
        ratings_from(frame, "labels.csv")


def test_each_annotator_is_compared_with_themselves_on_the_items_that_were_repeated() -> None:
    repeats = pd.DataFrame(
        [("ana", "ABSENT", "ABSENT")] * 6 + [("ana", "DIVERGENT", "DIVERGENT")] * 5 + [("ana", "DIVERGENT", "COMPLEMENTARY")]
        + [("ben", "ABSENT", "ABSENT")] * 3,
        columns=["annotator", "first", "second"],
    )  # fmt: skip
    found = retest_agreement(repeats).set_index(["annotator", "name"])
    ana, ben = found.loc[("ana", "agreement")], found.loc[("ben", "agreement")]
    assert (ana["n"], ana["value"]) == (12, pytest.approx(11 / 12))
    assert [ana["low"], ana["high"]] == pytest.approx([float(end) for end in wilson(11, 12)])
    assert (ben["n"], ben["value"], ben["note"]) == (3, 1, "too small: 3 items, 10 needed")
    # disagreement (steps / 4) ** 2: seen once, one step; expected of first labels 6 A, 6 D met with 6 A, 1 C, 5 D
    expected = (6 * (1 * 4 + 5 * 9) + 6 * (6 * 9 + 1 * 1)) / 16 / 12 / 12
    assert found.loc[("ana", "kappa_quadratic"), "value"] == pytest.approx(1 - (1 / 16 / 12) / expected)
    assert found.loc[("ben", "kappa_quadratic"), "note"].startswith("undefined: the first labels and the second gave every item")


def test_without_repeats_there_is_no_retest() -> None:
    assert retest_agreement(pd.DataFrame(columns=["annotator", "first", "second"])).empty
