"""Amounts without a counterpart are the same with an index as one by one, and texts full of amounts take little time."""

from __future__ import annotations

import random
import time
from itertools import product

import pytest

from audit.formatting import MAX_TEXT_LENGTH
from audit.text.agreement import FEW, without_counterpart
from audit.text.comparison import differences
from audit.text.quantity import find_quantities

UNITS = ("mg", "g", "days", "weeks", "months", "hours a day", "cups", "%", "°C", "°F", "tablets", "red tablets", "types of diet")
WORDS = ("{} {}", "at least {} {}", "at most {} {}", "every {} {}", "2 to {} {}", "a few {1}")


def amounts_of(seed: int) -> str:
    """A text with amounts that nearly agree: of several units, bounds, ranges and nouns."""
    chosen = random.Random(seed)
    said = list(product(WORDS, (1, 2, 3, 7, 14, 28, 30, 36.6, 37, 38, 90, 98.6, 100, 100.4, 1_000), UNITS))
    return "; ".join(words.format(number, unit) for words, number, unit in chosen.sample(said, 150))


@pytest.mark.parametrize("seed", range(6))
def test_an_index_finds_what_one_by_one_comparison_finds(seed: int) -> None:
    first, second = (find_quantities(amounts_of(number)) for number in (seed, seed + 100))
    assert len(second) > FEW
    one_by_one = [amount for amount in first if not any(map(amount.agrees, second))]
    assert without_counterpart(first, second) == one_by_one
    assert 0 < len(one_by_one) < len(first)


@pytest.mark.parametrize("piece", ["{} mg ", "2 to {} mg ", "no {} ", "A"])
def test_the_longest_texts_that_are_compared_take_seconds_at_most(piece: str) -> None:
    text = "".join(piece.format(number) for number in range(2, MAX_TEXT_LENGTH))[:MAX_TEXT_LENGTH]
    began = time.process_time()
    differences(text, text.replace("mg", "g").replace("2", "3"))
    assert time.process_time() - began < 4  # one by one, amounts took 2.7 s, and counts 7
