"""Labels of pairs: all of a run as stacked bars, groups as a heatmap, one question as a matrix of its handbooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import axis_of_names, clipped_names
from audit.charts.style import (
    FAINT,
    INK,
    LABEL_COLOURS,
    LABEL_ORDER,
    LABEL_PATTERNS,
    LABEL_WORDS,
    UNSCORED,
    html,
    ink_on,
    percent,
    styled,
)
from audit.vocabulary import LABELS, Label

ALL = "All pairs"
# A segment narrower than this share has no room for a label; the table and the hover text show it.
MIN_LABELLED = 0.045
# The share of a bar that one letter takes on a narrow screen; a name that would be cut is left to the legend.
LETTER_WIDTH = 0.017

Segment = tuple[str, int, str, str]
"""Name, pairs, colour, pattern."""


def two_step_bar(prescreened: int, judged: Mapping[str, int], unscored: int) -> go.Figure:
    """All pairs in one bar, and below it the judged pairs enlarged, so pairs that were never judged stay separate.

    prescreened  pairs labelled ABSENT without asking the judge
    judged       label -> pairs that the judge gave this label
    unscored     pairs for which the judge gave no readable verdict
    """
    total_judged = sum(judged.values())
    rows: dict[str, list[Segment]] = {
        ALL: _steps(prescreened, total_judged, unscored),
        "Judged pairs": [_segment(label, judged.get(label, 0)) for label in LABELS],
    }
    bars = [(row, name, part) for row, name in enumerate(rows) for part in _placed(rows[name]) if part[0][1]]
    figure = go.Figure([_bar(*bar) for bar in bars])
    total = (prescreened + total_judged + unscored) or 1
    for top, bottom in ((prescreened / total, 0.0), ((prescreened + total_judged) / total, 1.0)):
        figure.add_shape(type="line", x0=top, y0=0.25, x1=bottom, y1=0.75, line={"color": "#9aa3ad", "width": 1, "dash": "dot"})
    figure.update_xaxes(range=[0, 1], visible=False)
    figure.update_yaxes(**axis_of_names(list(rows)), range=[1.5, -0.5], showgrid=False, tickfont={"size": 14})
    small_text = {"minsize": 12, "mode": "hide"}
    # A click on the legend would hide a label, and the bars would no longer add up to all pairs.
    # From the left edge of the figure, so on a phone it needs three rows and not six, which would be cut.
    position = {"x": 0, "xref": "container", "y": 0, "yref": "container", "yanchor": "bottom"}
    legend = {"orientation": "h", **position, "itemclick": False, "itemdoubleclick": False}
    margin = {"l": 8, "r": 8, "t": 8, "b": 84}
    return styled(figure, 290, barmode="overlay", bargap=0.45, margin=margin, legend=legend, uniformtext=small_text)


def _steps(prescreened: int, judged: int, unscored: int) -> list[Segment]:
    return [
        ("absent, without a judge", prescreened, LABEL_COLOURS[Label.ABSENT], ""),
        ("judged", judged, "#5b7083", ""),
        ("unscored", unscored, LABEL_COLOURS[UNSCORED], LABEL_PATTERNS[UNSCORED]),
    ]


def _segment(label: Label, pairs: int) -> Segment:
    name = f"judged {LABEL_WORDS[label]}" if label is Label.ABSENT else LABEL_WORDS[label]
    return name, pairs, LABEL_COLOURS[label], ""


def _placed(segments: Sequence[Segment]) -> list[tuple[Segment, float, float]]:
    total = sum(pairs for _, pairs, _, _ in segments) or 1
    placed, start = [], 0.0
    for segment in segments:
        share = segment[1] / total
        placed.append((segment, start, share))
        start += share
    return placed


def _bar(row: int, row_name: str, part: tuple[Segment, float, float]) -> go.Bar:
    (name, pairs, colour, pattern), start, share = part
    return go.Bar(
        name=name, showlegend=row_name != ALL or name == UNSCORED, y=[row], x=[share], base=[start], orientation="h", width=0.5,
        marker={
            "color": colour, "line": {"color": "#ffffff", "width": 1},
            "pattern": {"shape": pattern, "bgcolor": "#ffffff"},
        },
        text=_segment_label(name, share),
        textposition="inside", insidetextanchor="middle",
        textangle=0, textfont={"color": ink_on(colour), "size": 13},
        constraintext="none" if share > 0.12 else "both",
        hovertemplate=f"{name}: {pairs:,} pairs, {percent(share, 2)} of {row_name.lower()}<extra></extra>",
    )  # fmt: skip


def _segment_label(name: str, share: float) -> str:
    if share < MIN_LABELLED:
        return ""
    return f"{name}<br>{percent(share)}" if share > LETTER_WIDTH * len(name) else percent(share)


ROW_HEIGHT = 40


def share_heatmap(frame: pd.DataFrame, by: str, labels: Sequence[str], population: str) -> go.Figure:
    """Shares of `labels` among their own sum, row by row; `frame` has one count column per label, by its word.

    All columns have the same scale (deepest hue = 100 %), so equally deep cells in any columns mean equal shares. A row without
    any such pair is left blank, because no pairs is not a share of zero.
    """
    numbers = frame[[LABEL_WORDS[label] for label in labels]].set_axis(list(labels), axis=1)
    # A row without such pairs is divided by NaN, not by 0, and stays blank.
    total = numbers.sum(axis=1)
    shares = numbers.div(total.where(total > 0), axis=0)
    figure = go.Figure(_cells(list(frame[by]), list(labels), numbers, shares, population))
    columns = axis_of_names([LABEL_WORDS[label] for label in labels])
    figure.update_xaxes(**columns, range=[-0.5, len(labels) - 0.5], side="top", showgrid=False, tickfont={"size": 14}, ticks="")
    figure.update_yaxes(**axis_of_names(clipped_names(frame[by])), range=[len(frame) - 0.5, -0.5], showgrid=False, ticks="")
    return styled(figure, 60 + ROW_HEIGHT * len(frame), margin={"l": 8, "r": 8, "t": 40, "b": 8})


def _cells(rows: list[str], labels: list[str], pairs: pd.DataFrame, shares: pd.DataFrame, population: str) -> go.Heatmap:
    names, of_words = [LABEL_WORDS[label] for label in labels], html(population)
    hover = [
        [
            f"<b>{html(row)}</b><br>{name}: {n:,} pairs<br>{percent(s)} of {of_words}"
            for name, n, s in zip(names, ns, ss, strict=True)
        ]
        for row, ns, ss in zip(rows, pairs.to_numpy(), shares.to_numpy(), strict=True)
    ]
    return go.Heatmap(
        # 0.999: a share of 1 must not reach the colour of the next column, which begins at i + 1.
        x=list(range(len(names))), y=list(range(len(rows))),
        z=[[i + 0.999 * s for i, s in enumerate(line)] for line in shares.to_numpy()], zmin=0, zmax=len(labels),
        colorscale=_scale(labels), showscale=False, xgap=3, ygap=3, hoverongaps=False,
        text=[[percent(s) for s in line] for line in shares.to_numpy()], texttemplate="%{text}", textfont={"size": 14},
        hovertext=hover, hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip


def _scale(labels: list[str]) -> list[list[object]]:
    """One colour scale for all columns: column i uses the part from i to i + 1, from paper to the hue of its label."""
    ends = [((i / len(labels), "#fafbfc"), ((i + 0.9995) / len(labels), LABEL_COLOURS[label])) for i, label in enumerate(labels)]
    return [[position, colour] for pair in ends for position, colour in pair] + [[1.0, LABEL_COLOURS[labels[-1]]]]


SELF, SELF_COLOUR = "self", "#f4f5f6"
VALUES = (*LABEL_ORDER, SELF)
# Drawn in cells that are large enough, so colour is not the only sign of a disagreement.
SYMBOLS = {"CONTRADICTORY": "✕", "DIVERGENT": "≠", "unscored": "?"}
MAX_WITH_SYMBOLS, MAX_WITH_NAMES = 30, 45
"""Numbers of handbooks up to which cells show symbols, and rows show names."""
TARGET_SIDE_PX, MIN_CELL_PX, MAX_CELL_PX = 320, 6, 52
# With more handbooks than this only the lower triangle can be clicked, to keep the figure small.
MAX_BOTH_TRIANGLES = 60


def matrix_figure(
    cells: pd.DataFrame, names: dict[str, str], groups: pd.Series, opened: tuple[str, str] | None = None
) -> go.Figure:
    """A square of label colours; every cell of two answering handbooks can be clicked.

    cells   square frame of labels (audit.metrics.position_groups.matrix), rows and columns already in the order to draw
    names   handbook_id -> name
    groups  handbook_id -> number of its position group, missing for a handbook that does not answer; each group is framed
    opened  the two handbooks of the open pair; its cell is outlined

    Plotly reports no clicks on a heatmap, so a transparent square covers every cell. Its `customdata` is the index of the cell,
    counted along the rows from 0: divmod(index, len(cells)) is its row and column.
    """
    ids = list(cells.index)
    size = float(np.clip(TARGET_SIDE_PX / max(len(ids), 1), MIN_CELL_PX, MAX_CELL_PX))
    figure = go.Figure([_label_heatmap(cells, ids), *_legend(cells), _click_targets(cells, names, groups, size)])
    figure.update_layout(shapes=[*_group_frames(ids, groups), *_outline(ids, opened)])
    return _with_axes(figure, ids, names, size)


LEGEND_LINE, LEGEND_COLUMNS = 22, 2
"""Pixels of a line of the matrix's legend, and its entries beside each other on a phone."""


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


