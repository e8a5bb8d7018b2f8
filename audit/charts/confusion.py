"""A confusion matrix: the labels of one rater against those of another, with totals; each cell can be clicked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import axis_of_names, clipped_names
from audit.charts.style import FAINT, INK, html, percent, styled
from audit.charts.transitions import CHANGED_COLOUR, SAME_COLOUR
from audit.stats.intervals import Floats

TOTAL = "total"
ROW_HEIGHT = 46
MAX_LEVEL_HEADS = 4
"""With more columns every second head is a line higher, because the names would touch in a narrow window."""


def confusion_figure(counts: pd.DataFrame, words: dict[str, str], rows: str, columns: str, unit: str = "items") -> go.Figure:
    """Rows are the labels by `rows`, columns those by `columns`; a cell has its count, the margins have totals.

    counts  one row and one column per label, in order
    words   label -> what a reader calls it

    Cells on the diagonal are of one colour and framed, others of another; a cell is the darker, the larger its share of its row.
    The `customdata` of a cell is its two labels, separated by a tab; a total's is empty.
    """
    labels = list(map(str, counts.index))
    heads = [html(words.get(label, label)) for label in labels]
    totals = np.pad(counts.to_numpy(dtype=float), (0, 1))
    totals[:, -1], totals[-1] = totals.sum(axis=1), totals.sum(axis=0)
    totals[-1, -1] = totals[:-1, -1].sum()
    places = [(row, column) for row in range(len(totals)) for column in range(len(totals))]
    cells = [_cell(totals, *place, labels, heads, (rows, columns), unit) for place in places]
    figure = go.Figure([_click_targets(cells)])
    figure.update_layout(shapes=[cell["shape"] for cell in cells if cell["shape"]])
    return _with_axes(figure, [*heads, TOTAL], *clipped_names([rows, columns]))


def _cell(
    totals: Floats, y: int, x: int, labels: Sequence[str], heads: Sequence[str], raters: tuple[str, str], unit: str
) -> dict[str, object]:
    count, of = float(totals[y, x]), float(totals[y, -1])
    total = len(labels) in (x, y)
    share = count / of if of else 0.0
    both = " and ".join(
        f"{html(rater)}: {heads[place]}" for rater, place in zip(raters, (y, x), strict=True) if place < len(labels)
    )
    hover = f"{both or 'all'}<br><b>{count:,.0f}</b> {unit}" + ("" if total else f", {percent(share)} of this row")
    return {
        "x": x, "y": y, "text": f"{count:,.0f}", "hover": hover, "colour": FAINT if total else INK,
        "data": "" if total else f"{labels[y]}\t{labels[x]}",
        "shape": None if total or not count else _square(x, y, share, x == y),
    }  # fmt: skip


def _square(x: int, y: int, share: float, same: bool) -> dict[str, object]:
    return {
        "type": "rect", "layer": "below", "x0": x - 0.48, "x1": x + 0.48, "y0": y - 0.46, "y1": y + 0.46,
        "fillcolor": SAME_COLOUR if same else CHANGED_COLOUR, "opacity": 0.25 + 0.75 * share,
        "line": {"color": INK, "width": 1.5 if same else 0},
    }  # fmt: skip


def _click_targets(cells: list[dict[str, object]]) -> go.Scatter:
    # Plotly reports clicks on points and not on shapes, so an invisible point covers every cell.
    return go.Scatter(
        x=[cell["x"] for cell in cells], y=[cell["y"] for cell in cells], mode="markers+text", showlegend=False,
        text=[cell["text"] for cell in cells], textposition="middle center",
        textfont={"size": 14, "color": [cell["colour"] for cell in cells]},
        marker={"symbol": "square", "size": 40, "opacity": 0}, customdata=[cell["data"] for cell in cells],
        hovertext=[cell["hover"] for cell in cells], hovertemplate="%{hovertext}<extra></extra>",
        unselected={"textfont": {"color": INK}},
    )  # fmt: skip


def _with_axes(figure: go.Figure, heads: list[str], rows: str, columns: str) -> go.Figure:
    common = {"showgrid": False, "ticks": "", "tickfont": {"size": 12}, "tickangle": 0, "zeroline": False}
    over = [f"{word}<br> " if len(heads) > MAX_LEVEL_HEADS and position % 2 else word for position, word in enumerate(heads)]
    end = len(heads) - 0.5
    figure.update_xaxes(
        title={"text": columns, "font": {"size": 13}}, side="top", range=[-0.5, end], **axis_of_names(over), **common
    )
    figure.update_yaxes(
        title={"text": rows, "font": {"size": 13}, "standoff": 12},
        range=[end, -0.5],
        **axis_of_names(heads),
        ticklabelstandoff=6,
        **common,
    )
    return styled(figure, 110 + ROW_HEIGHT * len(heads), margin={"l": 8, "r": 8, "t": 80, "b": 8}, hovermode="closest")
