"""A funnel plot: ratios of groups by their precision, with the limits expected from chance alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import FAINT, coefficient, coefficient_interval, cut, html, styled
from audit.stats.case_mix import funnel_limits
from audit.tables import Row
from audit.terms import display_name

HEIGHT = 380
LEVELS = {0.95: "dash", 0.998: "dot"}
"""Share of groups that lie between two lines of dots if all are equal -> how the lines are drawn."""
LINE_POINTS = 80
MAX_NAMED, MAX_NAME, SMALL = 8, 40, 0.55
USUAL, OUTSIDE = "#6b7280", "#c77700"
SIDES = {"top center": (0, 1), "bottom center": (0, -1), "middle right": (1, 0), "middle left": (-1, 0)}
"""Where a name may stand beside its dot, the preferred side first -> direction to it."""
PLOT_PX, LETTER_PX, NAME_PX, GAP_PX = (600, 300), 7, 18, 14
"""Size of the plot on a small screen, width of a letter, height of a name, way from a dot to the middle of a name above it."""


def funnel(table: pd.DataFrame, by: str, opens: str | None = None) -> go.Figure:
    """Observed over expected by expected disagreements, with the lines of 95 and 99.8 %; groups that stand out are named.

    table  `by`, expected, disagreeing, ratio (with _low, _high), flag, dispersion; groups without a ratio are left out
    opens  the column with the id of each group: a dot's `customdata` is then that id and `ratio`, for a click
    """
    known = table.dropna(subset=["ratio"])
    ends = _range(known)
    figure = go.Figure([*_lines(known), _dots(known, by, opens, ends)])
    figure.add_hline(y=1, line={"color": FAINT, "width": 1})
    figure.update_xaxes(title="expected disagreeing pairs", rangemode="tozero", title_font={"size": 13})
    figure.update_yaxes(title="times as many as expected", title_font={"size": 13}, title_standoff=24, range=ends)
    return styled(figure, HEIGHT, showlegend=True, margin={"l": 56, "r": 24, "t": 48, "b": 8})


def _range(known: pd.DataFrame) -> list[float]:
    """From 0 where a ratio is small; else from one half, so many groups that are nearly alike can be told apart."""
    low, high = (known["ratio"].min(), known["ratio"].max()) if len(known) else (0.0, 1.0)
    return [0.0 if low < SMALL else 0.5, max(1.5, float(high) * 1.15)]


def _lines(known: pd.DataFrame) -> list[go.Scatter]:
    if known.empty:
        return []
    most = float(known["expected"].max())
    places = np.linspace(most / LINE_POINTS, most * 1.05, LINE_POINTS)
    lines = []
    for level, dash in LEVELS.items():
        low, high = funnel_limits(places, float(known["dispersion"].iloc[0]), level)
        # One trace a level: the upper line, a gap, the lower line
        x, y = [*places, None, *places], [*high, None, *low]
        name = f"{100 * level:g} % of dots if all are equal"
        line = {"color": FAINT, "dash": dash, "width": 1.5}
        lines.append(go.Scatter(x=x, y=y, mode="lines", name=name, line=line, hoverinfo="skip"))
    return lines


def _dots(known: pd.DataFrame, by: str, opens: str | None, ends: list[float]) -> go.Scatter:
    outside = known["flag"] != ""
    # More names than these would lie on top of each other; a dot tells its name when it is pointed at
    named = outside & (outside.sum() <= MAX_NAMED)
    names = known[by].map(lambda name: cut(display_name(name), MAX_NAME)).where(named, "")
    return go.Scatter(
        x=known["expected"], y=known["ratio"], mode="markers+text", showlegend=False, cliponaxis=False,
        marker={"color": np.where(outside, OUTSIDE, USUAL).tolist(), "size": np.where(outside, 11, 8).tolist()},
        text=[html(name) for name in names], textposition=_sides(known, names, ends), textfont={"size": 12},
        hovertext=[_hover(row, by) for row in known.to_dict("records")], hovertemplate="%{hovertext}<extra></extra>",
        customdata=None if opens is None else [[name, "ratio"] for name in known[opens]],
        unselected={"marker": {"opacity": 1}},
    )  # fmt: skip


def _sides(known: pd.DataFrame, names: pd.Series[str], ends: list[float]) -> list[str]:
    """For each dot the first of SIDES on which its name does not cover another one; the first of all if every side is taken."""
    across = known["expected"] / max(known["expected"].max(), 1e-9) * PLOT_PX[0]
    up = (known["ratio"] - ends[0]) / (ends[1] - ends[0]) * PLOT_PX[1]
    taken: list[tuple[float, float, float]] = []  # middle of a name and half its width
    sides = []
    for x, y, name in zip(across, up, names, strict=True):
        half = len(name) * LETTER_PX / 2
        boxes = {side: (x + right * (half + GAP_PX), y + above * GAP_PX, half) for side, (right, above) in SIDES.items()}
        free = (side for side, box in boxes.items() if not any(_overlap(box, other) for other in taken))
        sides.append(next(free, next(iter(SIDES))))
        if name:
            taken.append(boxes[sides[-1]])
    return sides


def _overlap(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < NAME_PX


def _hover(row: Row, by: str) -> str:
    span = coefficient_interval(row["ratio_low"], row["ratio_high"])
    return (
        f"<b>{html(row[by])}</b><br>{row['disagreeing']:,} disagreeing pairs, {row['expected']:,.1f} expected<br>"
        f"{coefficient(row['ratio'])} times as many (95 % interval {span})"
    )
