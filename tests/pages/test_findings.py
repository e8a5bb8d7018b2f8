"""Titles of figures: a row is named only where chance does not explain it, and else the title says that none is."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from audit.store.runs import Run
from pages._shared.findings import clearly_above, rate_finding
from tests.support.directions import without_directions

RUN = Run("r", "T", "0123456789", False, True, "", Path())
FRAME = pd.DataFrame(
    [("diet", 0.50, 0.40, 0.60), ("work_and_money", 0.30, 0.22, 0.38), ("travel", 0.22, 0.19, 0.25), ("sun", None, None, None)],
    columns=["topic", "r_div", "r_div_low", "r_div_high"],
)
"""Three rows are compared, so an interval is widened by 2.394 / 1.960 = 1.2215: the lower ends are 0.378, 0.202 and 0.183."""


def sentence(frame: pd.DataFrame, whole: float) -> str:
    return without_directions(rate_finding(RUN, frame, frame["topic"], "r_div", whole, "Most on", "By {topic}"))


def test_a_row_is_above_the_whole_only_if_its_widened_interval_is():
    assert list(clearly_above(FRAME, "r_div", 0.21)["topic"]) == ["diet"]  # the interval of work and money alone is above too
    assert list(clearly_above(FRAME, "r_div", 0.20)["topic"]) == ["diet", "work_and_money"]
    assert list(clearly_above(FRAME.head(2), "r_div", 0.205)["topic"]) == ["diet", "work_and_money"]  # of two, 1.1436 times
    assert clearly_above(FRAME, "r_div", 0.4).empty


def test_the_sentence_has_the_number_its_interval_and_the_whole():
    assert sentence(FRAME, 0.21) == "Most on diet: 50.0 % (95 % interval 40.0 to 60.0 %), against 21.0 % in all."
    also = "also clearly above it: work and money (3 compared at once)."
    both = "Most on diet: 50.0 % (95 % interval 40.0 to 60.0 %), against 20.0 % in all; "
    assert sentence(FRAME, 0.20) == both + also


def test_where_nothing_is_clear_it_says_so():
    assert sentence(FRAME, 0.4) == "By topic: none of 3 with an interval is clearly above the 40.0 % of all."
    assert sentence(FRAME.head(3), 0.4) == "By topic: none of 3 is clearly above the 40.0 % of all."
    assert sentence(FRAME.iloc[2:], 0.4) == "By topic: none is clearly above the 40.0 % of all."


def test_a_single_row_is_compared_with_nothing():
    assert sentence(FRAME.head(1), 0.5) == "By topic: 50.0 % in the only one."
