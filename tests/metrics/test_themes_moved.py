"""Metric `themes_moved`: what rises and falls between two runs, on the pairs that both have."""

from __future__ import annotations

from itertools import combinations

import pytest

from audit.errors import AuditError
from audit.metrics.themes_moved import themes_moved
from audit.release.taxonomy import Taxonomy, Theme
from tests.metrics.two_stores import two
from tests.support.tiny import handbook

TAXONOMY = Taxonomy((Theme("t1", "One", None, ("topic of ab", "topic of ba")), Theme("t2", "Other", None, ("topic of ac",))))


def test_shares_before_and_after_on_pairs_that_both_have(tmp_path):
    con = two(
        tmp_path,
        "q1 kidney ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT\nq2 kidney ab=DIVERGENT ac=DIVERGENT bc=CONSISTENT",
        "q1 kidney ab=CONSISTENT ac=DIVERGENT bc=CONSISTENT\nq2 kidney ac=DIVERGENT bc=DIVERGENT a=present b=present",
    )
    found = themes_moved(con, TAXONOMY, TAXONOMY).set_index("theme_id")
    # The pair a, b on q2 is not in the second run, so the first run's verdict on it counts nowhere.
    assert found[["first", "second"]].to_dict("index") == {
        "t1": {"first": 1, "second": 0}, "t2": {"first": 1, "second": 2}, "-1": {"first": 0, "second": 1},
    }  # fmt: skip
    assert found.loc["t2", ["share_first", "share_second", "change"]].tolist() == pytest.approx([1 / 2, 2 / 3, 2 / 3 - 1 / 2])
    assert set(found["moves"]) == {"too few questions"}


def test_handbooks_are_matched_by_id_in_whatever_order(tmp_path):
    first = "q1 kidney ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT"
    books = [handbook(letter) for letter in "cba"]
    found = themes_moved(two(tmp_path, first, first, books), TAXONOMY, TAXONOMY).set_index("theme_id")
    assert found.loc["t1", ["first", "second", "change"]].tolist() == [1, 1, 0]


COUPLES = [a + b for a, b in combinations("abcdefgh", 2)]
HALVES = Taxonomy(
    tuple(Theme(name, name, None, tuple(f"topic of {couple}" for couple in COUPLES[half::2])) for half, name in enumerate("xy"))
)


def lines(even: str, odd: str) -> str:
    """Twelve questions on which every second couple has one label and the others another; one couple always disagrees."""
    labels = [(even, odd)[place % 2] for place in range(len(COUPLES))]
    told = " ".join(f"{couple}={label}" for couple, label in zip(COUPLES, ["DIVERGENT", *labels[1:]], strict=True))
    return "\n".join(f"q{n} kidney {told}" for n in range(12))


def test_a_theme_that_takes_what_another_leaves_rises_and_the_other_falls(tmp_path):
    con = two(tmp_path, lines("DIVERGENT", "CONSISTENT"), lines("CONSISTENT", "DIVERGENT"))
    found = themes_moved(con, HALVES, HALVES).set_index("theme_id")
    assert found["moves"].to_dict() == {"x": "falls", "y": "rises"}
    # 14 couples each; the first, of x, disagrees in both runs.
    assert found.loc["x", "change"] == pytest.approx(1 / 15 - 1)


def test_the_same_run_twice_moves_nothing(tmp_path):
    con = two(tmp_path, lines("DIVERGENT", "DIVERGENT"), lines("DIVERGENT", "DIVERGENT"))
    found = themes_moved(con, HALVES, HALVES)
    assert (found[["change", "change_low", "change_high"]] == 0).all().all()
    assert set(found["moves"]) == {"the same"}


@pytest.mark.parametrize("other", [None, Taxonomy((Theme("t7", "Stranger", None, ("topic of ab",)),))])
def test_taxonomies_without_a_theme_in_common_are_refused(tmp_path, other):
    with pytest.raises(AuditError, match="audit themes assign"):
        themes_moved(two(tmp_path, lines("DIVERGENT", "DIVERGENT"), lines("DIVERGENT", "DIVERGENT")), TAXONOMY, other)
