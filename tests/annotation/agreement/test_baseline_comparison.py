"""The judge compared with a baseline: the same items, the same reference standards, and a paired interval of the difference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from annotation.agreement.report import Comparator, compare_with_baseline
from annotation.ratings.design import MISSING
from annotation.ratings.table import ratings_from
from audit.vocabulary import LABELS, Label
from tests.annotation.tables import ratings

TABLE = """
    annotator_a    annotator_b    judge          times
    CONSISTENT     CONSISTENT     CONSISTENT     30
    DIVERGENT      DIVERGENT      DIVERGENT      20
    DIVERGENT      DIVERGENT      COMPLEMENTARY  10
"""

RIGHT = TABLE.replace("COMPLEMENTARY", "DIVERGENT")


def labels(*runs: tuple[Label, int]) -> np.ndarray:
    return np.repeat([LABELS.index(label) for label, _ in runs], [times for _, times in runs])


ALL_CONSISTENT = labels((Label.CONSISTENT, 60))


def row(frame, name: str, by: str = "majority", scope: str = "sample") -> dict[str, float]:
    (found,) = frame[(frame["name"] == name) & (frame["by"] == by) & (frame["scope"] == scope)].to_dict("records")
    return found


def test_the_difference_is_the_judges_figure_minus_the_others():
    found = row(compare_with_baseline(ratings(TABLE), Comparator("rules", ALL_CONSISTENT)), "accuracy")
    assert (found["judge"], found["other"]) == (pytest.approx(50 / 60), pytest.approx(30 / 60))
    assert found["difference"] == pytest.approx(20 / 60)
    assert found["n"] == 60
    # On 20 items the judge alone is right, on none the baseline alone.
    # McNemar's standard error is sqrt(20 - 20**2 / 60) / 60 = 0.0609.
    assert found["difference_low"] == pytest.approx(1 / 3 - 1.96 * 0.0609, abs=0.02)
    assert found["difference_high"] == pytest.approx(1 / 3 + 1.96 * 0.0609, abs=0.02)


def test_a_judge_compared_with_itself_has_a_difference_of_zero_in_every_resample():
    table = ratings(TABLE)
    frame = compare_with_baseline(table, Comparator("again", table.labels["judge"]))
    assert set(frame["difference"]) == set(frame["difference_low"]) == set(frame["difference_high"]) == {0.0}


def test_the_same_table_gives_the_same_interval_every_time():
    one, other = (compare_with_baseline(ratings(TABLE), Comparator("rules", ALL_CONSISTENT)) for _ in range(2))
    assert one.equals(other)


def test_an_item_that_one_of_the_two_did_not_label_counts_for_neither():
    partly = np.where(np.arange(60) < 6, MISSING, ALL_CONSISTENT)
    found = row(compare_with_baseline(ratings(TABLE), Comparator("rules", partly)), "accuracy")
    assert found["n"] == 54
    assert (found["judge"], found["other"]) == (pytest.approx(44 / 54), pytest.approx(24 / 54))


def test_for_the_run_an_item_counts_for_the_pairs_it_represents():
    table = """
        annotator_a    annotator_b    judge          design_weight  times
        CONSISTENT     CONSISTENT     CONSISTENT     1              20
        COMPLEMENTARY  COMPLEMENTARY  COMPLEMENTARY  9              20
    """
    found = row(
        compare_with_baseline(ratings(table), Comparator("rules", labels((Label.CONSISTENT, 40)))), "accuracy", scope="population"
    )
    assert (found["judge"], found["other"]) == (1.0, pytest.approx(20 / 200))
    assert found["difference"] == pytest.approx(180 / 200)


def test_without_a_common_item_there_is_no_figure_and_a_reason():
    frame = compare_with_baseline(ratings(TABLE), Comparator("rules", np.full(60, MISSING)))
    assert frame["difference"].isna().all()
    assert set(frame["note"]) == {"undefined: no item has both labels"}


@pytest.mark.parametrize(("apart", "note"), [(9, "too small: exactly one is right on 9 items, 10 needed"), (10, "")])
def test_a_difference_that_few_items_carry_is_marked(apart, note):
    rules = np.where(np.arange(60) < 60 - apart, ratings(RIGHT).labels["judge"], LABELS.index(Label.ABSENT))
    assert row(compare_with_baseline(ratings(RIGHT), Comparator("rules", rules)), "accuracy")["note"] == note


@pytest.mark.slow
def test_the_interval_of_the_difference_covers_the_true_one_about_as_often_as_it_claims():
    """A judge that is right on 93 % and rules that know COMPLEMENTARY from the rest half the time; 60 items, 40 samples."""
    chance, labelled = np.random.default_rng(3), np.array([label.value for label in LABELS])
    shares = np.array([0.05, 0.15, 0.55, 0.2, 0.05])
    rules = np.array([0.9, 0.5, 0.96, 0.3, 0.0])
    held = 0
    for _ in range(40):
        true = chance.choice(5, 60, p=shares)
        judge = np.where(chance.random(60) < 0.93, true, (true + 1) % 5)
        other = np.where(chance.random(60) < rules[true], true, (true + 1) % 5)
        columns = {"annotator_a": labelled[true], "annotator_b": labelled[true], "judge": labelled[judge]}
        frame = compare_with_baseline(ratings_from(pd.DataFrame({"item_id": range(60), **columns})), Comparator("rules", other))
        found = row(frame, "accuracy")
        held += found["difference_low"] <= 0.93 - shares @ rules <= found["difference_high"]
    assert held >= 34  # 38 expected; fewer than 34 in one of a hundred such runs
