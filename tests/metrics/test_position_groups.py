"""The position groups and the matrix of one question, from a store."""

import pytest

from audit.errors import NotInRunError
from audit.metrics.position_groups import matrix, position_groups
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


def test_answering_handbooks_come_first_by_group_then_those_that_do_not_address_it_then_not_asked(con):
    table = position_groups(con, "q1")
    answering = table[table["state"] == "answers"]
    groups = {frozenset(group) for _, group in answering.groupby("group")["handbook_id"]}
    assert groups == {frozenset("abd"), frozenset("c")}
    assert answering["group"].is_monotonic_increasing
    assert table["state"].tolist() == ["answers"] * 4 + ["not addressed"]
    assert position_groups(con, "q2")["state"].tolist() == ["answers", "answers", "not addressed", "not asked", "not asked"]


def test_handbooks_that_do_not_address_it_are_in_no_group(con):
    silent = position_groups(con, "q1").set_index("handbook_id").loc["e"]
    assert silent[["group", "size"]].isna().all()


def test_two_answers_whose_pair_was_judged_absent_stay_together(con):
    table = position_groups(con, "q2")
    assert table["group"].dropna().tolist() == [1, 1]
    assert table["size"].dropna().tolist() == [2, 2]


def test_without_answers_a_handbook_whose_every_pair_is_absent_is_silent(tmp_path):
    con = store_from(tmp_path, TABLE, answers=False)
    states = position_groups(con, "q1").set_index("handbook_id")["state"].to_dict()
    assert states == {"a": "answers", "b": "answers", "c": "answers", "d": "answers", "e": "not addressed"}


def test_an_unknown_question_is_named_with_the_nearest(con):
    with pytest.raises(NotInRunError, match="Did you mean 'q2'"):
        position_groups(con, "q22")


def test_a_question_that_nobody_answers_has_no_group(tmp_path):
    table = position_groups(store_from(tmp_path, "q1 kidney a=absent b=absent"), "q1")
    assert table["group"].isna().all()
    assert len(table) == 2
