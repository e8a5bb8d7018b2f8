"""What a run is made of: counts that a person can check."""

from __future__ import annotations

from audit.metrics.composition import TABLE, composition, used_columns
from tests.support.tiny import handbook


def test_handbooks_by_their_organ_and_questions_by_theirs(store):
    books = [
        handbook("a", "kidney", "x", "pre"), handbook("b", "kidney", "x", "post"), handbook("c", "liver", "y", "pre"),
    ]  # fmt: skip
    con = store("q1 kidney ab=DIVERGENT ac=ABSENT bc=CONSISTENT\nq2 general ab=CONSISTENT\nq3 heart a=absent b=present", books)
    table = composition(con)
    assert table.drop(columns="combined").to_numpy().tolist() == [
        ["heart", 0, 0, 0, 0, 1, 1], ["kidney", 2, 1, 1, 1, 1, 3], ["liver", 1, 1, 1, 0, 0, 0], ["general", 0, 0, 0, 0, 1, 1],
        ["(all)", 3, 2, 2, 1, 3, 5],
    ]  # fmt: skip
    assert "combined" not in {column.name for column in used_columns(table, TABLE.columns)}
