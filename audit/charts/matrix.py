"""The label matrix of one question: every pair of handbooks, in an order that shows who agrees with whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import FAINT, INK, LABEL_COLOURS, LABEL_ORDER, LABEL_WORDS, clipped, styled

SELF, SELF_COLOUR = "self", "#f4f5f6"
VALUES = (*LABEL_ORDER, SELF)
SYMBOLS = {"CONTRADICTORY": "✕", "DIVERGENT": "≠", "unscored": "?"}
"""Drawn in cells that are large enough, so that colour is not the only sign of a disagreement."""
MAX_WITH_SYMBOLS, MAX_WITH_NAMES = 30, 45
"""Numbers of handbooks up to which cells show symbols, and rows show names."""
TARGET_SIDE_PX, MIN_CELL_PX, MAX_CELL_PX = 320, 6, 52
MAX_BOTH_TRIANGLES = 60
"""With more handbooks than this only the lower triangle can be clicked, to keep the figure small."""


def matrix_figure(
    cells: pd.DataFrame, names: dict[str, str], groups: pd.Series, opened: tuple[str, str] | None = None
) -> go.Figure:
    """A square of label colours; every cell of two answering handbooks can be clicked.

    cells   square frame of labels (audit.metrics.matrix), rows and columns already in the order to draw
    names   handbook_id -> name
    groups  handbook_id -> number of its position group, missing for a handbook that does not answer; each group is framed
    opened  the two handbooks of the open pair; its cell is outlined

    Plotly reports no clicks on a heatmap, so a transparent square covers every cell. Its `customdata` is the index of the cell,
    counted along the rows from 0: divmod(index, len(cells)) is its row and column.
    """
    ids = list(cells.index)
    size = float(np.clip(TARGET_SIDE_PX / max(len(ids), 1), MIN_CELL_PX, MAX_CELL_PX))
    figure = go.Figure([_label_heatmap(cells, ids), *_legend(cells), _click_targets(cells, groups, size)])
    figure.update_layout(shapes=[*_group_frames(ids, groups), *_outline(ids, opened)])
    return _with_axes(figure, ids, names, size)


def _label_heatmap(cells: pd.DataFrame, ids: list[str]) -> go.Heatmap:
    codes = cells.map({value: code for code, value in enumerate(VALUES)}.get).to_numpy(dtype=float)
    steps = [LABEL_COLOURS.get(value, SELF_COLOUR) for value in VALUES]
    scale = [(edge / len(steps), colour) for i, colour in enumerate(steps) for edge in (i, i + 1)]
    signs = cells.map(lambda value: SYMBOLS.get(value, "")).to_numpy() if len(ids) <= MAX_WITH_SYMBOLS else None
    return go.Heatmap(
        z=codes, zmin=-0.5, zmax=len(steps) - 0.5, colorscale=scale, showscale=False, hoverinfo="skip", xgap=1, ygap=1,
        text=signs, texttemplate="%{text}" if signs is not None else None, textfont={"size": 13},
    )  # fmt: skip


def _legend(cells: pd.DataFrame) -> list[go.Scatter]:
    present = set(np.unique(cells.to_numpy(dtype=str)))
    return [
        go.Scatter(
            x=[None], y=[None], mode="markers", name=LABEL_WORDS[value] + (f" {SYMBOLS[value]}" if value in SYMBOLS else ""),
            marker={"symbol": "square", "size": 13, "color": LABEL_COLOURS[value], "line": {"color": FAINT, "width": 0.5}},
        )
        for value in LABEL_ORDER if value in present
    ]  # fmt: skip


def _click_targets(cells: pd.DataFrame, groups: pd.Series, size: float) -> go.Scatter:
    ids = list(cells.index)
    answering = np.flatnonzero(groups.reindex(ids).notna())
    rows, columns = (grid.ravel() for grid in np.meshgrid(answering, answering, indexing="ij"))
    clickable = rows != columns if len(answering) <= MAX_BOTH_TRIANGLES else rows > columns
    rows, columns = rows[clickable], columns[clickable]
    words = np.array([LABEL_WORDS.get(value, "") for value in cells.to_numpy()[rows, columns]])
    return go.Scatter(
        x=columns, y=rows, mode="markers", showlegend=False, customdata=rows * len(ids) + columns, text=words,
        marker={"symbol": "square", "size": size, "opacity": 0},
        # Both axes have the names as tick texts, so each name is sent once and not with every cell.
        hovertemplate="%{y}<br>%{x}<br><b>%{text}</b><extra></extra>",
        hoverlabel={"bgcolor": "#ffffff", "font": {"color": INK}},
    )  # fmt: skip


def _group_frames(ids: list[str], groups: pd.Series) -> list[dict[str, Any]]:
    """A line around the block of each position group on the diagonal."""
    numbers = groups.reindex(ids)
    return [
        _square(indices[0], indices[0], indices[-1], indices[-1], 2.5)
        for group in numbers.dropna().unique()
        if len(indices := np.flatnonzero((numbers == group).fillna(False)))
    ]


def _outline(ids: list[str], opened: tuple[str, str] | None) -> list[dict[str, Any]]:
    if not opened or not set(opened) <= set(ids):
        return []
    i, j = (ids.index(handbook) for handbook in opened)
    return [_square(x, y, x, y, 4.0) for x, y in ((i, j), (j, i))]


def _square(left: int, top: int, right: int, bottom: int, width: float) -> dict[str, Any]:
    corners = {"x0": left - 0.5, "x1": right + 0.5, "y0": top - 0.5, "y1": bottom + 0.5}
    return {"type": "rect", **corners, "line": {"color": INK, "width": width}}


def _with_axes(figure: go.Figure, ids: list[str], names: dict[str, str], size: float) -> go.Figure:
    count = len(ids)
    named = count <= MAX_WITH_NAMES
    short = [clipped(names.get(handbook, handbook), 30) for handbook in ids]
    styled(figure, height=int(size * count) + 60 + 22 * named, hovermode="closest")
    common = {
        "showgrid": False, "tickmode": "array", "tickvals": list(range(count)), "ticktext": short, "ticks": "",
        "tickfont": {"size": 12 if count <= 25 else 10}, "constrain": "domain",
    }  # fmt: skip
    figure.update_xaxes(range=[-0.5, count - 0.5], showticklabels=False, constraintoward="left", **common)
    figure.update_yaxes(range=[count - 0.5, -0.5], showticklabels=named, constraintoward="top", scaleanchor="x", **common)
    return figure
