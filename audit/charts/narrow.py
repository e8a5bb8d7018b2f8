"""Figures laid out for a phone: names above their rows, at most two panels in a line, heads of columns upright, words in lines.

Beside its rows, a column of long names takes a phone's whole width.
"""

from __future__ import annotations

from textwrap import wrap

import numpy as np
import plotly.graph_objects as go

from audit.charts.captions import width_of
from audit.charts.style import set_axes

ROWS_OF_NAMES = ("bar", "scatter")
"""Kinds of traces whose rows may be lower than they are: a heat map's cells fill theirs."""
COLUMNS = 2
TITLE_LETTERS, HEADING_LETTERS, HEAD_LETTERS = 32, 34, 24
"""Letters of a line of words below a scale, of a line above bars or cells, and of all heads of columns beside each other."""
NAME_HEIGHT, NAME_GAP, NAME_SHIFT = 16, 20, 3
"""Pixels: what a row grows by for the name above it, what is free between two rows of bars or cells, and how far the name is
above the middle of a row of dots, clear of its interval."""
BETWEEN_LINES = 84
"""Pixels between two lines of panels: the scale of the upper ones and the titles of the lower ones."""
LEFT = 18
"""Pixels at the left, for half of the first text of a scale."""
LETTER, LINE, LEGEND_LINE, LEGEND_WIDTH, SYMBOL = 7, 18, 22, 250, 42
"""Pixels: a letter of an upright head, a line of words, a line of the legend, its width, the symbol of an entry and its room."""
CELL_TEXT = "11px", "9px"
"""Size of the second line of a cell, and the one that replaces it."""
PANEL = 0.43
"""Width of one of two panels, as a share; the rest keeps the ends of their scales apart."""
BAR_SHARE = 0.4
"""Height of a bar as a share of its row, so that the name fits above it."""


def narrowed(figure: go.Figure) -> go.Figure:
    """The figure as narrow as a phone, which is changed."""
    return for_a_phone(figure) if is_rows_of_names(figure) else in_short_lines(figure)


def is_rows_of_names(figure: go.Figure) -> bool:
    """Whether `for_a_phone` can lay it out: it has bars, dots or cells in rows that have names."""
    return all(trace.type in ROWS_OF_NAMES for trace in figure.data) and len(_names(figure)) > 0


def in_short_lines(figure: go.Figure) -> go.Figure:
    """The figure, which is changed: the words of its scales and of its left edge in lines as short as a phone's."""
    room, layout = _legend_room(figure), figure.layout
    for scale in figure.select_xaxes():
        scale.update(title_text="<br>".join(wrap(scale.title.text or "", TITLE_LETTERS)), automargin=True)
    for heading in (note for note in layout.annotations if note.xref == "paper" and note.xanchor == "left"):
        before, whole = heading.text.count("<br>"), heading.text.split("<br>")
        heading.text = "<br>".join("<br>".join(wrap(line, HEADING_LETTERS)) for line in whole)
        layout.height += LINE * (heading.text.count("<br>") - before)
    return figure.update_layout(height=(layout.height or 450) + room, margin={"t": (layout.margin.t or 0) + room})


