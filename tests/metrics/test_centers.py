import numpy as np
import pytest

from audit.metrics.handbooks import centers
from tests.support.tiny import handbook

TWO_OF_ALDER = [handbook("a", center="alder"), handbook("b", center="alder"), handbook("c", center="birch")]
TABLE = """
    q1 kidney ab=DIVERGENT  ac=CONSISTENT bc=CONSISTENT
    q2 kidney ab=CONSISTENT ac=DIVERGENT  bc=CONTRADICTORY
    q3 kidney ab=UNSCORED c=absent
    q4 kidney ab=CONSISTENT c=notasked
"""


def test_disagreement_within_a_center_is_told_from_disagreement_with_others(store):
    found = centers(store(TABLE, TWO_OF_ALDER)).set_index("center")
    alder, birch = found.loc["alder"], found.loc["birch"]
    assert (alder["within_disagreeing"], alder["within_present"], alder["r_div_within"]) == (1, 3, 1 / 3)
    assert (alder["between_disagreeing"], alder["between_present"], alder["r_div_between"]) == (2, 4, 2 / 4)
    assert (alder["disagreeing"], alder["present"], alder["r_div"]) == (3, 7, 3 / 7)
    assert (birch["within_present"], birch["between_present"]) == (0, 4)
    assert np.isnan(found.loc["birch", "r_div_within"])


def test_a_pair_within_a_center_is_counted_once(store):
    alder = centers(store(TABLE, TWO_OF_ALDER)).set_index("center").loc["alder"]
    assert (alder["pairs"], alder["unscored"], alder["absent_pairs"]) == (3 + 3 + 3 + 1, 1, 2)
    assert alder["r_abs"] == 2 / 9


def test_answers_not_asked_are_not_absent(store):
    found = centers(store(TABLE, TWO_OF_ALDER)).set_index("center")
    assert found[["handbooks", "asked", "absent"]].values.tolist() == [[2, 8, 0], [1, 3, 1]]
    assert found["absence"].tolist() == [0, 1 / 3]


def test_without_answers_absence_is_unknown_and_pairs_still_count(store):
    found = centers(store(TABLE, TWO_OF_ALDER, answers=False))
    assert found["asked"].isna().all()
    assert found["absent"].isna().all()
    assert found["absence"].isna().all()
    assert found["absence_low"].isna().all()
    assert found["present"].tolist() == [7, 4]


def test_absence_never_seen_in_a_center_is_not_ruled_out(store):
    alder = centers(store(TABLE, TWO_OF_ALDER)).set_index("center").loc["alder"]
    assert (alder["absence_low"], alder["absence_high"]) == (0, pytest.approx(0.490, abs=5e-4)), "Wilson, 0 of 4 questions"
