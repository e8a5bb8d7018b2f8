"""Where a handbook disagrees with most of the others that answer, by counts done by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.errors import NotInRunError
from audit.metrics.stands_alone import stands_alone
from tests.support.tiny_store import store_from

TABLE = """
    q1 kidney ab=DIVERGENT ac=CONTRADICTORY ad=COMPLEMENTARY bc=CONSISTENT bd=CONSISTENT cd=CONSISTENT
    q2 kidney ab=DIVERGENT ac=CONSISTENT ad=CONSISTENT bc=CONSISTENT bd=CONSISTENT cd=CONSISTENT
    q3 kidney ab=DIVERGENT ac=ABSENT ad=ABSENT bc=ABSENT bd=ABSENT cd=ABSENT c=absent d=absent
    q4 kidney ab=DIVERGENT ac=UNSCORED ad=DIVERGENT bc=CONSISTENT bd=CONSISTENT cd=CONSISTENT
"""


def test_most_is_more_than_half_of_at_least_two_that_were_compared(tmp_path: Path) -> None:
    rows = stands_alone(store_from(tmp_path, TABLE), "a")
    # On q2 it is one of three, on q3 one other answers, and on q4 the pair without a label counts for nothing
    assert [(row.question_id, row.disagreeing, row.compared) for row in rows.itertuples()] == [("q4", 2, 2), ("q1", 2, 3)]
    assert rows["share"].tolist() == pytest.approx([1, 2 / 3])
    assert stands_alone(store_from(tmp_path, TABLE), "b").empty


def test_an_unknown_handbook_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotInRunError, match="'nobody'"):
        stands_alone(store_from(tmp_path, TABLE), "nobody")
