"""Themes as a treemap (area is the number of pairs, colour their severity or disagreement) and as a map of their topics.

The map is not drawn by Plotly: there, labels cannot appear and disappear with the zoom, every point carries its hover text, and a
browser without WebGL (often a remote desktop) shows nothing. theme_map.js draws it, on the page and in the offline file.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib import resources
from textwrap import wrap
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from audit.charts.coverage import shades
from audit.charts.names import axis_of_names, clipped_names
from audit.charts.style import (
    BLACK,
    FAINT,
    INK,
    QUALITATIVE,
    SEVERE,
    SIGNIFICANCE_COLOURS,
    html,
    ink_on,
    interval,
    percent,
    styled,
)
from audit.formatting import isolated
from audit.stats.intervals import Floats
from audit.tables import Row
from audit.terms import display_name
from audit.vocabulary import SIGNIFICANCES

HEIGHT = 560
LINE_LENGTH = 15
"""Letters in a line of a theme's label."""
EVERYTHING = "all"
SEVERITY_ENDS = (0.0, 3.0)
GRADES = tuple(SIGNIFICANCES)
SEVERITY_BAR = {
    "thickness": 12, "len": 0.6, "outlinewidth": 0, "title": {"text": "Significance"},
    "tickvals": [1, 2, 3], "ticktext": ["low", "medium", "high"],
}  # fmt: skip
PALE_TO_DARK = ((0.0, "#f4f0e6"), (0.35, "#f6d58f"), (0.65, "#e69f00"), (1.0, SEVERE))


def theme_treemap(themes: pd.DataFrame, parents: pd.DataFrame) -> go.Figure:
    """Parents and the themes in them; a click on a parent zooms in, a click on the bar at the top leads back.

    themes   theme_id, name, top (id of the top-level theme, its own where it has no parent), pairs, disagreeing, severity,
             share (with _low, _high); themes without a pair are not drawn
    parents  theme_id, name and the same columns
    """
    inside = themes[(themes["pairs"] > 0) & (themes["theme_id"] != themes["top"])]
    above = parents[parents["pairs"] > 0]
    rows = pd.concat([above.assign(over=EVERYTHING), inside.assign(over="p:" + inside["top"])], ignore_index=True)
    ids = ["p:" + name for name in above["theme_id"]] + ["t:" + name for name in inside["theme_id"]]
    low, high = SEVERITY_ENDS
    values = [low, *rows["severity"]]
    figure = go.Figure(
        go.Treemap(
            ids=[EVERYTHING, *ids], parents=["", *rows["over"]], branchvalues="total",
            labels=["All themes", *clipped_names(above["name"], 60), *(_wrapped(name) for name in inside["name"])],
            values=[int(above["pairs"].sum()), *rows["pairs"]],
            marker={
                "colors": values, "colorscale": [list(stop) for stop in PALE_TO_DARK], "cmin": low, "cmax": high,
                "showscale": True, "line": {"width": 1, "color": "#ffffff"}, "colorbar": SEVERITY_BAR,
            },
            textinfo="label", hovertext=["All themes", *(_hover(row) for row in rows.to_dict("records"))],
            hovertemplate="%{hovertext}<extra></extra>", tiling={"pad": 2}, pathbar={"thickness": 24},
            textfont={"size": 14, "color": text_colours(PALE_TO_DARK, values, (low, high))},
        )
    )  # fmt: skip
    # A label that would be smaller is hidden; the hover text has it.
    small = {"minsize": 11, "mode": "hide"}
    return styled(figure, HEIGHT, margin={"l": 4, "r": 4, "t": 8, "b": 4}, uniformtext=small, font={"color": INK})


def text_colours(scale: Sequence[Sequence[Any]], values: Sequence[float], ends: tuple[float, float]) -> list[str]:
    """A text colour for each area; Plotly's own choice has a contrast as low as 2.2 to 1.

    An area without a value is drawn like the lowest value.
    """
    inks, (low, high) = [ink_on(shade, BLACK) for shade in shades(scale)], ends
    shares = np.clip((np.nan_to_num(np.asarray(values, dtype=float), nan=low) - low) / (high - low), 0, 1)
    return [inks[index] for index in (100 * shares).round().astype(int)]


