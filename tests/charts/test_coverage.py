"""The coverage heatmap: not asked is hatched and wordless, zero and one are numbers, every bar knows its handbook."""

from __future__ import annotations

import pandas as pd
import pytest

from audit.charts.coverage import MUTED, coverage_figure, coverage_rows
from audit.charts.narrow import narrowed

OVERALL = pd.DataFrame(
    {
        "handbook_id": ["k1", "h1", "k2"], "organ": ["kidney", "heart", "kidney"], "center": ["Oak", "Elm", "Ash"],
        "phase": ["pre", "pre", "post"], "asked": [4, 4, 2], "absent": [4, 0, 1], "absence": [1.0, 0.0, 0.5],
        "absence_low": [0.5, 0.0, 0.1], "absence_high": [1.0, 0.5, 0.9],
    }
)  # fmt: skip
CELLS = pd.DataFrame(
    {
        "handbook_id": ["k1", "h1", "k2", "k1", "h1", "k2"], "question_organ": ["kidney"] * 3 + ["general"] * 3,
        "asked": [2, 2, 0, 2, 2, 2], "absent": [2, 0, 0, 2, 0, 1], "absence": [1.0, 0.0, float("nan"), 1.0, 0.0, 0.5],
        "absence_low": [0.3, 0.0, float("nan"), 0.3, 0.0, 0.1], "absence_high": [1.0, 0.7, float("nan"), 1.0, 0.7, 0.9],
    }
)  # fmt: skip


def column(figure, which):
    """The bars of one column: 0 is the strip of organ colours, 1 all questions, then one per question organ."""
    return figure.data[which]


def test_not_asked_is_hatched_without_a_number_while_zero_and_one_have_one():
    rows = coverage_rows(OVERALL, "organ")
    bars = column(coverage_figure(rows, CELLS), 2)
    by_handbook = dict(zip(bars.customdata, zip(bars.text, bars.marker.pattern.shape, strict=True), strict=True))
    assert by_handbook["k1"] == ("100", "")
    assert by_handbook["h1"] == ("0", "")
    text, hatching = by_handbook["k2"]
    assert (text, bool(hatching)) == ("", True)


def test_the_three_have_three_colours():
    bars = column(coverage_figure(coverage_rows(OVERALL, "organ"), CELLS), 2)
    assert len(set(bars.marker.color)) == 3


def test_the_darker_a_cell_the_larger_its_number():
    bars = column(coverage_figure(coverage_rows(OVERALL, "organ"), CELLS), 1)
    colours = zip(bars.text, bars.marker.color, strict=True)
    brightness = {text: sum(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for text, colour in colours}
    assert brightness["100"] < brightness["50"] < brightness["0"]


def test_a_cell_of_another_organ_is_muted_and_a_question_for_everybody_is_not():
    figure = coverage_figure(coverage_rows(OVERALL, "organ"), CELLS)
    kidney, general = (dict(zip(column(figure, n).customdata, column(figure, n).marker.color, strict=True)) for n in (2, 3))
    assert kidney["h1"] == MUTED
    assert MUTED not in (kidney["k1"], *general.values())


def test_hover_says_not_asked_in_words():
    bars = column(coverage_figure(coverage_rows(OVERALL, "organ"), CELLS, "institute"), 2)
    assert any("not asked of this institute" in text for text in bars.hovertext)


def test_every_bar_opens_its_own_handbook():
    rows = coverage_rows(OVERALL, "absence")
    for bars in coverage_figure(rows, CELLS).data:
        assert sorted(bars.customdata) == ["h1", "k1", "k2"]


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        ("organ", ["h1", "k2", "k1"]),
        ("absence", ["h1", "k2", "k1"]),
        ("center", ["k2", "h1", "k1"]),
        ("name", ["h1", "k2", "k1"]),
    ],
)
def test_handbooks_stand_in_the_order_asked_for(order, ids):
    assert list(coverage_rows(OVERALL, order)["handbook_id"]) == ids


def test_organs_are_groups_a_row_apart_only_when_ordered_by_organ():
    assert list(coverage_rows(OVERALL, "organ")["place"].diff().round(1).dropna()) == [2.3, 1.0]
    assert list(coverage_rows(OVERALL, "absence")["place"]) == [0, 1, 2]


def test_a_hundred_handbooks_stay_readable_one_row_each():
    many = pd.concat([OVERALL.assign(handbook_id=OVERALL["handbook_id"] + str(i)) for i in range(34)], ignore_index=True)
    figure = coverage_figure(coverage_rows(many, "organ"), CELLS)
    assert figure.layout.height / len(many) >= 17
    assert len(figure.layout.yaxis.ticktext) == 102


def test_on_a_phone_its_cells_leave_twenty_pixels_for_the_names_above_them():
    figure = narrowed(coverage_figure(coverage_rows(OVERALL, "organ"), CELLS))
    below, above = figure.layout.yaxis.range
    row = (figure.layout.height - figure.layout.margin.t - figure.layout.margin.b) / (below - above)
    assert {round((1 - float(bar.width)) * row) for bar in figure.data} == {20}
    assert figure.layout.yaxis.ticklabelposition == "inside top"
