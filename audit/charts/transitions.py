"""Labels against labels: clickable matrices of two runs or two raters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import axis_of_names, clipped_names
from audit.charts.style import FAINT, INK, LABEL_WORDS, html, percent, styled
from audit.stats.intervals import Floats
from audit.tables import Row

STATE_WORDS = {
    "PRE-SCREENED": "pre-screened", **{label: words for label, words in LABEL_WORDS.items() if label.isupper()},
    "UNSCORED": "unscored", "NOT IN THE RUN": "not in the run",
}  # fmt: skip


def transitions_figure(cells: pd.DataFrame, first: str, second: str) -> go.Figure:
    """Rows are labels in the run called `first`, columns labels in `second`; a cell has its pairs and their share of the row.

    cells  first, second (states, both in the order to draw), pairs, share

    Rows and columns without any pair are left out. A cell's `customdata` is its two states, separated by a tab.
    """
    occurring = cells[cells["pairs"] > 0]
    rows, columns = (
        [state for state in dict.fromkeys(cells["first"]) if state in {*occurring[side]}] for side in ("first", "second")
    )
    shown = occurring.assign(row=occurring["first"].map(rows.index), column=occurring["second"].map(columns.index))
    records = shown.to_dict("records")
    figure = _clickable_cells(
        shown["column"],
        shown["row"],
        text=[f"{cell['pairs']:,}<br><span style='font-size:11px'>{percent(cell['share'])}</span>" for cell in records],
        hover=[_hover(cell, first, second) for cell in records],
        data=[f"{cell['first']}\t{cell['second']}" for cell in records],
        squares=[_square(cell["column"], cell["row"], cell["share"], cell["first"] == cell["second"]) for cell in records],
    )
    broken = [STATE_WORDS[state].replace(" ", "<br>", 1).replace("-", "-<br>", 1) for state in columns]
    of_first, of_second = clipped_names([first, second])
    titles = f"label in {of_first}", f"label in {of_second}"
    return _with_axes(figure, [STATE_WORDS[state] for state in rows], broken, titles, row_height=44, above=70)


def _hover(row: Row, first: str, second: str) -> str:
    states = f"{html(first)}: <b>{STATE_WORDS[row['first']]}</b><br>{html(second)}: <b>{STATE_WORDS[row['second']]}</b>"
    return f"{states}<br>{row['pairs']:,} pairs, {percent(row['share'])} of this row"


# -- a matrix of labels whose cells can be clicked --------------------------------------------------------------

# Behind cells with the same label twice, or with two; a frame shows the difference too.
SAME_COLOUR, CHANGED_COLOUR = "#cfe3f2", "#f7dcae"
LEVEL_LETTERS = 60
"""Of as many heads of the longest one's length as there are columns: what a window of 640 pixels has room for on one line."""


def _clickable_cells(
    x: Any, y: Any, *, text: list[str], hover: list[str], data: list[str], squares: list[dict[str, object]], colour: object = INK
) -> go.Figure:
    """Cells at columns `x` and rows `y`; `colour` is one for all texts, or a list."""
    # Plotly reports clicks on points and not on shapes, so an invisible point covers every cell.
    targets = go.Scatter(
        x=x, y=y, mode="markers+text", showlegend=False, text=text, textposition="middle center",
        textfont={"size": 14, "color": colour}, marker={"symbol": "square", "size": 40, "opacity": 0}, customdata=data,
        hovertext=hover, hovertemplate="%{hovertext}<extra></extra>", unselected={"textfont": {"color": INK}},
    )  # fmt: skip
    figure = go.Figure([targets])
    figure.update_layout(shapes=squares)
    return figure


def _square(x: int, y: int, share: float, same: bool) -> dict[str, object]:
    return {
        "type": "rect", "layer": "below", "x0": x - 0.48, "x1": x + 0.48, "y0": y - 0.46, "y1": y + 0.46,
        "fillcolor": SAME_COLOUR if same else CHANGED_COLOUR, "opacity": 0.25 + 0.75 * float(share),
        "line": {"color": INK, "width": 1.5 if same else 0},
    }  # fmt: skip


def _with_axes(
    figure: go.Figure,
    rows: list[str],
    columns: list[str],
    titles: tuple[str, str],
    *,
    row_height: int,
    above: int,
    **common: Any,
) -> go.Figure:
    """Heads that would touch in a narrow window are on two lines in turn."""
    common = {"showgrid": False, "ticks": "", "tickfont": {"size": 12}, "tickangle": 0, **common}
    longest = max((len(line) for head in columns for line in head.split("<br>")), default=0)
    lines = 2 if longest * len(columns) > LEVEL_LETTERS else 1
    over = [head + "<br> " * (place % lines) for place, head in enumerate(columns)]
    figure.update_xaxes(
        title={"text": titles[1], "font": {"size": 13}, "standoff": 2}, side="top", range=[-0.5, len(columns) - 0.5],
        **axis_of_names(over), **common,
    )  # fmt: skip
    figure.update_yaxes(
        title={"text": titles[0], "font": {"size": 13}, "standoff": 12}, range=[len(rows) - 0.5, -0.5],
        **axis_of_names(rows), ticklabelstandoff=6, **common,
    )  # fmt: skip
    height = 110 + row_height * max(len(rows), 2)
    return styled(figure, height, margin={"l": 8, "r": 8, "t": above, "b": 8}, hovermode="closest")


TOTAL = "total"


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
    inside = [len(labels) not in place for place in places]
    figure = _clickable_cells(
        [column for _, column in places], [row for row, _ in places], text=[f"{totals[place]:,.0f}" for place in places],
        hover=[_confused(totals, *place, heads, (rows, columns), unit) for place in places],
        data=[f"{labels[y]}\t{labels[x]}" if is_cell else "" for (y, x), is_cell in zip(places, inside, strict=True)],
        squares=[
            _square(x, y, totals[y, x] / totals[y, -1], x == y)
            for (y, x), is_cell in zip(places, inside, strict=True)
            if is_cell and totals[y, x]
        ],
        colour=[INK if is_cell else FAINT for is_cell in inside],
    )  # fmt: skip
    heads = [*heads, TOTAL]
    of_rows, of_columns = clipped_names([rows, columns])
    titles = of_rows, of_columns
    return _with_axes(figure, heads, heads, titles, row_height=46, above=80, zeroline=False)


def _confused(totals: Floats, y: int, x: int, heads: list[str], raters: tuple[str, str], unit: str) -> str:
    """What is said of a cell."""
    both = " and ".join(
        f"{html(rater)}: {heads[place]}" for rater, place in zip(raters, (y, x), strict=True) if place < len(heads)
    )
    words = f"{both or 'all'}<br><b>{totals[y, x]:,.0f}</b> {unit}"
    share = totals[y, x] / totals[y, -1] if totals[y, -1] else 0.0
    return words if len(heads) in (x, y) else f"{words}, {percent(share)} of this row"
