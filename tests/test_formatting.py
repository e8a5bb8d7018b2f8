"""Times in words, and tables in plain text."""

from __future__ import annotations

import pytest

from audit.formatting import duration, text_table


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (60, "60 s"), (600, "10 min"), (3_600, "1.0 hours"), (90_000, "25.0 hours")]
)
def test_a_time_is_given_in_the_unit_that_a_person_would_choose(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_table_in_plain_text_has_its_numbers_at_the_right_and_its_words_at_the_left() -> None:
    rows = [("stage", "calls", "s per call"), ("judge", "1,200", "-"), ("merge", "7", "2.00")]
    assert text_table(rows) == "stage  calls  s per call\njudge  1,200           -\nmerge      7        2.00"
    assert text_table([("stage", "to do", ""), ("load", "0", "")]) == "stage  to do\nload       0"
