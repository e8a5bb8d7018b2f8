"""The camps and the matrix of one question, from a store."""

import pytest

from audit.errors import NotInRunError
from audit.metrics.camps import camps
from audit.metrics.matrix import matrix
from tests.support.tiny_store import store_from

TABLE = """
    q1 kidney  ab=CONSISTENT ac=DIVERGENT/high bc=DIVERGENT ad=UNSCORED bd=COMPLEMENTARY cd=DIVERGENT e=absent
    q2 kidney  ab=ABSENT  c=notasked d=notasked e=absent
"""


@pytest.fixture
def con(tmp_path):
    return store_from(tmp_path, TABLE)


def test_the_matrix_tells_absent_unscored_not_asked_and_itself_apart(con):
    cells = matrix(con, "q1")
    assert (cells.loc["a", "b"], cells.loc["c", "a"], cells.loc["d", "a"]) == ("CONSISTENT", "DIVERGENT", "unscored")
    assert (cells.loc["e", "a"], cells.loc["e", "e"]) == ("ABSENT", "self")
    assert matrix(con, "q2").loc["a", "c"] == "not asked"
    assert (cells == cells.T).all(axis=None)


def test_answering_handbooks_come_first_by_camp_then_silent_then_not_asked(con):
    table = camps(con, "q1")
    answering = table[table["state"] == "answers"]
    groups = {frozenset(group) for _, group in answering.groupby("camp")["handbook_id"]}
    assert groups == {frozenset("abd"), frozenset("c")}
    assert answering["camp"].is_monotonic_increasing
    assert table["state"].tolist() == ["answers"] * 4 + ["silent"]
    assert camps(con, "q2")["state"].tolist() == ["answers", "answers", "silent", "not asked", "not asked"]


def test_silent_handbooks_are_in_no_camp(con):
    silent = camps(con, "q1").set_index("handbook_id").loc["e"]
    assert silent[["camp", "name", "size"]].isna().all()


def test_two_answers_whose_pair_was_judged_absent_stay_together(con):
    table = camps(con, "q2")
    assert table["camp"].dropna().tolist() == [1, 1]
    assert table["size"].dropna().tolist() == [2, 2]


def test_without_answers_a_handbook_whose_every_pair_is_absent_is_silent(tmp_path):
    con = store_from(tmp_path, TABLE, answers=False)
    states = camps(con, "q1").set_index("handbook_id")["state"].to_dict()
    assert states == {"a": "answers", "b": "answers", "c": "answers", "d": "answers", "e": "silent"}


def test_an_unknown_question_is_named_with_the_nearest(con):
    with pytest.raises(NotInRunError, match="Did you mean 'q2'"):
        camps(con, "q22")


def test_a_question_that_nobody_answers_has_no_camp(tmp_path):
    table = camps(store_from(tmp_path, "q1 kidney a=absent b=absent"), "q1")
    assert table["camp"].isna().all()
    assert len(table) == 2
