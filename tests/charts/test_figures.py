"""Figures hold the numbers of their frames."""

from __future__ import annotations

import math

import pandas as pd

from audit.charts.labels import share_heatmap, two_step_bar
from audit.charts.rates import Rate, rate_dots
from audit.charts.style import handbook_names

RATE = Rate("r_div", "Disagreement", "present")
FRAME = pd.DataFrame(
    {
        "organ": ["heart_lung", "<b>x", "all"], "r_div": [0.1, math.nan, 0.2], "r_div_low": [0.05, math.nan, 0.1],
        "r_div_high": [0.3, math.nan, 0.25], "present": [10, 0, 20],
    }
)  # fmt: skip


def test_prescreened_judged_and_unscored_fill_the_first_bar_and_labels_the_second():
    figure = two_step_bar(60, {"ABSENT": 5, "COMPLEMENTARY": 20, "DIVERGENT": 5}, 10)
    rows = figure.layout.yaxis.ticktext
    shares = {(rows[bar.y[0]], bar.name): round(bar.x[0], 4) for bar in figure.data}
    assert shares[("All pairs", "absent, without a judge")] == 0.6
    assert shares[("All pairs", "judged")] == 0.3
    assert shares[("All pairs", "unscored")] == 0.1
    assert shares[("Judged pairs", "judged absent")] == round(5 / 30, 4)
    assert shares[("Judged pairs", "complementary")] == round(20 / 30, 4)


def test_a_run_without_any_judged_pair_can_be_drawn():
    assert [bar.name for bar in two_step_bar(3, {}, 0).data] == ["absent, without a judge"]
    assert two_step_bar(0, {}, 0).data == ()


def test_an_interval_reaches_from_low_to_high_and_is_not_symmetric():
    (dots,) = rate_dots(FRAME, "organ", [RATE]).data
    assert [round(x, 4) for x in (dots.x[0] - dots.error_x.arrayminus[0], dots.x[0] + dots.error_x.array[0])] == [0.05, 0.3]


def test_an_interval_as_short_as_its_dot_shows_above_and_below_it():
    (dots,) = rate_dots(FRAME, "organ", [RATE]).data
    assert 2 * dots.error_x.width > dots.marker.size


def test_what_is_no_share_stands_on_a_scale_from_0_to_1_without_percent():
    frame = pd.DataFrame({"strategy": ["bm25", "hero"], "mrr": [0.3, math.nan], "trials": [10, 0]})
    frame = frame.assign(mrr_low=[0.25, math.nan], mrr_high=[0.4, math.nan])
    figure = rate_dots(frame, "strategy", [Rate("mrr", "MRR", "trials", "searches", index=True)])
    assert list(figure.layout.xaxis.ticktext) == ["0.00", "0.50", "1.00"]
    assert figure.layout.xaxis.range[1] > 1
    assert list(figure.data[0].text) == [
        "<b>bm25</b><br>MRR: 0.30<br>95 % interval 0.25 to 0.40<br>of 10 searches", "<b>hero</b><br>MRR: –<br>of 0 searches",
    ]  # fmt: skip


def test_rows_are_named_as_text_and_the_whole_run_is_marked():
    figure = rate_dots(FRAME, "organ", [RATE], overall="all")
    assert list(figure.layout.yaxis.ticktext) == ["heart lung", "&lt;b&gt;x", "<b>all</b>"]
    assert figure.layout.shapes[0].x0 == 0.2


def test_a_group_without_a_pair_has_no_dot_and_says_dash():
    (dots,) = rate_dots(FRAME, "organ", [RATE]).data
    assert math.isnan(dots.x[1])
    assert "–" in dots.text[1]


def test_label_shares_are_of_the_labels_shown_and_blank_where_there_are_none():
    frame = pd.DataFrame({"organ": ["a", "b"], "consistent": [1, 0], "divergent": [3, 0]})
    (cells,) = share_heatmap(frame, "organ", ["CONSISTENT", "DIVERGENT"], "pairs").data
    assert list(cells.text[0]) == ["25.0 %", "75.0 %"]
    assert list(cells.text[1]) == ["–", "–"]
    assert all(math.isnan(z) for z in cells.z[1])


def test_the_same_share_is_as_deep_in_every_column_and_never_runs_into_the_next():
    frame = pd.DataFrame({"organ": ["a", "b"], "consistent": [1, 0], "divergent": [0, 1]})
    (cells,) = share_heatmap(frame, "organ", ["CONSISTENT", "DIVERGENT"], "pairs").data
    assert cells.z[0][0] < 1 <= cells.z[0][1]
    assert cells.z[1][1] < 2 == cells.zmax


def test_handbooks_are_named_by_what_tells_them_apart():
    table = pd.DataFrame(
        {"handbook_id": ["1", "2"], "organ": ["kidney", "kidney"], "center": ["Oak_Hill", "Elm"], "phase": ["pre", "post"]}
    )
    assert handbook_names(table) == {"1": "Oak Hill · pre", "2": "Elm · post"}


def test_two_handbooks_alike_in_everything_keep_their_ids():
    table = pd.DataFrame({"handbook_id": ["1", "2"], "organ": ["kidney"] * 2, "center": ["Oak"] * 2, "phase": ["pre"] * 2})
    assert handbook_names(table) == {"1": "Oak · 1", "2": "Oak · 2"}
