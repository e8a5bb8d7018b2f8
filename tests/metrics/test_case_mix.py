"""Disagreement over what the answered questions let expect: counts done by hand on small releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.metrics import METRICS
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

# On q1 all disagree, on q2 none does: c answers q1 alone, d q2 alone
TABLE = """
    q1 kidney ab=DIVERGENT/low  ac=DIVERGENT/low  bc=DIVERGENT/low  d=absent
    q2 kidney ab=CONSISTENT     ad=COMPLEMENTARY  bd=CONSISTENT     c=absent
    q3 kidney ab=UNSCORED       c=absent          d=notasked
"""


def rows(tmp_path: Path, name: str, table: str = TABLE, books: list | None = None):
    run = load(release_from(tmp_path, table, books), tmp_path / "data").run
    with open_store(run.path) as con:
        return METRICS[name](con)


def test_who_answers_the_disputed_question_has_a_high_rate_and_a_usual_ratio(tmp_path: Path) -> None:
    table = rows(tmp_path, "handbook_case_mix").set_index("handbook_id")
    assert table["present"].to_dict() == {"a": 4, "b": 4, "c": 2, "d": 2}
    assert table["disagreeing"].to_dict() == {"a": 2, "b": 2, "c": 2, "d": 0}
    # The run: 3 of 6. On q1 the others of each have one pair, which disagrees: (1 + .5) / (1 + 1) = .75; on q2 (0 + .5) / 2 = .25
    assert table["expected"].to_dict() == pytest.approx({"a": 2 * 0.75 + 2 * 0.25, "b": 2.0, "c": 2 * 0.75, "d": 2 * 0.25})
    assert table["r_div"].to_dict() == {"a": 0.5, "b": 0.5, "c": 1.0, "d": 0.0}
    assert table["ratio"].to_dict() == pytest.approx({"a": 1.0, "b": 1.0, "c": 4 / 3, "d": 0.0})
    assert table["alone"].to_dict() == {"a": 0, "b": 0, "c": 0, "d": 0}, "three handbooks answer each question"
    assert (table["ratio_low"] <= table["ratio"]).all()
    assert (table["flag"] == "").all()


def test_a_pair_within_a_center_says_nothing_about_it_against_others(tmp_path: Path) -> None:
    books = [
        handbook("a", center="Alder"),
        handbook("b", center="Alder"),
        handbook("c", center="Birch"),
        handbook("d", center="Elm"),
    ]
    table = rows(tmp_path, "center_case_mix", books=books).set_index("center")
    assert table["handbooks"].to_dict() == {"Alder": 2, "Birch": 1, "Elm": 1}
    assert table["present"].to_dict() == {"Alder": 4, "Birch": 2, "Elm": 2}
    assert table["disagreeing"].to_dict() == {"Alder": 2, "Birch": 2, "Elm": 0}
    # Nobody else has a pair on either question, so the rate of the run, 2 of 4, stands alone
    assert table["expected"].to_dict() == {"Alder": 2.0, "Birch": 1.0, "Elm": 1.0}


def test_a_run_without_present_pairs_has_rows_without_ratios(tmp_path: Path) -> None:
    table = rows(tmp_path, "handbook_case_mix", "q1 kidney ab=ABSENT c=absent\nq2 kidney ab=UNSCORED c=absent")
    assert table["handbook_id"].tolist() == ["a", "b", "c"]
    assert table[["ratio", "shrunken", "rank", "p"]].isna().all(axis=None)
    assert (table["expected"] == 0).all()
