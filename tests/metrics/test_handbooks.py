import numpy as np
import pytest

from audit.errors import NotInRunError
from audit.metrics.handbooks import handbooks
from audit.stats.intervals import wilson
from tests.support.tiny import handbook

TABLE = """
    q1 kidney ab=DIVERGENT ac=CONSISTENT bc=ABSENT
    q2 kidney ab=CONTRADICTORY c=absent
    q3 kidney ab=UNSCORED c=notasked
"""


def test_absence_is_the_share_of_the_questions_asked_of_the_handbook(store):
    found = handbooks(store(TABLE)).set_index("handbook_id")
    assert found[["asked", "absent"]].values.tolist() == [[3, 0], [3, 0], [2, 1]]
    assert found["absence"].tolist() == [0, 0, 1 / 2]
    assert (found.loc["c", "absence_low"], found.loc["c", "absence_high"]) == pytest.approx(np.ravel(wilson(1, 2)))


def test_a_handbook_disagrees_in_the_pairs_that_involve_it(store):
    found = handbooks(store(TABLE)).set_index("handbook_id")
    assert found[["pairs", "scored", "unscored", "absent_pairs", "present", "disagreeing"]].values.tolist() == [
        [5, 4, 1, 1, 3, 2], [5, 4, 1, 2, 2, 2], [4, 4, 0, 3, 1, 0],
    ]  # fmt: skip
    assert found["r_div"].tolist() == [2 / 3, 1, 0]


def test_a_handbook_never_asked_is_not_silent(store):
    found = handbooks(store(TABLE, [handbook(letter) for letter in "abcz"])).set_index("handbook_id").loc["z"]
    assert (found["asked"], found["absent"], found["pairs"]) == (0, 0, 0)
    assert np.isnan(found["absence"])
    assert np.isnan(found["absence_low"])
    assert np.isnan(found["r_div"])
    assert np.isnan(found["r_div_high"])


def test_a_release_without_answers_is_told_so(store):
    with pytest.raises(NotInRunError, match="without answers, so what a handbook leaves out is unknown"):
        handbooks(store(TABLE, answers=False))
