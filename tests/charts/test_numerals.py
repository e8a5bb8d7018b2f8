"""What rounds to zero is written without a sign, wherever a number is written."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from audit.charts.style import NO_VALUE, coefficient, coefficient_interval, interval, percent
from audit.exports.text_writers import markdown_text
from audit.formatting import MINUS, fixed, signed, typed
from audit.store.runs import Run


@pytest.mark.parametrize(
    ("value", "text"), [(-0.0, "0.00"), (-0.004, "0.00"), (-0.006, "\N{MINUS SIGN}0.01"), (1234.5, "1,234.50")]
)
def test_a_negative_number_that_rounds_to_zero_has_no_sign(value: float, text: str):
    assert fixed(value, 2) == text


@pytest.mark.parametrize(
    ("part", "whole", "share", "percentage"), [(1, 16, "0.063", "6.3 %"), (3, 80, "0.038", "3.8 %"), (7, 16, "0.438", "43.8 %")]
)
def test_a_half_is_rounded_up_as_by_hand_and_as_a_spreadsheet_and_a_browser_do(
    part: int, whole: int, share: str, percentage: str
):
    assert (typed(part / whole, 3), fixed(part / whole, 3)) == (share, share)
    assert percent(part / whole) == percentage
    assert signed(-part / whole, 3) == f"\N{MINUS SIGN}{share}"


def test_every_share_of_up_to_240_is_written_as_its_fraction_is_rounded_by_hand():
    for whole in range(1, 241):
        for part in range(whole + 1):
            by_hand = (2000 * part + whole) // (2 * whole)
            assert typed(part / whole, 3) == f"{by_hand // 1000}.{by_hand % 1000:03d}", (part, whole)


def test_numbers_of_any_size_are_written_whole_and_what_is_none_as_it_is():
    assert (fixed(12345678901234567891, 0), typed(1e22, 1)) == ("12,345,678,901,234,567,891", "10000000000000000000000.0")
    assert (typed(1e-30, 31), typed(float("nan"), 2), typed(float("inf"), 2)) == ("0." + 29 * "0" + "10", "nan", "inf")


def test_a_kappa_of_nearly_nothing_has_no_sign_at_either_end_of_its_interval():
    assert coefficient(-0.0001) == "0.00"
    assert coefficient_interval(-0.0001, 0.314) == "0.00 to 0.31"


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_what_is_not_known_is_no_number(nothing: float | None):
    assert (coefficient(nothing), coefficient_interval(nothing, 0.1)) == (NO_VALUE, "unknown")


def test_a_terminal_gets_the_minus_of_a_keyboard_and_no_sign_before_a_zero():
    assert [typed(value, 2) for value in (-0.004, -0.006, 1234.5)] == ["0.00", "-0.01", "1234.50"]


def test_a_change_has_its_sign_unless_it_rounds_to_nothing():
    assert [signed(value, 2) for value in (-0.004, 0.004, 0.1, -1234.5)] == ["0.00", "0.00", "+0.10", "\N{MINUS SIGN}1,234.50"]


def test_a_share_below_nothing_by_rounding_is_nothing():
    assert (percent(-0.0001), interval(-0.0001, 0.1)) == ("0.0 %", "0.0 to 10.0 %")


def test_a_metric_in_a_terminal_has_no_negative_zero():
    run = Run("r", "A run", "d" * 64, False, True, "", Path())
    rows = {
        "level": ["question", "topic"], "units": [9, 9], "rho": [-0.0, -0.5], "disputed": [8, 8],
        "rho_disputed": [-0.0, 0.1], "rho_significance": [0.2, -0.0],
    }  # fmt: skip
    text = markdown_text(pd.DataFrame(rows), run, "severity_rho")
    assert f"| question | 9 | {MINUS}0" not in text
    assert f"| topic | 9 | {MINUS}0.500 |" in text
