"""Pairs judged anew: both verdicts side by side."""

from __future__ import annotations

import pandas as pd
import pytest

from audit.errors import AuditError
from audit.metrics import METRICS
from audit.metrics.transitions import rejudged
from tests.metrics.two_stores import two
from tests.support.tiny import handbook

BEFORE = """
    q1 kidney ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT d=absent
    q2 kidney ab=CONSISTENT ac=CONTRADICTORY/low bc=CONSISTENT
    q3 kidney ab=CONSISTENT ac=CONSISTENT bc=CONSISTENT
"""
AFTER = """
    q1 kidney ab=DIVERGENT/low ac=DIVERGENT/high bc=UNSCORED!none:cut_short d=absent
    q2 kidney ac=CONTRADICTORY/low b=notasked
"""


@pytest.fixture
def con(tmp_path):
    return two(tmp_path, BEFORE, AFTER, [handbook(letter) for letter in "dcba"])


def named(table: pd.DataFrame) -> list[str]:
    return [f"{row.question_id} {row.handbook_a}{row.handbook_b}" for row in table.itertuples()]


def test_only_pairs_of_the_second_run_are_shown_and_each_once_in_release_order(con):
    assert named(rejudged(con)) == ["q1 ab", "q1 ac", "q1 ad", "q1 bc", "q1 bd", "q1 cd", "q2 ac"]


def test_another_label_is_a_change_and_another_significance_is_none(con):
    assert named(rejudged(con, "changed")) == ["q1 ac", "q1 bc"]
    assert named(rejudged(con, "same")) == ["q1 ab", "q1 ad", "q1 bd", "q1 cd", "q2 ac"]


def test_both_verdicts_stand_beside_each_other_whichever_way_round_each_run_has_the_pair(con):
    first = rejudged(con).iloc[0]
    assert (first["first"], first["second"]) == ("DIVERGENT", "DIVERGENT")
    assert (first["significance_first"], first["significance_second"]) == ("high", "low")
    assert (first["reasoning_first"], first["reasoning_second"]) == ("a against b", "b against a")
    assert (first["topic_first"], first["topic_second"]) == ("topic of ab", "topic of ba")


def test_an_unscored_pair_says_why_and_a_prescreened_one_that_it_was_not_asked(con):
    table = rejudged(con).set_index(["question_id", "handbook_a", "handbook_b"])
    assert table.loc[("q1", "b", "c"), ["second", "unscored_reason"]].tolist() == ["UNSCORED", "cut_short"]
    assert table.loc[("q1", "a", "d"), ["first", "second"]].tolist() == ["PRE-SCREENED", "PRE-SCREENED"]


def test_a_page_of_them_tells_how_many_there_are(con):
    page = rejudged(con, limit=2, offset=2)
    assert named(page) == ["q1 ad", "q1 bc"]
    assert set(page["total"]) == {7}


def test_another_choice_is_refused(con):
    with pytest.raises(AuditError, match="Allowed: all, changed, same"):
        rejudged(con, "some")


def test_the_statement_runs_as_it_is_shown(con):
    assert con.execute(METRICS["rejudged"].sql, {"which": "all", "limit": 1, "offset": 0}).fetchall()
