"""Where and when the judge errs: counts by hand, groups that nobody rated, and a judge that gets worse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from annotation.prevalence.judge_errors import NOT_RATED, errors_of_judge, judge_errors_by_group, judge_errors_in_time
from annotation.ratings.table import Ratings, ratings_from


def study(people: list[tuple[str, str]], judge: list[str]) -> Ratings:
    first, second = zip(*people, strict=True)
    items = [f"i{number}" for number in range(len(judge))]
    return ratings_from(pd.DataFrame({"item_id": items, "annotator_a": first, "annotator_b": second, "judge": judge}))


RATED = study(
    [("CONSISTENT", "CONSISTENT"), ("DIVERGENT", "COMPLEMENTARY"), ("DIVERGENT", "DIVERGENT"), ("", "")],
    ["DIVERGENT", "DIVERGENT", "DIVERGENT", "CONSISTENT"],
)


def test_an_open_dispute_is_half_an_error_and_an_item_without_labels_none() -> None:
    assert errors_of_judge(RATED)[:3] == pytest.approx([1, 0.5, 0])
    assert np.isnan(errors_of_judge(RATED)[3])


def test_groups_are_counted_and_those_not_rated_have_no_rate() -> None:
    groups = pd.DataFrame({"item_id": ["i0", "i1", "i2", "i3"], "by": "organ", "group": ["heart", "heart", "lung", "liver"]})
    table = judge_errors_by_group(RATED, groups, pd.DataFrame({"by": ["organ"], "group": ["kidney"]})).set_index("group")
    assert table["n"].to_dict() == {"heart": 2, "lung": 1, "liver": 0, "kidney": 0}
    assert table.loc["heart", ["errors", "own"]].tolist() == [1.5, 0.75]
    assert table.loc[["liver", "kidney"], "note"].tolist() == [NOT_RATED] * 2
    assert table.loc[["liver", "kidney"], ["own", "value", "value_low"]].isna().all(axis=None)
    assert 0 < table.loc["lung", "value"] < table.loc["heart", "value"] < 0.75  # drawn towards each other
    assert table.loc["lung", "value_low"] == 0


def test_a_judge_that_gets_worse_passes_the_limit_where_it_did() -> None:
    right = [("DIVERGENT", "DIVERGENT")] * 60
    wrong = [("COMPLEMENTARY", "COMPLEMENTARY")] * 15
    items, found = judge_errors_in_time(
        study(right + wrong, ["DIVERGENT"] * 75), pd.Series(range(75), index=[f"i{number}" for number in range(75)])
    )
    assert len(items) == 75
    assert found.since == 60
    shuffled = pd.Series(range(75), index=[f"i{number}" for number in np.random.default_rng(2).permutation(75)])
    assert judge_errors_in_time(study(right + wrong, ["DIVERGENT"] * 75), shuffled)[1].first_above is None
