"""The judge by groups of items, and its errors by kind: figures counted by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from annotation.agreement.subgroups import ALL_ERRORS, ALL_ITEMS, MILD, ON_BOUNDARY, SEVERE, failure_modes, subgroups
from audit.stats.intervals import wilson
from tests.annotation.tables import ratings

# 6 + 2 right; errors: 3 x complementary called divergent, 1 x consistent called complementary, 1 x consistent called divergent
LABELS = """
    annotator_a    annotator_b    judge          times
    DIVERGENT      DIVERGENT      DIVERGENT      6
    COMPLEMENTARY  COMPLEMENTARY  DIVERGENT      3
    CONSISTENT     CONSISTENT     COMPLEMENTARY  1
    CONSISTENT     CONSISTENT     DIVERGENT      1
    CONSISTENT     CONSISTENT     CONSISTENT     2
    CONSISTENT     DIVERGENT      CONSISTENT     1
"""


def groups(**items: str) -> pd.DataFrame:
    return pd.DataFrame([(f"item-{n}", "organ", name) for name, numbers in items.items() for n in numbers.split()],
                        columns=["item_id", "by", "group"])  # fmt: skip


def test_a_group_has_its_items_its_errors_and_those_at_complementary() -> None:
    table = subgroups(ratings(LABELS), groups(heart="1 2 7 8 11", liver="10 12 13", both="1 14", none="99"))
    rows = table.set_index("group")[["n", "errors", "boundary"]]
    assert rows.to_dict("index") == {
        "": {"n": 13, "errors": 5, "boundary": 4},
        "heart": {"n": 5, "errors": 3, "boundary": 2},
        "liver": {"n": 3, "errors": 1, "boundary": 1},
        # item 14 has no majority, so it is compared with nothing
        "both": {"n": 1, "errors": 0, "boundary": 0},
    }
    assert table["by"].tolist() == [ALL_ITEMS, "organ", "organ", "organ"]
    heart = table.set_index("group").loc["heart"]
    assert (heart["accuracy"], heart["boundary_share"]) == pytest.approx((2 / 5, 2 / 3))
    assert [heart["accuracy_low"], heart["accuracy_high"]] == pytest.approx([float(end) for end in wilson(2, 5)])
    assert "too small" in heart["note"]
    assert table.set_index("group")["boundary_share"].isna().tolist() == [False, False, False, True]


def test_kappa_of_all_items_is_that_of_the_report() -> None:
    # Quadratic weights by hand: mean squared distance 5 x 1 and 1 x 4, less what the margins give
    people = [3] * 6 + [2] * 3 + [1] * 4
    judge = [3] * 6 + [3] * 3 + [2, 3, 1, 1]
    observed = sum((a - b) ** 2 for a, b in zip(people, judge, strict=True)) / 13
    expected = sum((a - b) ** 2 for a in people for b in judge) / 169
    (kappa,) = subgroups(ratings(LABELS), groups()).loc[:, "kappa"]
    assert kappa == pytest.approx(1 - observed / expected)


def test_failure_modes_add_up_to_their_subtotals_and_these_to_all_errors() -> None:
    table = failure_modes(ratings(LABELS))
    kinds = table[table["right"] != ""]
    assert kinds[["right", "judged", "n"]].to_numpy().tolist() == [
        ["COMPLEMENTARY", "DIVERGENT", 3], ["CONSISTENT", "COMPLEMENTARY", 1], ["CONSISTENT", "DIVERGENT", 1],
    ]  # fmt: skip
    totals = table[table["right"] == ""].set_index("mode")
    assert totals["n"].to_dict() == {f"{ON_BOUNDARY}, together": 4, "elsewhere, together": 1, SEVERE: 5, MILD: 0, ALL_ERRORS: 5}
    assert totals.loc[f"{ON_BOUNDARY}, together", "share"] == pytest.approx(0.8)
    assert [totals.loc[SEVERE, "share_low"], totals.loc[SEVERE, "share_high"]] == pytest.approx(
        [float(end) for end in wilson(5, 5)]
    )


def test_a_judge_without_errors_has_no_share_of_errors() -> None:
    table = failure_modes(ratings("annotator_a annotator_b judge\nABSENT ABSENT ABSENT"))
    assert table["n"].tolist() == [0, 0, 0, 0, 0]
    assert table["share_low"].isna().all()


def test_a_group_of_one_label_has_no_kappa_and_says_why() -> None:
    table = subgroups(ratings(LABELS), groups(divergent="1 2 3 4 5 6 7 8 9 11")).set_index("group")
    assert pd.isna(table.loc["divergent", "kappa"])
    assert table.loc["divergent", "note"].endswith("gave one label only")
