"""What others disagree with one handbook about."""

from __future__ import annotations

import pytest

from audit.errors import NotInRunError
from audit.queries.handbook_view import disagreement_subjects


def test_subjects_are_listed_per_handbook_the_gravest_first_and_each_once(store):
    con = store("""
        q1 kidney ab=DIVERGENT/low  ac=COMPLEMENTARY      bc=DIVERGENT/high
        q2 kidney ab=DIVERGENT/high ac=DIVERGENT/medium   bc=CONSISTENT
    """)
    assert disagreement_subjects(con, "a") == {"b": ["topic of ab"], "c": ["topic of ac"]}
    assert disagreement_subjects(con, "c") == {"a": ["topic of ac"], "b": ["topic of bc"]}
    with pytest.raises(NotInRunError):
        disagreement_subjects(con, "zzz")