def for_a_phone(figure: go.Figure) -> go.Figure:
    """The figure, which is changed."""
    drawn = {(trace.xaxis or "x").replace("x", "xaxis") for trace in figure.data}
    for empty in (axis for axis in figure.select_xaxes() if axis.plotly_name not in drawn):
        empty.visible = _rows_of(figure, empty).visible = False
    panels = sorted((axis for axis in figure.select_xaxes() if axis.plotly_name in drawn), key=lambda axis: _place(figure, axis))
    _upright_heads(figure)
    before = figure.layout.height - (figure.layout.margin.t or 0) - (figure.layout.margin.b or 0)
    low, high = figure.layout.yaxis.domain or (0.0, 1.0)
    inner = (high - low) * before + NAME_HEIGHT * len(_names(figure))
    inner += _names_above(figure, inner / abs(np.subtract(*figure.layout.yaxis.range or (0, len(_names(figure))))))
    lines = -(-len(panels) // COLUMNS)
    if len(panels) > COLUMNS:
        _in_lines(figure, panels, lines, inner)
    total, room = lines * inner + (lines - 1) * BETWEEN_LINES, _legend_room(figure)
    return figure.update_layout(height=figure.layout.height - before + total + room, margin={"t": figure.layout.margin.t + room})


def _upright_heads(figure: go.Figure) -> None:
    """Heads of columns above the cells, where they have no room beside each other."""
    columns, rows = figure.layout.xaxis, figure.layout.yaxis
    heads = [" ".join(text.replace("-<br>", "-").replace("<br>", " ").split()) for text in columns.ticktext or ()]
    if columns.side == "top" and sum(map(len, heads)) > HEAD_LETTERS:
        columns.update(ticktext=heads, tickangle=-90, ticklabelstandoff=4, automargin=False)
        titles = [f"{kind}: {axis.title.text}" for kind, axis in (("rows", rows), ("columns", columns)) if axis.title.text]
        lines = [line for title in titles for line in wrap(title, HEADING_LETTERS)]
        heads_px = LETTER * max(map(len, heads)) + 4
        above = heads_px + LINE * len(lines)
        figure.add_annotation(
            text="<br>".join(lines), x=0, xref="paper", xanchor="left", y=1, yref="paper", yanchor="bottom", yshift=heads_px,
            align="left", showarrow=False, font={"size": 13},
        )  # fmt: skip
        rows.title.text = columns.title.text = None
        figure.update_layout(height=figure.layout.height + above - (figure.layout.margin.t or 0), margin={"t": above})


def _rows_of(figure: go.Figure, panel: go.layout.XAxis) -> go.layout.YAxis:
    return figure.layout[panel.anchor.replace("y", "yaxis") if panel.anchor else "yaxis"]


def _place(figure: go.Figure, panel: go.layout.XAxis) -> tuple[float, float]:
    """Sorts panels as they are read: line by line, each from the left."""
    top, left = (_rows_of(figure, panel).domain or (0.0, 1.0))[1], (panel.domain or (0.0, 1.0))[0]
    return -round(top, 6), left


def _legend_room(figure: go.Figure) -> int:
    """Pixels for the further lines of a legend above the panels; its entries are as wide as the widest."""
    entries = [trace for trace in figure.data if trace.name and trace.showlegend is not False]
    if figure.layout.showlegend is False or (figure.layout.legend.y or 0) < 1 or not entries:
        return 0
    in_a_line = max(1, int(LEGEND_WIDTH // (max(width_of(trace.name, 12) for trace in entries) + SYMBOL)))
    return LEGEND_LINE * (-(-len(entries) // in_a_line) - 1)


def _names(figure: go.Figure) -> tuple[str, ...]:
    return tuple(figure.layout.yaxis.ticktext or ())


def _names_above(figure: go.Figure, row_height: float) -> float:
    """Write each name above its row, and make room between the rows; the pixels that the first one needs above it."""
    cells, most = figure.layout.shapes if figure.layout.xaxis.side == "top" else (), 1 - NAME_GAP / row_height
    bars = [trace for trace in figure.data if trace.type == "bar"]
    for one in (trace for trace in bars if trace.width):
        one.width = np.minimum(one.width, most)
    widths = [np.max(one.width) for one in bars if one.width is not None] or [BAR_SHARE]
    for cell in cells:
        middle = (cell.y0 + cell.y1) / 2
        cell.update(y0=middle - most / 2, y1=middle + most / 2)
    for texts in (trace for trace in figure.data if cells and trace.text is not None):
        texts.update(text=[text.replace(*CELL_TEXT) for text in texts.text], textfont={"size": 12})
    thick = most if cells else max(widths)
    shift = round(thick * row_height / 2) if bars or cells else NAME_SHIFT
    above = {
        "ticklabelposition": "inside top", "ticklabelshift": shift, "ticklabelstandoff": 0, "ticklabeloverflow": "allow",
        "automargin": False, "tickfont": {"size": 13},
    }  # fmt: skip
    set_axes(figure, figure.select_yaxes(), above)
    figure.update_layout(bargap=1 - BAR_SHARE, margin={"l": 4 if cells else LEFT})
    if figure.layout.xaxis.side != "top" or not figure.layout.yaxis.range:
        return 0.0
    below, first = figure.layout.yaxis.range
    higher = max(0.0, NAME_HEIGHT - row_height * float(-first - thick / 2))
    figure.layout.yaxis.range = (below, first - higher / row_height)
    return higher


def _in_lines(figure: go.Figure, panels: list[go.layout.XAxis], lines: int, inner: float) -> None:
    """Panels that were side by side, two in a line, each with its title."""
    total = lines * inner + (lines - 1) * BETWEEN_LINES
    notes = (note for note in figure.layout.annotations if note.yref == "paper")
    titles = sorted(notes, key=lambda note: (-note.y, note.x))
    for number, panel in enumerate(panels):
        line, column = divmod(number, COLUMNS)
        top = 1 - line * (inner + BETWEEN_LINES) / total
        left, right = column * (1 - PANEL), column * (1 - PANEL) + PANEL
        rows = _rows_of(figure, panel)
        panel.domain, rows.domain = (left, right), (max(0.0, top - inner / total), top)
        rows.showticklabels = column == 0  # beside the second panel of a line, names would leave the picture
        if number < len(titles):
            titles[number].update(x=(left + right) / 2, y=top)
