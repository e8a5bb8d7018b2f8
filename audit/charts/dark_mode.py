"""Figures in dark mode: every colour of these charts has a dark counterpart, so a label keeps its hue and its rank.

Charts are drawn for white paper, which exports need as well. A page in dark mode passes them through `to_dark_mode`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from audit.charts.coverage import HATCHING, SHADES, shades
from audit.charts.style import (
    ABSENCE_SCALE,
    ACCENT,
    FAINT,
    INK,
    LABEL_COLOURS,
    NOT_ASKED,
    QUALITATIVE,
    SEVERE,
    SIGNIFICANCE_COLOURS,
    UNSCORED,
    ink_on,
)
from audit.charts.themes import text_colours
from audit.vocabulary import Label

LIGHT_BACKGROUND, DARK_BACKGROUND = "#ffffff", "#12151a"
"""The two page backgrounds, as in .streamlit/config.toml."""
# The labels in dark mode: the same hues, and absence is again the least conspicuous.
DARK_LABEL_COLOURS: dict[str, str] = {
    Label.ABSENT: "#3a3f48",
    Label.CONSISTENT: "#6cc0f5",
    Label.COMPLEMENTARY: "#2a6699",
    Label.DIVERGENT: "#f2b134",
    Label.CONTRADICTORY: "#d03c26",
    UNSCORED: LABEL_COLOURS[UNSCORED],
    NOT_ASKED: DARK_BACKGROUND,
}
SCALES = {
    "#0b4f6c": "#7cc4e0", "#8fb8c9": "#3d6b80", "#f3ece0": "#21262d",  # absence
    "#f4f0e6": "#262b33", SIGNIFICANCE_COLOURS["low"]: "#7a5a1e", SEVERE: "#ffd9a0", "#fafbfc": "#191d24",  # severity, shares
}  # fmt: skip
LINES = {
    INK: "#e6e8ec", "#1f2328": "#e6e8ec", "#2a3f5f": "#e6e8ec", FAINT: "#a3aab5", LIGHT_BACKGROUND: DARK_BACKGROUND,
    "white": "#2a2f37", "#e4e7eb": "#2a2f37", "#f3f4f6": "#1d2128", "#f4f5f6": "#1d2128", HATCHING: "#4a515c",
    "#9aa3ad": "#7d8691",
}  # fmt: skip
FILLS = {
    "#c77700": "#f0a040", "#5b7083": "#51677b", "#5f9fb8": "#5f9fb8", "#cfe3f2": "#24506f", "#f7dcae": "#6a4d17",
    "#e9e4da": "#4d483f",
}  # fmt: skip
# Hues of the qualitative palette that are too dark for a dark background; the others stay as they are.
BRIGHTER = {"#332288": "#9a8cf0", "#882255": "#d4699f", "#117733": "#3fae66"}
ABSENCE = [[share, SCALES[colour]] for share, colour in ABSENCE_SCALE]
DARK_COLOURS: dict[str, str] = {
    **{LABEL_COLOURS[name]: colour for name, colour in DARK_LABEL_COLOURS.items()}, **SCALES, **LINES, **FILLS,
    **{hue: BRIGHTER.get(hue, hue) for hue in QUALITATIVE}, **dict(zip(SHADES, shades(ABSENCE), strict=True)),
    ACCENT: DARK_LABEL_COLOURS[Label.CONSISTENT],
}  # fmt: skip
"""Colour in light mode -> colour in dark mode."""
FADED = re.compile(r"rgba\((\d+), (\d+), (\d+), ([\d.]+)\)")


def to_dark_mode(figure: go.Figure) -> go.Figure:
    """A copy of a figure of this package for a dark page; a colour without a counterpart stays as it is."""
    light = figure.to_dict()
    dark = _recoloured(light, colour=False)
    for trace, before in zip(dark["data"], light["data"], strict=True):
        _adjust_text_colour(trace, before)
    dark["layout"]["paper_bgcolor"] = DARK_BACKGROUND  # so that an image saved from the page is readable elsewhere
    # The figure was validated when it was drawn, and a colour exchanged for another is one
    return go.Figure(dark, _validate=False)


def light_dark(colour: str) -> str:
    """One of our colours as CSS for both light and dark mode."""
    return f"light-dark({colour}, {DARK_COLOURS.get(colour, colour)})"


def _recoloured(node: Any, colour: bool) -> Any:
    """A figure as a tree with its colours exchanged; only values under a key that contains `color` are colours."""
    if isinstance(node, dict):
        return {key: _recoloured(value, "color" in str(key)) for key, value in node.items()}
    if isinstance(node, (list, tuple)) or (colour and isinstance(node, np.ndarray) and node.dtype.kind in "OU"):
        return [_recoloured(value, colour) for value in node]
    return _dark_colour(node) if colour and isinstance(node, str) else node


def _dark_colour(colour: str) -> str:
    if faded := FADED.fullmatch(colour):
        opaque = "#" + "".join(f"{int(part):02x}" for part in faded.groups()[:3])
        parts = ", ".join(str(int(_dark_colour(opaque)[i : i + 2], 16)) for i in (1, 3, 5))
        return f"rgba({parts}, {faded[4]})"
    return DARK_COLOURS.get(colour.lower(), colour)


def _adjust_text_colour(trace: dict[str, Any], before: Mapping[str, Any]) -> None:
    """The colour of text on a bar or an area depends on the fill, which has changed."""
    marker = trace.get("marker", {})
    if before["type"] == "treemap":
        trace["textfont"]["color"] = text_colours(marker["colorscale"], marker["colors"], (marker["cmin"], marker["cmax"]))
    fill = marker.get("color")
    for font in ("textfont", "insidetextfont"):
        if before["type"] == "bar" and "color" in trace.get(font, {}):
            written = before[font]["color"]
            trace[font]["color"] = (
                _letters(fill, written) if isinstance(fill, str) else list(map(_letters, fill, _one_each(written, fill)))
            )


def _letters(fill: str, written: str) -> str:
    """The colour of a text on a fill; what is faint in light mode stays fainter than the others."""
    return DARK_COLOURS[FAINT] if written == FAINT else ink_on(fill)


def _one_each(colours: Any, fills: Sequence[str]) -> Sequence[str]:
    return [colours] * len(fills) if isinstance(colours, str) else colours