def _click_targets(cells: pd.DataFrame, names: Mapping[str, str], groups: pd.Series, size: float) -> go.Scatter:
    ids = list(cells.index)
    answering = np.flatnonzero(groups.reindex(ids).notna())
    rows, columns = (grid.ravel() for grid in np.meshgrid(answering, answering, indexing="ij"))
    clickable = rows != columns if len(answering) <= MAX_BOTH_TRIANGLES else rows > columns
    rows, columns = rows[clickable], columns[clickable]
    words = np.array([LABEL_WORDS.get(value, "") for value in cells.to_numpy()[rows, columns]])
    # The axis writes whole names where it is hidden: each is then sent once and not with every cell.
    full = [html(names.get(handbook, handbook)) for handbook in ids] if len(ids) <= MAX_WITH_NAMES else []
    return go.Scatter(
        x=columns, y=rows, mode="markers", showlegend=False, customdata=rows * len(ids) + columns, text=words,
        marker={"symbol": "square", "size": size, "opacity": 0},
        hovertext=[full[row] for row in rows] if full else None,
        hovertemplate=f"{'%{hovertext}' if full else '%{y}'}<br>%{{x}}<br><b>%{{text}}</b><extra></extra>",
        hoverlabel={"bgcolor": "#ffffff", "font": {"color": INK}},
    )  # fmt: skip


