"""The map of themes: every divergence topic as a point, close to similar topics, with as many labels as fit.

Not drawn by Plotly: there, labels cannot appear and disappear with the zoom, every point carries its hover text, and a browser
without WebGL (often a remote desktop) shows nothing. theme_map.js draws it, on the page and in the offline file.
"""

from __future__ import annotations

import base64
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd

from audit.charts.style import QUALITATIVE
from audit.terms import display_name

MAX_UINT16 = 65535
"""Positions are sent as 16-bit numbers, finer than a screen at sixtyfold zoom. As the index of a theme it means no theme."""


def script() -> str:
    """The source of `themeMap(host, data, tell)`."""
    return resources.files("audit.charts").joinpath("theme_map.js").read_text(encoding="utf-8")


def style() -> str:
    """The style of an element of class `theme-map`."""
    return resources.files("audit.charts").joinpath("theme_map.css").read_text(encoding="utf-8")


def map_data(points: pd.DataFrame, themes: pd.DataFrame, alt: str) -> dict[str, Any]:
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
            [display_name(name), int(above), int(size), *_middle(xy, index == rank)]
            for rank, (name, above, size) in enumerate(zip(themes["name"], parent, sizes, strict=True))
        ],
        "parents": [
            [display_name(names[top]), int((of_parent == rank).sum()), *_middle(xy, of_parent == rank), _group_colour(rank)]
            for rank, top in enumerate(tops)
        ],
        "bySize": np.argsort(-sizes, kind="stable").tolist(),
    }  # fmt: skip


def _scaled_positions(points: pd.DataFrame) -> tuple[np.ndarray[Any, Any], float, float]:
    """Positions in [0, 1], where the longer side fills the range, and the length of both sides."""
    xy = points[["x", "y"]].to_numpy(dtype=np.float64)
    if not len(xy):
        return xy, 1.0, 1.0
    span = np.ptp(xy, axis=0)
    longest = float(span.max()) or 1.0
    return (xy - xy.min(axis=0)) / longest, *(round(float(side / longest), 4) or 1.0 for side in span)


def _by_size(tops_of_points: np.ndarray[Any, Any], tops: pd.Series) -> list[str]:
    counted = pd.Series(tops_of_points).value_counts()
    return sorted(dict.fromkeys(tops), key=lambda top: -int(counted.get(top, 0)))


def _middle(xy: np.ndarray[Any, Any], selected: np.ndarray[Any, Any]) -> tuple[float, float]:
    if not selected.any():
        return -1.0, -1.0
    x, y = np.median(xy[selected], axis=0)
    return round(float(x), 4), round(float(y), 4)


def _base64_uint16(numbers: np.ndarray[Any, Any]) -> str:
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
