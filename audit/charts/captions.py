"""Title, sample size and source of a saved figure, written into the image itself."""

from __future__ import annotations

from textwrap import wrap

import plotly.graph_objects as go

from audit.charts.notices import with_room_above
from audit.charts.style import INK, html, set_layout

CAPTION_ROOM = 76
"""Pixels above a figure for four lines. A page, which has its own heading, cuts them off; a saved image has them."""
SAVED_WIDTH = 1100
"""Pixels: a figure saved from a phone is as wide as one saved from a desk."""
LINE_LENGTH = 130
LINES = 2


def with_caption(figure: go.Figure, title: str, source: str) -> go.Figure:
    """The figure, which is changed: its title, and below it n and source, in the uppermost CAPTION_ROOM pixels.

    Both are plain text of at most two lines each. A notice that the figure has already keeps its place below them.
    """
    # No copy: that took a tenth of the time of a page with several figures
    lines = [f"<b>{line}</b>" for line in _lines(title)] + _lines(source)
    lines += ["&nbsp;"] * (2 * LINES - len(lines))
    notice = figure.layout.title.text
    heading = {
        "text": "<br>".join([*lines, *([notice] if notice else [])]), "font": {"size": 12, "color": INK}, "x": 0, "y": 1,
        "xref": "container", "yref": "container", "xanchor": "left", "yanchor": "top", "pad": {"l": 8, "t": 26},
    }  # fmt: skip
    return set_layout(with_room_above(figure, CAPTION_ROOM), {"title": heading})


def _lines(text: str) -> list[str]:
    return [html(line) for line in wrap(text, LINE_LENGTH, max_lines=LINES, placeholder=" …")]
