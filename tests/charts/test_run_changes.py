"""Changes as dots about 0, disagreeing pairs as steps: what is drawn is what the frame says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.charts.rates import DISAGREEMENT_RATE, NOT_ADDRESSED_RATE
from audit.charts.run_changes import change_dots, change_steps, points, points_interval
from audit.formatting import signed


def change(organ: str, rate: str, value: float, low: float, high: float, moves: str) -> dict:
    counts = {"count_first": 1, "of_first": 4, "count_second": 2, "of_second": 4, "first": 0.25, "second": 0.5}
    return {"organ": organ, "rate": rate, **counts, "change": value, "change_low": low, "change_high": high, "moves": moves}


CHANGES = pd.DataFrame(
    [
        change("heart", "r_abs", -0.03, -0.05, -0.01, "falls"),
        change("heart", "r_div", 0.02, np.nan, np.nan, "too few questions"),
        change("all", "r_abs", 0.0, -0.01, 0.01, "not clear"),
        change("all", "r_div", np.nan, np.nan, np.nan, "too few questions"),
    ]
)
PARTS = pd.DataFrame(
    {
        "part": ["revealed", "lost", "present in both", "in all"], "pairs": [10, 5, 20, 40],
        "disagreeing_first": [0, 3, 6, 9], "disagreeing_second": [4, 0, 5, 9], "change": [4, -3, -1, 0],
        "change_low": [1.0, np.nan, -2.0, -3.0], "change_high": [8.0, np.nan, 1.0, 4.0],
        "r_div_first": [np.nan, 0.6, 0.3, 0.36], "r_div_second": [0.4, np.nan, 0.25, 0.3],
    }
)  # fmt: skip
WORDS = {"revealed": "found", "lost": "gone", "present in both": "judged otherwise"}


@pytest.mark.parametrize(
    ("value", "told"), [(0.0123, "+1.2"), (-0.0123, "−1.2"), (0.0, "0.0"), (-0.0001, "0.0"), (float("nan"), "–")]
)
def test_a_change_is_told_in_points_with_its_sign(value, told):
    assert points(value) == told


def test_an_interval_that_is_not_known_is_told_as_nothing():
    assert points_interval(np.nan, np.nan) == ""
    assert points_interval(-0.01, 0.02) == "−1.0 to +2.0"


def test_a_dot_is_filled_where_its_interval_leaves_out_zero_and_each_panel_has_zero_in_its_middle():
    figure = change_dots(CHANGES, "organ", (NOT_ADDRESSED_RATE, DISAGREEMENT_RATE), "all")
    silent, disagree = figure.data
    assert list(silent.x) == [-0.03, 0.0]
    assert list(silent.marker.color) == [NOT_ADDRESSED_RATE.colour, "#ffffff"]
    assert list(disagree.marker.color) == ["#ffffff", "#ffffff"]
    for axis in (figure.layout.xaxis, figure.layout.xaxis2):
        assert axis.range[0] == -axis.range[1]
        assert axis.range[1] >= 0.02
    assert list(figure.layout.yaxis.ticktext) == ["heart", "<b>all</b>"]


def test_a_hover_says_what_stands_behind_a_change():
    silent = change_dots(CHANGES, "organ", (NOT_ADDRESSED_RATE,), "all").data[0]
    assert "−3.0 points<br>95 % interval −5.0 to −1.0<br>first: 25.0 % (1 of 4 pairs with a verdict)" in silent.text[0]


def test_steps_lead_from_one_run_s_disagreeing_pairs_to_the_other_s():
    figure = change_steps(PARTS, "before", "after", WORDS)
    bars = figure.data[0]
    assert list(zip(bars.base, bars.x, strict=True)) == [(0, 9), (9, 4), (13, -3), (10, -1), (0, 9)]
    assert [note.text for note in figure.layout.annotations] == ["<b>9</b>", "<b>+4</b>", "<b>−3</b>", "<b>−1</b>", "<b>9</b>"]


def test_a_step_without_a_known_interval_has_no_line():
    lines = change_steps(PARTS, "before", "after", WORDS).data[1:]
    assert [list(line.x) for line in lines] == [[10, 17], [8, 11]]


def test_runs_without_any_disagreement_still_draw_their_steps():
    nothing = PARTS.assign(**dict.fromkeys(["disagreeing_first", "disagreeing_second", "change"], 0), change_low=np.nan)
    assert list(change_steps(nothing, "before", "after", WORDS).data[0].x) == [0, 0, 0, 0, 0]


def test_a_change_in_pairs_has_a_sign_unless_it_is_none():
    assert [signed(change, 0) for change in (1234, -2, 0, 0.4)] == ["+1,234", "−2", "0", "0"]
