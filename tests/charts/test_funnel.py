"""The funnel: a dot per group that has a ratio, those that stand out named, and two lines on each side of 1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.charts.funnel import funnel


def table(**changed: list) -> pd.DataFrame:
    columns = {
        "center": ["Alder", "<Birch>", "Elm"], "expected": [10.0, 40.0, 0.0], "disagreeing": [12, 80, 0],
        "ratio": [1.2, 2.0, np.nan], "ratio_low": [0.6, 1.5, np.nan], "ratio_high": [2.1, 2.6, np.nan], "flag": ["", "more", ""],
        "dispersion": [1.0, 1.0, 1.0],
    }  # fmt: skip
    return pd.DataFrame({**columns, **changed})


def test_every_group_with_a_ratio_is_a_dot_and_the_one_that_stands_out_is_named_and_escaped() -> None:
    *lines, dots = funnel(table(), "center", opens="center").data
    assert list(dots.x) == [10, 40]
    assert list(dots.text) == ["", "&lt;Birch&gt;"]
    assert [tuple(point) for point in dots.customdata] == [("Alder", "ratio"), ("<Birch>", "ratio")]
    assert "80 disagreeing pairs, 40.0 expected" in dots.hovertext[1]
    assert [line.name for line in lines] == ["95 % of dots if all are equal", "99.8 % of dots if all are equal"]


def test_the_lines_end_where_the_expected_number_does_and_are_mirrored_around_1() -> None:
    line = funnel(table(), "center").data[0]
    places, ratios = np.array(line.x, dtype=float), np.array(line.y, dtype=float)
    at_40 = ratios[np.isclose(places, 40.0, atol=0.3)]
    assert sorted(at_40) == pytest.approx([1 - 1.96 / np.sqrt(40), 1 + 1.96 / np.sqrt(40)], abs=0.01)


def test_without_any_ratio_the_figure_is_empty() -> None:
    assert len(funnel(table(ratio=[np.nan] * 3), "center").data[-1].x) == 0


def test_names_of_dots_that_lie_close_together_stand_on_different_sides() -> None:
    names = ["Long Hill Clinic", "Lakeside Clinic", "Elm"]
    near = table(center=names, expected=[40.0, 40.2, 44.0], disagreeing=[80, 80, 88], ratio=[2.0] * 3, flag=["more"] * 3)
    assert list(funnel(near, "center").data[-1].textposition) == ["top center", "bottom center", "middle right"]


def test_a_name_stands_above_where_no_other_is_near() -> None:
    far = table(expected=[5.0, 40.0, 40.0], disagreeing=[10, 80, 20], ratio=[2.0, 2.0, 0.5], flag=["more", "more", "less"])
    assert list(funnel(far, "center").data[-1].textposition) == ["top center"] * 3
