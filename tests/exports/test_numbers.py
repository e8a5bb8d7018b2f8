"""One number format everywhere."""

from __future__ import annotations

import pytest

from audit.exports.table_model import count, decimal, estimate

UNKNOWN = "\N{EN DASH}"


def test_a_share_has_three_decimals_and_its_interval_as_many():
    assert estimate(0.1634, 0.1512, 0.1761) == "0.163 [0.151, 0.176]"


def test_a_share_below_a_thousandth_keeps_two_digits_and_its_interval_as_many_decimals():
    assert estimate(0.00044, 0.00021, 0.00178) == "0.00044 [0.00021, 0.00178]"


def test_without_an_interval_there_are_no_brackets():
    assert estimate(0.5, float("nan"), 0.6) == "0.500"


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_what_is_not_known_is_a_dash_and_not_zero(nothing):
    assert (decimal(nothing), count(nothing), estimate(nothing, 0.1, 0.2)) == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_what_is_zero_but_for_rounding_is_written_as_zero():
    assert estimate(8.9e-16, -0.565187, 0.565187) == "0.000 [\N{MINUS SIGN}0.565, 0.565]"


def test_zero_is_a_number():
    assert (decimal(0.0), count(0)) == ("0.000", "0")


def test_counts_have_commas_and_estimated_counts_are_rounded():
    assert (count(5743365), count(818.4)) == ("5,743,365", "818")


def test_a_negative_number_has_a_typeset_minus_and_a_rounded_zero_none():
    assert (decimal(-0.0491), estimate(0.5, -0.0001, 1.0)) == ("\N{MINUS SIGN}0.049", "0.500 [0.000, 1.000]")


def test_a_number_from_ten_on_has_one_decimal():
    assert decimal(542.25) == "542.3"
