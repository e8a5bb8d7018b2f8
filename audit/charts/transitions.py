"""What one run says of each pair against what another says of it: a matrix in label order, whose cells can be clicked."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import INK, LABEL_WORDS, clipped, html, percent, styled

STATE_WORDS = {
    "PRE-SCREENED": "pre-screened", **{label: words for label, words in LABEL_WORDS.items() if label.isupper()},
    "UNSCORED": "unscored", "NOT IN THE RUN": "not in the run",
}  # fmt: skip
STAYED, MOVED = "#cfe3f2", "#f7dcae"
"""Behind a cell that says the same twice, and behind one that does not: told apart by the frame too."""
ROW_HEIGHT = 44
MANY = 5
"""The names of more columns would touch each other in a narrow window: every second one stands a line higher."""


def transitions_figure(cells: pd.DataFrame, first: str, second: str) -> go.Figure:
    """Rows are what the run called `first` says, columns what `second` says; a cell holds its pairs and their share of the row.

    cells  first, second (states, both in the order to draw), pairs, share

    A row or column without any pair is left out. A cell's `customdata` is its two states, with a tab between.
    """
    held = cells[cells["pairs"] > 0]
    rows, columns = ([state for state in dict.fromkeys(cells["first"]) if state in {*held[side]}] for side in ("first", "second"))
    shown = held.assign(row=held["first"].map(rows.index), column=held["second"].map(columns.index))
    figure = go.Figure([_buttons(shown, first, second)])
    figure.update_layout(shapes=[_square(cell) for cell in shown.to_dict("records")])
    return _laid_out(figure, [STATE_WORDS[state] for state in rows], [STATE_WORDS[state] for state in columns], first, second)


def _square(cell: dict[Any, Any]) -> dict[str, Any]:
    stays = cell["first"] == cell["second"]
    corners = {"x0": cell["column"] - 0.48, "x1": cell["column"] + 0.48, "y0": cell["row"] - 0.46, "y1": cell["row"] + 0.46}
    strength = 0.25 + 0.75 * float(cell["share"])
    return {
        "type": "rect", "layer": "below", **corners, "fillcolor": STAYED if stays else MOVED, "opacity": strength,
        "line": {"color": INK, "width": 1.5 if stays else 0},
    }  # fmt: skip


def _buttons(shown: pd.DataFrame, first: str, second: str) -> go.Scatter:
    rows = shown.to_dict("records")
    return go.Scatter(
        x=shown["column"], y=shown["row"], mode="markers+text", showlegend=False,
        text=[f"{row['pairs']:,}<br><span style='font-size:11px'>{percent(row['share'])}</span>" for row in rows],
        textposition="middle center", textfont={"size": 14, "color": INK},
        marker={"symbol": "square", "size": 40, "opacity": 0},
        customdata=[f"{row['first']}\t{row['second']}" for row in rows],
        hovertext=[_hover(row, first, second) for row in rows], hovertemplate="%{hovertext}<extra></extra>",
        unselected={"textfont": {"color": INK}},
    )  # fmt: skip


def _hover(row: dict[Any, Any], first: str, second: str) -> str:
    said = f"{html(first)}: <b>{STATE_WORDS[row['first']]}</b><br>{html(second)}: <b>{STATE_WORDS[row['second']]}</b>"
    return f"{said}<br>{row['pairs']:,} pairs, {percent(row['share'])} of this row"


def _laid_out(figure: go.Figure, rows: list[str], columns: list[str], first: str, second: str) -> go.Figure:
    common = {"tickmode": "array", "showgrid": False, "ticks": "", "tickfont": {"size": 12}, "tickangle": 0}
    broken = [word.replace(" ", "<br>", 1).replace("-", "-<br>", 1) for word in columns]
    over = [f"{word}<br> " if len(columns) > MANY and place % 2 else word for place, word in enumerate(broken)]
    figure.update_xaxes(
        title={"text": f"{clipped(second)} says", "font": {"size": 13}}, side="top", range=[-0.5, len(columns) - 0.5],
        tickvals=list(range(len(columns))), ticktext=over, **common,
    )  # fmt: skip
    figure.update_yaxes(
        title={"text": f"{clipped(first)} says", "font": {"size": 13}, "standoff": 12}, range=[len(rows) - 0.5, -0.5],
        tickvals=list(range(len(rows))), ticktext=rows, ticklabelstandoff=6, **common,
    )  # fmt: skip
    return styled(figure, 110 + ROW_HEIGHT * max(len(rows), 2), margin={"l": 8, "r": 8, "t": 70, "b": 8}, hovermode="closest")
