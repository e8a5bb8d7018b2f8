"""A notice inside a figure, so it is part of every copy: on a page, in a report, as SVG or PNG."""

from __future__ import annotations

import plotly.graph_objects as go

from audit.charts.style import INK, set_layout

ROOM = 44
"""Pixels above the figure for two short lines, which a phone can show."""


def with_notice(figure: go.Figure, notice: str) -> go.Figure:
    """A copy of the figure with the notice above it; the figure itself where the notice is empty."""
    if not notice:
        return figure
    copy = with_room_above(go.Figure(figure), ROOM)
    words = notice.replace(": ", ":<br>", 1)
    title = {
        "text": words, "font": {"size": 12, "color": INK}, "x": 0, "xref": "container", "y": 1, "yref": "container",
        "xanchor": "left", "yanchor": "top", "pad": {"l": 8, "t": 16},
    }  # fmt: skip
    return set_layout(copy, {"title": title})


def with_room_above(figure: go.Figure, pixels: int) -> go.Figure:
    """The figure, which is changed: that much higher, with nothing in its uppermost pixels but what is put there."""
    top, height, legend = figure.layout.margin.t or 0, figure.layout.height, figure.layout.legend
    set_layout(figure, {"margin": {"t": top + pixels}, "height": height + pixels if height else None})
    if height and legend.yref == "container" and legend.yanchor == "top":
        # At the top of the figure, where it would lie under what is written there, or be cut off with it
        legend.y = (legend.y * height) / (height + pixels)
    return figure