def _group_frames(ids: list[str], groups: pd.Series) -> list[dict[str, object]]:
    """A line around the block of each position group on the diagonal."""
    numbers = groups.reindex(ids)
    return [
        _square(indices[0], indices[0], indices[-1], indices[-1], 2.5)
        for group in numbers.dropna().unique()
        if len(indices := np.flatnonzero((numbers == group).fillna(False)))
    ]


def _outline(ids: list[str], opened: tuple[str, str] | None) -> list[dict[str, object]]:
    if not opened or not set(opened) <= set(ids):
        return []
    i, j = (ids.index(handbook) for handbook in opened)
    return [_square(x, y, x, y, 4.0) for x, y in ((i, j), (j, i))]


def _square(left: int, top: int, right: int, bottom: int, width: float) -> dict[str, object]:
    corners = {"x0": left - 0.5, "x1": right + 0.5, "y0": top - 0.5, "y1": bottom + 0.5}
    return {"type": "rect", **corners, "line": {"color": INK, "width": width}}


def _with_axes(figure: go.Figure, ids: list[str], names: dict[str, str], size: float) -> go.Figure:
    count = len(ids)
    named = count <= MAX_WITH_NAMES
    full = [names.get(handbook, handbook) for handbook in ids]
    whole = axis_of_names([html(name) for name in full])
    common = {
        "showgrid": False, "ticks": "", "tickfont": {"size": 12 if count <= 25 else 10}, "constrain": "domain",
    }  # fmt: skip
    xaxes = {"range": [-0.5, count - 0.5], "showticklabels": False, "constraintoward": "left", **whole, **common}
    shown = axis_of_names(clipped_names(full, 30)) if named else whole
    yaxes = {
        **shown, "range": [count - 0.5, -0.5], "showticklabels": named, "constraintoward": "top", "scaleanchor": "x", **common,
    }  # fmt: skip
    above = LEGEND_LINE * -(-sum(trace.name is not None for trace in figure.data) // LEGEND_COLUMNS) + 8
    # From the top of the figure down: upwards from the cells, its first lines would lie where a page cuts the caption off
    legend = {"y": 1, "yref": "container", "yanchor": "top"}
    height = int(size * count) + above + 24 + 22 * named
    return styled(figure, height, xaxes, yaxes, hovermode="closest", legend=legend, margin={"t": above})
