"""Figures laid out for a phone: of one row per name, names above their rows, at most two panels in a line; of curves, narrower.

Beside its rows, a column of long names takes a phone's whole width.
"""

from __future__ import annotations

from textwrap import wrap

import plotly.graph_objects as go

from audit.charts.style import set_axes

ROWS_OF_NAMES = ("bar", "scatter")
COLUMNS = 2
TITLE_LETTERS = 32
"""Of a line of words below a scale."""
NAME_HEIGHT = 16
"""Pixels that a row grows by for the name above it."""
BETWEEN_LINES = 84
"""Pixels between two lines of panels: the scale of the upper ones and the titles of the lower ones."""
NAME_SHIFT = 3
"""Pixels by which a name is above the middle of its row, clear of its dot and its interval."""
WIDEST = 0.65
"""Part of its row that a bar with a width of its own may take."""
LEFT = 18
"""Pixels at the left, for half of the first text of a scale."""
LEGEND_LINE = 22
PANEL = 0.43
"""Width of one of two panels, as a share; the rest keeps the ends of their scales apart."""
BAR_SHARE = 0.4
"""Height of a bar as a share of its row, so that the name fits above it."""


def narrowed(figure: go.Figure) -> go.Figure | None:
    """The figure as narrow as a phone, which is changed; None where it has to keep its width."""
    if is_curves(figure):
        return narrow_curves(figure)
    return for_a_phone(figure) if is_rows_of_names(figure) else None


def is_curves(figure: go.Figure) -> bool:
    """Whether it is lines over one scale, which may be as narrow as a phone; what stands beside them are numbers, no names."""
    are_lines = [trace.type == "scatter" and "lines" in (trace.mode or "") for trace in figure.data]
    beside_marks = any(are_lines) and not _names(figure) and all(trace.type == "scatter" for trace in figure.data)
    return (all(are_lines) or beside_marks) and {trace.xaxis or "x" for trace in figure.data} == {"x"}


def narrow_curves(figure: go.Figure) -> go.Figure:
    """The figure of curves, which is changed: higher by the lines of its legend, the words of its scale in short lines."""
    room = _legend_room(figure)
    for scale in figure.select_xaxes():
        scale.update(title_text="<br>".join(wrap(scale.title.text or "", TITLE_LETTERS)), automargin=True)
    return figure.update_layout(height=figure.layout.height + room, margin={"t": (figure.layout.margin.t or 0) + room})


def is_rows_of_names(figure: go.Figure) -> bool:
    """Whether `for_a_phone` can lay it out: it has bars or dots, in rows that have names and room for them."""
    # Wider bars, such as the cells of coverage, fill their rows, and names would be drawn over them
    fits = all(trace.type in ROWS_OF_NAMES and (getattr(trace, "width", None) or 0) <= WIDEST for trace in figure.data)
    # A matrix has names above its columns too, and cells that fill its rows
    has_scale = figure.layout.xaxis.visible is not False and figure.layout.xaxis.side != "top"
    return fits and len(_names(figure)) > 0 and has_scale


def for_a_phone(figure: go.Figure) -> go.Figure:
    """The figure, which is changed."""
    drawn = {trace.xaxis or "x" for trace in figure.data}
    for empty in (axis for axis in figure.select_xaxes() if axis.plotly_name.replace("axis", "") not in drawn):
        empty.visible = _rows_of(figure, empty).visible = False
    panels = sorted((axis for axis in figure.select_xaxes() if axis.visible is not False), key=lambda axis: _place(figure, axis))
    before = figure.layout.height - (figure.layout.margin.t or 0) - (figure.layout.margin.b or 0)
    low, high = figure.layout.yaxis.domain or (0.0, 1.0)
    inner = (high - low) * before + NAME_HEIGHT * len(_names(figure))
    _names_above(figure, inner / len(_names(figure)))
    lines = -(-len(panels) // COLUMNS)
    if len(panels) > COLUMNS:
        _in_lines(figure, panels, lines, inner)
    total, room = lines * inner + (lines - 1) * BETWEEN_LINES, _legend_room(figure)
    return figure.update_layout(height=figure.layout.height - before + total + room, margin={"t": figure.layout.margin.t + room})


def _rows_of(figure: go.Figure, panel: go.layout.XAxis) -> go.layout.YAxis:
    return figure.layout[panel.anchor.replace("y", "yaxis") if panel.anchor else "yaxis"]


def _place(figure: go.Figure, panel: go.layout.XAxis) -> tuple[float, float]:
    """Sorts panels as they are read: line by line, each from the left."""
    top, left = (_rows_of(figure, panel).domain or (0.0, 1.0))[1], (panel.domain or (0.0, 1.0))[0]
    return -round(top, 6), left


def _legend_room(figure: go.Figure) -> int:
    """Pixels for a legend above the panels, of which a phone shows one entry in a line."""
    entries = [trace for trace in figure.data if trace.name and trace.showlegend is not False]
    is_above = figure.layout.showlegend is not False and (figure.layout.legend.y or 0) >= 1
    return LEGEND_LINE * (len(entries) - 1) if is_above and len(entries) > 1 else 0


def _names(figure: go.Figure) -> tuple[str, ...]:
    return tuple(figure.layout.yaxis.ticktext or ())


def _names_above(figure: go.Figure, row_height: float) -> None:
    is_bars = any(trace.type == "bar" for trace in figure.data)
    shift = round(BAR_SHARE * row_height / 2) if is_bars else NAME_SHIFT
    above = {
        "ticklabelposition": "inside top", "ticklabelshift": shift, "ticklabelstandoff": 0, "ticklabeloverflow": "allow",
        "automargin": False, "tickfont": {"size": 13},
    }  # fmt: skip
    set_axes(figure, figure.select_yaxes(), above)
    for bars in (trace for trace in figure.data if getattr(trace, "width", None)):
        bars.width = BAR_SHARE
    figure.update_layout(bargap=1 - BAR_SHARE, margin={"l": LEFT})


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
