import numpy as np
import pytest

from audit.errors import NotInRunError
from audit.metrics.coverage import coverage
from audit.stats.intervals import wilson

TABLE = """
    q1 kidney  a=absent b=absent
    q2 kidney  a=absent b=notasked
    q3 kidney  ab=CONSISTENT
    q4 general a=absent b=notasked
"""


def test_absence_is_counted_per_handbook_and_question_organ(store):
    found = coverage(store(TABLE)).set_index(["handbook_id", "question_organ"])
    assert found[["asked", "absent"]].apply(tuple, axis=1).to_dict() == {
        ("a", "kidney"): (3, 2), ("a", "general"): (1, 1), ("b", "kidney"): (2, 1), ("b", "general"): (0, 0),
    }  # fmt: skip
    assert found.loc[("a", "kidney"), "absence"] == 2 / 3
    assert found.loc[("a", "kidney"), ["absence_low", "absence_high"]].tolist() == pytest.approx(np.ravel(wilson(2, 3)))


def test_a_handbook_not_asked_is_unknown_and_not_silent_nor_complete(store):
    cell = coverage(store(TABLE)).set_index(["handbook_id", "question_organ"]).loc[("b", "general")]
    assert cell[["absence", "absence_low", "absence_high"]].isna().all()


def test_a_release_without_answers_is_told_so(store):
    with pytest.raises(NotInRunError, match="unknown \\(not zero\\)"):
        coverage(store(TABLE, answers=False))
