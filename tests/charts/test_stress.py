"""Charts of stress tests: curves with intervals, published figures behind them, selective answering."""

from __future__ import annotations

import pandas as pd
import pytest

from audit.charts.stress import GREY, selective_curves, stress_curves_figure

NAME = "<b>Model & co</b>"
NO_PUBLISHED = pd.DataFrame(columns=["model", "signal_share", "size", "value"])


def cell(name, share, value, **others):
    counts = {"size": 5, "of": 40, "questions": 20, "unread": 0}
    return (
        {
            "system_id": name,
            "name": name,
            "signal_share": share,
            "value": value,
            "value_low": value - 0.1,
            "value_high": value + 0.1,
        }
        | counts
        | others
    )


CURVES = pd.DataFrame([cell(NAME, 0, 0.1), cell(NAME, 100, 0.8, unread=2), cell("B", 0, 0.5), cell("B", -1, 0.9)])


def test_a_legend_of_many_has_room_for_all_its_rows():
    many = pd.DataFrame([cell(f"System {number}", 0, 0.5) for number in range(12)])
    figure, small = (stress_curves_figure(frame, NO_PUBLISHED, "Accuracy", "Signal") for frame in (many, CURVES))
    assert figure.layout.margin.t >= 6 * 20
    # The plot itself is as high as ever
    assert figure.layout.height - figure.layout.margin.t == small.layout.height - small.layout.margin.t == 366


def test_each_system_has_a_curve_with_its_intervals_beside_each_other():
    first, second = stress_curves_figure(CURVES, NO_PUBLISHED, "Accuracy", "Signal").data
    assert list(first.y) == [0.1, 0.8]
    assert first.error_y.array == pytest.approx([0.1, 0.1])
    assert first.x[0] < second.x[0]
    assert first.marker.symbol != second.marker.symbol
    # A share that is not stated has no place
    assert list(second.y) == [0.5]
    assert "2 unreadable, not counted" in first.hovertext[1]
    assert "40 replies to 20 questions" in first.hovertext[0]
    assert "<b>Model" not in first.name


def test_published_figures_are_faint_dashed_and_named_as_such():
    published = pd.DataFrame([{"model": "Llama 3 70B", "signal_share": share, "size": 5, "value": 0.5} for share in (0, 20)])
    figure = stress_curves_figure(CURVES, published, "Accuracy", "Signal")
    (grey,) = [trace for trace in figure.data if trace.line.color == GREY]
    assert (grey.name, grey.line.dash) == ("Llama 3 70B (published)", "dash")
    assert list(figure.layout.xaxis.ticktext) == ["0 %", "20 %", "100 %"]


def test_numbers_of_documents_are_spread_evenly():
    frame = pd.DataFrame([cell("A", 100, 0.5, size=size) for size in (0, 5, 20)])
    figure = stress_curves_figure(frame, NO_PUBLISHED, "Accuracy", "Documents shown", "size")
    assert list(figure.data[0].x) == [0, 1, 2]
    assert list(figure.layout.xaxis.ticktext) == ["0", "5", "20"]


def test_who_answers_nothing_has_no_accuracy_and_no_mark():
    rows = [
        {
            "system_id": "a",
            "name": "A",
            "signal_share": share,
            "coverage": coverage,
            "accuracy": accuracy,
            "answered": 10 * coverage,
            "readable": 10,
        }
        for share, coverage, accuracy in ((0, 0.0, float("nan")), (100, 1.0, 0.7))
    ]
    frame = pd.DataFrame(rows)
    ends = {f"{name}_{end}": frame[name] for name in ("coverage", "accuracy") for end in ("low", "high")}
    known = frame.assign(**ends)
    other = known.assign(system_id="b", name="B", accuracy=[0.1, 0.7], coverage=[0.3, 1.0])
    curve, same = selective_curves(pd.concat([known, other]), "Signal").data
    assert (list(curve.x), list(curve.y), list(curve.text)) == ([1.0], [0.7], ["100 %"])
    # Off the right edge and off the axis below, and two systems at one place do not write over each other
    assert (list(curve.textposition), list(same.textposition)) == (["bottom left"], ["top right", "top left"])
