"""Themes as a treemap: area is the number of pairs, colour their severity or the share that disagrees."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audit.charts.coverage import shades
from audit.charts.style import BLACK, INK, NO_VALUE, clipped, html, ink_on, interval, percent, percent_ticks, styled
from audit.number_format import fixed
from audit.terms import display_name

HEIGHT = 560
LINE_LENGTH = 15
"""Letters in a line of a theme's label."""
EVERYTHING = "all"
SEVERITY, SHARE = "severity", "r_div"
SCALES = {SEVERITY: (0.0, 3.0), SHARE: (0.0, 1.0)}
PALE_TO_DARK = ((0.0, "#f4f0e6"), (0.35, "#f6d58f"), (0.65, "#e69f00"), (1.0, "#a3210f"))


def theme_treemap(themes: pd.DataFrame, parents: pd.DataFrame, colour: str) -> go.Figure:
    """Parents and the themes in them; a click on a parent zooms in, a click on the bar at the top leads back.

    themes   theme_id, name, top (id of the top-level theme, its own where it has no parent), pairs, disagreeing, severity, r_div,
             share (with _low, _high); themes without a pair are not drawn
    parents  theme_id, name and the same columns
    colour   'severity' (0 to 3) or 'r_div' (0 to 1)
    """
    inside = themes[(themes["pairs"] > 0) & (themes["theme_id"] != themes["top"])]
    above = parents[parents["pairs"] > 0]
    rows = pd.concat([above.assign(over=EVERYTHING), inside.assign(over="p:" + inside["top"])], ignore_index=True)
    ids = ["p:" + name for name in above["theme_id"]] + ["t:" + name for name in inside["theme_id"]]
    low, high = SCALES[colour]
    values = [low, *rows[colour]]
    figure = go.Figure(
        go.Treemap(
            ids=[EVERYTHING, *ids], parents=["", *rows["over"]], branchvalues="total",
            labels=["All themes", *(clipped(name, 60) for name in above["name"]), *(_wrapped(name) for name in inside["name"])],
            values=[int(above["pairs"].sum()), *rows["pairs"]],
            marker={
                "colors": values, "colorscale": [list(stop) for stop in PALE_TO_DARK], "cmin": low, "cmax": high,
                "showscale": True, "line": {"width": 1, "color": "#ffffff"}, "colorbar": _bar(colour),
            },
            textinfo="label", hovertext=["All themes", *(_hover(row) for row in rows.to_dict("records"))],
            hovertemplate="%{hovertext}<extra></extra>", tiling={"pad": 2}, pathbar={"thickness": 24},
            textfont={"size": 14, "color": text_colours(PALE_TO_DARK, values, (low, high))},
        )
    )  # fmt: skip
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


def _bar(colour: str) -> dict[str, object]:
    common = {"thickness": 12, "len": 0.6, "outlinewidth": 0}
    if colour == SHARE:
        return {**common, "title": {"text": "Share that<br>disagrees"}, **percent_ticks([0, 0.25, 0.5, 0.75, 1])}
    return {
        **common,
        "title": {"text": "Severity<br>per pair"},
        "tickvals": [0, 1, 2, 3],
        "ticktext": ["0", "1 low", "2 medium", "3 high"],
    }


def _hover(row: dict[Any, Any]) -> str:
    share = interval(row["share_low"], row["share_high"])
    within = f" (95 % interval {share})" if share else ""
    severity = fixed(row["severity"], 2) if pd.notna(row["severity"]) else NO_VALUE
    return (
        f"<b>{html(row['name'])}</b><br>{row['pairs']:,} pairs, {row['disagreeing']:,} of them disagree<br>"
        f"{percent(row['share'])} of all disagreement{within}<br>severity {severity} per pair, out of 3"
    )
