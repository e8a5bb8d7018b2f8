import numpy as np
import pytest

from audit.metrics.handbooks import pairs
from audit.stats.intervals import wilson
from tests.support.tiny import handbook

TABLE = """
    q1 kidney ab=DIVERGENT ac=CONSISTENT bc=ABSENT
    q2 kidney ab=CONTRADICTORY c=absent
    q3 kidney ab=CONSISTENT
    q4 kidney ab=UNSCORED
"""


def test_two_handbooks_are_compared_over_the_questions_both_were_asked(store):
    found = pairs(store(TABLE)).set_index(["handbook_a_id", "handbook_b_id"])
    columns = ["questions", "scored", "unscored", "absent", "present", "consistent", "disagreeing"]
    assert found.loc[("a", "b"), columns].tolist() == [4, 3, 1, 0, 3, 1, 2]
    assert found.loc[("b", "c"), columns].tolist() == [2, 2, 0, 2, 0, 0, 0]
    assert found["r_div"].tolist()[:2] == [2 / 3, 0]
    assert np.isnan(found.loc[("b", "c"), "r_div"])


def test_questions_are_the_units_of_the_interval(store):
    first = pairs(store(TABLE)).iloc[0]
    assert (first["r_div_low"], first["r_div_high"]) == pytest.approx(np.ravel(wilson(2, 3)))


def test_each_side_has_its_organ_and_center(store):
    first = pairs(store(TABLE, [handbook("a", "liver", "x"), handbook("b"), handbook("c")])).iloc[0]
    assert (first["organ_a"], first["center_a"], first["organ_b"], first["center_b"]) == ("liver", "x", "kidney", "center_b")


def test_two_handbooks_never_asked_the_same_question_have_no_row(store):
    found = pairs(store("q1 k ab=CONSISTENT\nq2 k c=absent"))
    assert found[["handbook_a", "handbook_b"]].values.tolist() == [[0, 1]]
