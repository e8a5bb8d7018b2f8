"""Bang's blinding index: published examples, hand arithmetic, and guesses at random."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest

from annotation.agreement.blinding_index import blinding_index


@pytest.mark.parametrize(
    ("right", "wrong", "unknown", "value", "low", "high"),
    [
        # Houweling et al. (2014), Clin Trials 11:547, table 2: investigators, active device and placebo
        (48, 4, 330, 0.115, 0.080, 0.150),
        (30, 22, 319, 0.022, -0.016, 0.060),
    ],
)
def test_published_indices_are_reproduced(right: int, wrong: int, unknown: int, value: float, low: float, high: float) -> None:
    found = blinding_index(right, wrong, unknown)
    assert (round(found.value, 3), round(found.low, 3), round(found.high, 3)) == (value, low, high)


def test_the_example_of_the_paper_by_hand() -> None:
    # Bang, Ni and Davis (2004), table 7 (CRISP), treatment: 82 right, 25 wrong, 170 do not know; placebo: 29, 27, 83
    treatment, placebo = blinding_index(82, 25, 170), blinding_index(29, 27, 83)
    assert treatment.value == pytest.approx((2 * 82 / 107 - 1) * 107 / 277)
    p, q = 82 / 277, 25 / 277
    se = sqrt((p * (1 - p) + q * (1 - q) + 2 * p * q) / 277)
    assert treatment.low == pytest.approx((82 - 25) / 277 - 1.959964 * se)
    assert placebo.value == pytest.approx(2 / 139)


def test_with_nine_institutions_guesses_at_random_give_zero() -> None:
    assert blinding_index(10, 80, 5, choices=9).value == 0
    guesses = np.random.default_rng(3).integers(0, 9, size=900)
    found = blinding_index(int((guesses == 0).sum()), int((guesses != 0).sum()), 0, choices=9)
    assert found.low < 0 < found.high
    assert "does not differ from guessing" in found.sentence()


def test_equal_guesses_do_not_prove_that_there_is_no_spread() -> None:
    every, nobody, worst = blinding_index(10, 0, 0), blinding_index(0, 0, 10), blinding_index(0, 10, 0)
    assert (every.value, every.high, nobody.value, worst.value, worst.low) == (1, 1, 0, -1, -1)
    assert 0 < every.low < 1
    assert nobody.low < 0 < nobody.high
    assert -1 < worst.high < 0


def test_without_a_guess_the_index_is_unknown() -> None:
    assert isnan(blinding_index(0, 0, 0).value)
