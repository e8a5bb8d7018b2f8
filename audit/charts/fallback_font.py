"""Room for names in a font that is wider than the page's.

Plotly makes a margin as wide as the names beside an axis are in the font of the page. A figure saved as SVG names that font and
does not bring it, and where it is missing another one is drawn, whose names are a tenth wider and would be cut at the edge.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape

import plotly.graph_objects as go

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