def _wrapped(name: str) -> str:
    """A name broken into lines; Plotly would shrink a long line until it is unreadable."""
    lines = wrap(display_name(name), LINE_LENGTH) or [""]
    return "<br>".join(html(line) for line in [*lines[:3], *(["…"] if len(lines) > 3 else [])])


def _hover(row: Row) -> str:
    share = interval(row["share_low"], row["share_high"])
    within = f" (95 % interval {share})" if share else ""
    severity = _grade(row["severity"])
    return (
        f"<b>{html(row['name'])}</b><br>{row['pairs']:,} pairs, {row['disagreeing']:,} of them disagree<br>"
        f"{percent(row['share'])} of all disagreement{within}<br>{severity}"
    )


def _grade(severity: Any) -> str:
    """The mean significance of a theme's pairs, in words."""
    if pd.isna(severity):
        return "significance unknown"
    return f"mostly of {GRADES[min(2, max(0, round(severity) - 1))]} significance"


# Positions are sent as 16-bit numbers, finer than a screen at sixtyfold zoom. As the index of a theme it means no theme.
MAX_UINT16 = 65535


def map_script() -> str:
    """The source of `themeMap(host, data, tell)`."""
    return resources.files("audit.charts").joinpath("theme_map.js").read_text(encoding="utf-8")


def map_style() -> str:
    """The style of an element of class `theme-map`."""
    return resources.files("audit.charts").joinpath("theme_map.css").read_text(encoding="utf-8")


def map_data(points: pd.DataFrame, themes: pd.DataFrame, alt: str) -> dict[str, object]:
    """The data that themeMap draws, as JSON: about 6 kB per 1,000 points and 60 bytes per theme.

    points  x, y, theme_id (missing or not among the themes: no theme), in the order of their indices
    themes  theme_id, name, top (id of the top-level theme, which may be its own), top_name, in the order of their indices
    alt     what the map shows, in a sentence for screen readers

    A label is placed at the median of its points.
    """
    index = pd.Index(themes["theme_id"]).get_indexer(pd.Index(points["theme_id"]))
    xy, wide, high = _scaled_positions(points)
    tops = _by_size(themes["top"].to_numpy()[index[index >= 0]], themes["top"])
    parent = pd.Index(tops).get_indexer(pd.Index(themes["top"]))
    of_parent = np.where(index >= 0, parent[index], -1) if len(parent) else index
    sizes = np.bincount(index[index >= 0], minlength=len(themes))
    names = dict(zip(themes["top"], themes["top_name"], strict=True))
    return {
        "alt": alt, "none": "no theme", "wide": wide, "high": high,
        "places": _base64_uint16(np.rint(xy * MAX_UINT16)), "theme": _base64_uint16(np.where(index < 0, MAX_UINT16, index)),
        "themes": [
            [_title(name), int(above), int(size), *_middle(xy, index == rank)]
            for rank, (name, above, size) in enumerate(zip(themes["name"], parent, sizes, strict=True))
        ],
        "parents": [
            [_title(names[top]), int((of_parent == rank).sum()), *_middle(xy, of_parent == rank), _group_colour(rank)]
            for rank, top in enumerate(tops)
        ],
        "bySize": np.argsort(-sizes, kind="stable").tolist(),
    }  # fmt: skip


def _title(name: object) -> str:
    # The map draws titles on a canvas, where a text has no attribute for its direction
    return isolated(display_name(name))


def _scaled_positions(points: pd.DataFrame) -> tuple[Floats, float, float]:
    """Positions in [0, 1], where the longer side fills the range, and the length of both sides."""
    xy = points[["x", "y"]].to_numpy(dtype=np.float64)
    if not len(xy):
        return xy, 1.0, 1.0
    span = np.ptp(xy, axis=0)
    longest = float(span.max()) or 1.0
    return (xy - xy.min(axis=0)) / longest, *(round(float(side / longest), 4) or 1.0 for side in span)


