"""What rounds to zero is written without a sign, wherever a number is written."""

from __future__ import annotations

import pandas as pd
import pytest

from audit.charts.numerals import coefficient, coefficient_interval, fixed, unsigned_zeros
from audit.charts.style import NO_VALUE


@pytest.mark.parametrize(
    ("value", "text"), [(-0.0, "0.00"), (-0.004, "0.00"), (-0.006, "\N{MINUS SIGN}0.01"), (1234.5, "1,234.50")]
)
def test_a_negative_number_that_rounds_to_zero_has_no_sign(value: float, text: str):
    assert fixed(value, 2) == text


def test_a_kappa_of_nearly_nothing_has_no_sign_at_either_end_of_its_interval():
    assert coefficient(-0.0001) == "0.00"
    assert coefficient_interval(-0.0001, 0.314) == "0.00 to 0.31"


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_what_is_not_known_is_no_number(nothing: float | None):
    assert (coefficient(nothing), coefficient_interval(nothing, 0.1)) == (NO_VALUE, "unknown")


def test_a_table_that_a_browser_rounds_holds_no_negative_zero_and_loses_nothing_else():
    shown = unsigned_zeros(pd.Series([-0.04, -0.06, 0.04, float("nan")]), 1)
    assert shown.tolist()[:3] == [0.0, -0.06, 0.04]
    assert pd.isna(shown[3])
