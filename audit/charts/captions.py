"""Title, sample size and source of a saved figure, written into the image itself."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from textwrap import wrap

import plotly.graph_objects as go

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


# -- Room for names in a font that is wider than the page's --------------------------------------------------
# Plotly makes a margin as wide as the names beside an axis are in the font of the page. A figure saved as SVG names that font and
# does not bring it, and where it is missing another one is drawn, whose names are a tenth wider and would be cut at the edge.

# Thousandths of the font size, from Adobe's metrics of Helvetica, which Arial and Liberation Sans share
_WIDTHS = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[]\\ft·\N{NO-BREAK SPACE}", 333: "()-`r", 334: "{}", 355: '"', 389: "*",
    469: "^", 500: "Jcksvxyz", 556: "#$0123456789?L_abdeghnopqu\N{EN DASH}", 584: "+<=>~", 611: "FTZ", 667: "&ABEKPSVXY",
    722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W",
}  # fmt: skip
WIDTHS = {letter: width / 1000 for width, letters in _WIDTHS.items() for letter in letters}
OTHER_LETTER = 0.6
# Chinese, Japanese and Korean letters are squares in any font
WIDE_FROM, SQUARE = "\N{CJK RADICAL REPEAT}", 1.0
BESIDE_PX = 12
"""Pixels between a name and its axis, and between it and the edge."""
TAG, LINE_BREAK = re.compile(r"<[^>]*>"), re.compile(r"<br\s*/?>")


def with_room_for_names(figure: go.Figure) -> go.Figure:
    """The figure, which is changed: its left margin is at least as wide as the names beside it are in Helvetica or Arial."""
    needed = max((_room(figure, axis) for axis in figure.select_yaxes() if _is_at_the_edge(figure, axis)), default=0.0)
    if needed > (figure.layout.margin.l or 0):
        figure.layout.margin.l = round(needed)
    return figure


def width_of(label: str, size: float) -> float:
    """Pixels of the widest line of a Plotly label in Helvetica or Arial."""
    return size * max(_ems(unescape(TAG.sub("", line))) for line in LINE_BREAK.split(label))


@lru_cache(maxsize=4096)  # charts repeat the same names
def _ems(text: str) -> float:
    return sum(WIDTHS.get(letter, SQUARE if letter >= WIDE_FROM else OTHER_LETTER) for letter in text)


def _is_at_the_edge(figure: go.Figure, axis: go.layout.XAxis) -> bool:
    """Whether the names of an axis are beside the leftmost panel, level."""
    is_beside = axis.visible is not False and axis.showticklabels is not False and axis.side != "right" and not axis.tickangle
    if not is_beside or "inside" in (axis.ticklabelposition or ""):
        return False
    across = figure.layout[(axis.anchor or "x").replace("x", "xaxis")] if axis.anchor != "free" else None
    return across is None or not across.domain or across.domain[0] == 0


def _room(figure: go.Figure, axis: go.layout.XAxis) -> float:
    size = axis.tickfont.size or figure.layout.font.size or 12
    widest = max((width_of(str(name), size) for name in axis.ticktext or ()), default=0.0)
    return widest + (axis.ticklabelstandoff or 0) + BESIDE_PX if widest else 0.0


# -- A notice inside a figure, so it is part of every copy: on a page, in a report, as SVG or PNG ------------


ROOM, LINE = 44, 16
"""Pixels above the figure for two lines, and for each one more."""
PHONE_LETTERS = 46
"""Of a line that a phone shows whole."""


def with_notice(figure: go.Figure, notice: str, letters: int = LINE_LENGTH) -> go.Figure:
    """A copy of the figure with the notice above it, in lines of so many letters; the figure itself where the notice is empty."""
    if not notice:
        return figure
    # To validate again what is copied takes six times as long
    lines = [line for part in notice.replace(": ", ":\n", 1).splitlines() for line in wrap(part, letters, break_on_hyphens=False)]
    copy = with_room_above(go.Figure(figure.to_dict(), _validate=False), ROOM + LINE * max(0, len(lines) - 2))
    title = {
        "text": "<br>".join(lines), "font": {"size": 12, "color": INK}, "x": 0, "xref": "container", "y": 1, "yref": "container",
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
