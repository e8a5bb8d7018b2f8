"""The label matrix of one question: every couple of handbooks, in an order that shows who agrees with whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import FAINT, INK, LABEL_COLOURS, LABEL_ORDER, LABEL_WORDS, clipped, styled

SELF, SELF_COLOUR = "self", "#f4f5f6"
VALUES = (*LABEL_ORDER, SELF)
SIGNS = {"CONTRADICTORY": "✕", "DIVERGENT": "≠", "unscored": "?"}
"""Drawn in cells large enough, so that a disagreement is not told by colour alone."""
MOST_SIGNS, MOST_NAMES = 30, 45
SIDE_PX, SMALLEST_PX, LARGEST_PX = 320, 6, 52
BOTH_TRIANGLES = 60
"""Above this many handbooks only the lower triangle can be clicked, to keep the figure small."""


def matrix_figure(
    cells: pd.DataFrame, names: dict[str, str], camps: pd.Series, opened: tuple[str, str] | None = None
) -> go.Figure:
    """A square of label colours; every cell between two answering handbooks can be clicked.

    cells   square frame of labels (audit.metrics.matrix), rows and columns already in the order to draw
    names   handbook_id -> name
    camps   handbook_id -> camp number; missing for a handbook that does not answer; a frame is drawn around each camp
    opened  the two handbooks of the opened pair; its cell is outlined

    A Plotly heatmap raises no click, so a transparent square lies over every cell; its `customdata` is the cell's number,
    counted along the rows from 0: divmod(number, len(cells)) is its row and column.
    """
    ids = list(cells.index)
    size = float(np.clip(SIDE_PX / max(len(ids), 1), SMALLEST_PX, LARGEST_PX))
    figure = go.Figure([_colours(cells, ids), *_legend(cells), _buttons(cells, camps, size)])
    figure.update_layout(shapes=[*_frames(ids, camps), *_outline(ids, opened)])
    return _laid_out(figure, ids, names, size)


def _colours(cells: pd.DataFrame, ids: list[str]) -> go.Heatmap:
    codes = cells.map({value: code for code, value in enumerate(VALUES)}.get).to_numpy(dtype=float)
    steps = [LABEL_COLOURS.get(value, SELF_COLOUR) for value in VALUES]
    scale = [(edge / len(steps), colour) for i, colour in enumerate(steps) for edge in (i, i + 1)]
    signs = cells.map(lambda value: SIGNS.get(value, "")).to_numpy() if len(ids) <= MOST_SIGNS else None
    return go.Heatmap(
        z=codes, zmin=-0.5, zmax=len(steps) - 0.5, colorscale=scale, showscale=False, hoverinfo="skip", xgap=1, ygap=1,
        text=signs, texttemplate="%{text}" if signs is not None else None, textfont={"size": 13},
    )  # fmt: skip


def _legend(cells: pd.DataFrame) -> list[go.Scatter]:
    present = set(np.unique(cells.to_numpy(dtype=str)))
    return [
        go.Scatter(
            x=[None], y=[None], mode="markers", name=LABEL_WORDS[value] + (f" {SIGNS[value]}" if value in SIGNS else ""),
            marker={"symbol": "square", "size": 13, "color": LABEL_COLOURS[value], "line": {"color": FAINT, "width": 0.5}},
        )
        for value in LABEL_ORDER if value in present
    ]  # fmt: skip


def _buttons(cells: pd.DataFrame, camps: pd.Series, size: float) -> go.Scatter:
    ids = list(cells.index)
    answering = np.flatnonzero(camps.reindex(ids).notna())
    rows, columns = (places.ravel() for places in np.meshgrid(answering, answering, indexing="ij"))
    wanted = rows != columns if len(answering) <= BOTH_TRIANGLES else rows > columns
    rows, columns = rows[wanted], columns[wanted]
    words = np.array([LABEL_WORDS.get(value, "") for value in cells.to_numpy()[rows, columns]])
    return go.Scatter(
        x=columns, y=rows, mode="markers", showlegend=False, customdata=rows * len(ids) + columns, text=words,
        marker={"symbol": "square", "size": size, "opacity": 0},
        # Both axes carry the names as tick texts, so a name is sent once and not with every cell.
        hovertemplate="%{y}<br>%{x}<br><b>%{text}</b><extra></extra>",
        hoverlabel={"bgcolor": "#ffffff", "font": {"color": INK}},
    )  # fmt: skip


def _frames(ids: list[str], camps: pd.Series) -> list[dict[str, Any]]:
    """A line around each camp's block on the diagonal."""
    numbers = camps.reindex(ids)
    return [
        _square(places[0], places[0], places[-1], places[-1], 2.5)
        for camp in numbers.dropna().unique()
        if len(places := np.flatnonzero((numbers == camp).fillna(False)))
    ]


def _outline(ids: list[str], opened: tuple[str, str] | None) -> list[dict[str, Any]]:
    if not opened or not set(opened) <= set(ids):
        return []
    i, j = (ids.index(handbook) for handbook in opened)
    return [_square(x, y, x, y, 4.0) for x, y in ((i, j), (j, i))]


def _square(left: int, top: int, right: int, bottom: int, width: float) -> dict[str, Any]:
    corners = {"x0": left - 0.5, "x1": right + 0.5, "y0": top - 0.5, "y1": bottom + 0.5}
    return {"type": "rect", **corners, "line": {"color": INK, "width": width}}


def _laid_out(figure: go.Figure, ids: list[str], names: dict[str, str], size: float) -> go.Figure:
    count = len(ids)
    named = count <= MOST_NAMES
    short = [clipped(names.get(handbook, handbook), 30) for handbook in ids]
    styled(figure, height=int(size * count) + 60 + 22 * named, hovermode="closest")
    common = {
        "showgrid": False, "tickmode": "array", "tickvals": list(range(count)), "ticktext": short, "ticks": "",
        "tickfont": {"size": 12 if count <= 25 else 10}, "constrain": "domain",
    }  # fmt: skip
    figure.update_xaxes(range=[-0.5, count - 0.5], showticklabels=False, constraintoward="left", **common)
    figure.update_yaxes(range=[count - 0.5, -0.5], showticklabels=named, constraintoward="top", scaleanchor="x", **common)
    return figure