def _by_size(tops_of_points: npt.NDArray[np.object_], tops: pd.Series) -> list[str]:
    counted = pd.Series(tops_of_points).value_counts()
    return sorted(dict.fromkeys(tops), key=lambda top: -int(counted.get(top, 0)))


def _middle(xy: Floats, selected: npt.NDArray[np.bool_]) -> tuple[float, float]:
    if not selected.any():
        return -1.0, -1.0
    # The median, because a stray topic must not pull the label away.
    x, y = np.median(xy[selected], axis=0)
    return round(float(x), 4), round(float(y), 4)


def _base64_uint16(numbers: Floats) -> str:
    # Little-endian, as the Uint16Array of every browser in use reads it.
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<u2").tobytes()).decode()


def _group_colour(rank: int) -> str:
    """Nine hues, then the same lighter, then darker. Beyond that colours repeat; the labels tell the groups apart."""
    hue, turn = QUALITATIVE[rank % len(QUALITATIVE)], rank // len(QUALITATIVE) % 3
    towards = (None, 255, 0)[turn]
    if towards is None:
        return hue
    mixed = (round(0.6 * int(hue[i : i + 2], 16) + 0.4 * towards) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)


# -- themes as a ranked list of bars: the disagreements of each by clinical significance ---------------------

ROW_HEIGHT = 26
NOT_STATED = "unstated"
BAR_GRADES = (*reversed(SIGNIFICANCES), NOT_STATED)
"""The columns that are drawn, the gravest first."""
GRADE_COLOURS = {**SIGNIFICANCE_COLOURS, NOT_STATED: FAINT}
GRADE_WORDS = {NOT_STATED: "significance not stated"}


def theme_bars(themes: pd.DataFrame) -> go.Figure:
    """One bar a theme, in the order of the frame: its disagreeing pairs of high, medium, low and unstated significance.

    themes  theme_id, name, disagreeing, high, medium, low, unstated (pairs)

    Every bar's `customdata` is its theme_id. A grade that no theme has is not drawn.
    """
    rows = list(range(len(themes)))
    hovers = [_bar_hover(row) for row in themes[["name", "disagreeing", *BAR_GRADES]].to_dict("records")]
    traces = [_bars(themes, rows, grade, hovers) for grade in BAR_GRADES if themes[grade].sum()]
    xaxes = {"title": {"text": "disagreeing pairs"}, "gridcolor": "#e4e7eb", "rangemode": "tozero"}
    names = axis_of_names(clipped_names(themes["name"], 52))
    yaxes = {**names, "ticklabelstandoff": 6, "range": [len(rows) - 0.4, -0.6], "showgrid": False}
    # From the left edge of the figure: beside long names, a window of 900 pixels has no room for its entries in a line
    legend = {"orientation": "h", "x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top"}
    figure, height = go.Figure(traces), 110 + ROW_HEIGHT * len(rows)
    return styled(figure, height, xaxes, yaxes, barmode="stack", bargap=0.3, legend=legend)


def _bars(themes: pd.DataFrame, rows: list[int], grade: str, hovers: list[str]) -> go.Bar:
    return go.Bar(
        x=themes[grade], y=rows, orientation="h", name=GRADE_WORDS.get(grade, f"{grade} significance"),
        marker={"color": GRADE_COLOURS[grade], "line": {"width": 0.5, "color": INK}}, customdata=themes["theme_id"],
        hovertext=hovers, hovertemplate="%{hovertext}<extra></extra>",
        # Plotly fades whatever was not clicked; here a click opens the disagreements and selects nothing.
        unselected={"marker": {"opacity": 1}},
    )  # fmt: skip


def _bar_hover(row: Row) -> str:
    return f"<b>{html(display_name(row['name']))}</b><br>{row['disagreeing']:,} disagreeing pairs: {grades_text(row)}"


def grades_text(row: Row) -> str:
    """`2 high, 1 low`: how many of a theme's disagreements have which significance."""
    return ", ".join(f"{row[grade]:,} {'not stated' if grade == NOT_STATED else grade}" for grade in BAR_GRADES if row[grade])
