"""A confusion matrix: the labels of one rater against those of another, with totals; each cell can be clicked."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import FAINT, INK, clipped, html, percent, styled
from audit.charts.transitions import CHANGED_COLOUR, SAME_COLOUR

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
    totals = counts.copy()
    totals[TOTAL] = totals.sum(axis=1)
    totals.loc[TOTAL] = totals.sum(axis=0)
    cells = [_cell(totals, row, column, words, (rows, columns), unit) for row in totals.index for column in totals.columns]
    figure = go.Figure([_click_targets(cells)])
    figure.update_layout(shapes=[cell["shape"] for cell in cells if cell["shape"]])
    heads = [words.get(str(label), str(label)) for label in totals.index]
    return _with_axes(figure, heads, rows, columns)


def _cell(
    totals: pd.DataFrame, row: str, column: str, words: dict[str, str], raters: tuple[str, str], unit: str
) -> dict[str, object]:
    count, of = (float(totals[name].to_dict()[row]) for name in (column, TOTAL))
    x, y = list(totals.columns).index(column), list(totals.index).index(row)
    total = TOTAL in (row, column)
    share = count / of if of else 0.0
    both = " and ".join(
        f"{html(rater)}: {words.get(label, label)}" for rater, label in zip(raters, (row, column), strict=True) if label != TOTAL
    )
    hover = f"{both or 'all'}<br><b>{count:,.0f}</b> {unit}" + ("" if total else f", {percent(share)} of this row")
    return {
        "x": x, "y": y, "text": f"{count:,.0f}", "hover": hover, "colour": FAINT if total else INK,
        "data": "" if total else f"{row}\t{column}", "shape": None if total or not count else _square(x, y, share, row == column),
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
    common = {"tickmode": "array", "showgrid": False, "ticks": "", "tickfont": {"size": 12}, "tickangle": 0}
    common |= {"tickvals": list(range(len(heads))), "zeroline": False}
    over = [f"{word}<br> " if len(heads) > MAX_LEVEL_HEADS and position % 2 else word for position, word in enumerate(heads)]
    end = len(heads) - 0.5
    figure.update_xaxes(
        title={"text": clipped(columns), "font": {"size": 13}}, side="top", range=[-0.5, end], ticktext=over, **common
    )
    figure.update_yaxes(
        title={"text": clipped(rows), "font": {"size": 13}, "standoff": 12},
        range=[end, -0.5],
        ticktext=heads,
        ticklabelstandoff=6,
        **common,
    )
    return styled(figure, 110 + ROW_HEIGHT * len(heads), margin={"l": 8, "r": 8, "t": 80, "b": 8}, hovermode="closest")
