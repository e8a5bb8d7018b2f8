"""Charts of answering systems: means and differences by panel, criteria and preferences as bars of 100 %, bubbles."""

from __future__ import annotations

import pandas as pd
import pytest

from audit.charts.criteria import BEST, BETWEEN, LEVEL_COLOURS, WORST, criteria_bars, level, preference_bars
from audit.charts.systems import difference_dots, downstream_bubbles, mean_dots, strength_dots

NAME = "<b>Model & co</b>"
MEANS = pd.DataFrame(
    [
        {"name": NAME, "measure": "composite", "answers": 10, "mean": 7.8, "mean_low": 7.5, "mean_high": 8.1},
        {"name": "B", "measure": "composite", "answers": 8, "mean": 7.0, "mean_low": 6.5, "mean_high": 7.5},
        {"name": NAME, "measure": "words", "answers": 10, "mean": 240.0, "mean_low": 230.0, "mean_high": 250.0},
    ]
)
TITLES = {"composite": "Composite", "words": "Length in words"}


def bars(figure):
    (trace,) = (trace for trace in figure.data if trace.type == "bar")
    return trace


def test_each_measure_has_a_panel_and_each_system_a_row():
    figure = mean_dots(MEANS, "name", TITLES)
    first, second = figure.data
    assert list(first.x) == [7.8, 7.0]
    assert first.error_x.arrayminus == pytest.approx([0.3, 0.5])
    assert [pd.isna(value) for value in second.x] == [False, True]
    assert "not known" in second.text[1]
    assert "10 answers" in first.text[0]
    assert "<b>Model" not in first.text[0]
    assert "&lt;b&gt;Model &amp; co" in first.text[0]


@pytest.mark.parametrize(("panels", "rows"), [(1, 1), (3, 1), (4, 2), (7, 3)])
def test_three_panels_are_in_a_row(panels, rows):
    titles = {f"m{i}": f"Measure {i}" for i in range(panels)}
    figure = mean_dots(MEANS.assign(measure="m0").drop_duplicates("name"), "name", titles)
    assert len({round(axis.domain[0], 3) for axis in figure.select_yaxes()}) == rows


def test_a_difference_is_filled_only_where_its_interval_excludes_zero():
    columns = ["name", "measure", "of", "change", "change_low", "change_high", "moves"]
    rows = [["B", "composite", 20, -0.8, -1.1, -0.5, "falls"], ["C", "composite", 20, 0.1, -0.2, 0.4, "not clear"]]
    frame = pd.DataFrame(rows, columns=columns)
    (trace,) = difference_dots(frame, "name", {"composite": "Composite"}).data
    assert trace.marker.color[0] != trace.marker.color[1] == "#ffffff"
    assert "20 questions that both have" in trace.text[0]


def test_every_score_of_a_criterion_has_its_part_of_the_bar():
    shares = {-2: (1, 0.1), -1: (2, 0.2), 0: (7, 0.7)}
    frame = pd.DataFrame(
        [
            {"criterion": "missing_content", "system_id": "s1", "name": NAME, "score": score, "answers": n, "of": 10,
             "share": share, "share_low": 0.0, "share_high": 1.0}
            for score, (n, share) in shares.items()
        ]
    )  # fmt: skip
    parts = bars(criteria_bars(frame, ["missing_content"]))
    assert list(parts.x) == [0.1, 0.2, 0.7]
    assert list(parts.base) == pytest.approx([0.0, 0.1, 0.3])
    assert list(parts.marker.color) == [LEVEL_COLOURS[name] for name in (WORST, BETWEEN, BEST)]
    assert "1 of 10 answers with a readable score" in parts.hovertext[0]


def test_a_criterion_without_readable_scores_has_no_bar():
    frame = pd.DataFrame(
        [{"criterion": "bias", "system_id": "s1", "name": "A", "score": score, "answers": 0, "of": 0, "share": float("nan"),
          "share_low": float("nan"), "share_high": float("nan")} for score in (-1, 0)]
    )  # fmt: skip
    assert len(bars(criteria_bars(frame, ["bias"])).x) == 0


@pytest.mark.parametrize(
    ("criterion", "score", "expected"),
    [("empathy", 2, BEST), ("empathy", 1, BETWEEN), ("empathy", 0, WORST), ("bias", -1, WORST)],
)
def test_the_highest_score_is_the_best_in_every_criterion(criterion, score, expected):
    assert level(criterion, score) == expected


def test_preferences_add_up_to_all_comparisons():
    frame = pd.DataFrame([{"name": NAME, "by": "people", "comparisons": 66, "a": 55, "tie": 10, "both_bad": 0, "b": 1}])
    parts = bars(preference_bars(frame))
    assert list(parts.x) == pytest.approx([55 / 66, 10 / 66, 1 / 66])
    assert "55 of 66" in parts.hovertext[0]
    assert all("<b>Model" not in hover for hover in parts.hovertext)


def test_the_strongest_system_comes_first():
    frame = pd.DataFrame(
        [
            {"system_id": "s1", "name": "weak", "comparisons": 5, "strength": -0.5, "strength_low": -1.0, "strength_high": 0.0},
            {"system_id": "s2", "name": "strong", "comparisons": 5, "strength": 0.5, "strength_low": 0.0, "strength_high": 1.0},
        ]
    )
    figure = strength_dots(frame)
    assert list(figure.layout.yaxis.ticktext) == ["strong", "weak"]


def test_questions_with_equal_values_are_one_bubble():
    points = pd.DataFrame({"value": [0.2, 0.2, 0.4], "composite": [7.86, 7.86, 9.29]})
    bubbles, means = downstream_bubbles(points, "P@5").data
    assert list(bubbles.marker.size) == [2, 1]
    assert list(means.y) == pytest.approx([7.86, 9.29])
