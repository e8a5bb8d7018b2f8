"""A notice inside a figure, so that it stays with every copy of it: on a page, in a report, as SVG or PNG."""

from __future__ import annotations

import plotly.graph_objects as go

from audit.charts.style import INK

ROOM = 44
"""Pixels above the figure for two short lines, which a phone can show."""


def with_notice(figure: go.Figure, notice: str) -> go.Figure:
    """A copy of the figure with the notice above it; the figure itself where the notice is empty."""
    if not notice:
        return figure
    copy = go.Figure(figure)
    top, height = copy.layout.margin.t or 0, copy.layout.height
    words = notice.replace(": ", ":<br>", 1)
    title = {
        "text": words, "font": {"size": 12, "color": INK}, "x": 0, "xref": "container", "y": 1, "yref": "container",
        "xanchor": "left", "yanchor": "top", "pad": {"l": 8, "t": 16},
    }  # fmt: skip
    copy.update_layout(title=title, margin_t=top + ROOM, height=height + ROOM if height else None)
    return copy
