"""Shares with their intervals, as dots and lines; the four rates of the audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import MAX_LENGTH, axis_of_names, clipped_names, names_of
from audit.charts.style import (
    ACCENT,
    FAINT,
    LABEL_COLOURS,
    SEVERE,
    coefficient,
    coefficient_interval,
    html,
    interval,
    on_two_lines,
    panels,
    percent,
    percent_ticks,
    set_axes,
    styled,
)
from audit.tables import Row
from audit.terms import RATE_TITLES
from audit.vocabulary import Label

ROW_HEIGHT = 30
# The end of a scale to 1, so a dot at 1 is not cut.
FULL_SCALE = 1.02
INDEX_TICKS = (0.0, 0.5, 1.0)
MAX_SPACED_PANELS = 4
"""More panels than these get smaller gaps."""
# Pixels: a dot, and half of the bar at each end of its interval, which stays visible where the dot covers a short interval.
DOT, CAP = 7, 5


@dataclass(frozen=True)
class Rate:
    """One share of a frame: columns `column`, `column_low`, `column_high`, and its denominator, column `of`.

    index  it is a mean between 0 and 1 but not a share: drawn with decimals on the full scale, not in percent
    """

    column: str
    title: str
    of: str
    unit: str = "pairs"
    colour: str = ACCENT
    index: bool = False

    def text(self, value: float | None) -> str:
        """`12.3 %`, or `0.12` for an index; a dash where it is unknown."""
        return coefficient(value) if self.index else percent(value)

    def interval_text(self, low: float | None, high: float | None) -> str:
        """Its interval in the same format; "" without one."""
        return interval(low, high) if not self.index else "" if pd.isna(low) else coefficient_interval(low, high)


def rate_dots(
    frame: pd.DataFrame, by: str, rates: Sequence[Rate], overall: str | None = None, opens: str | None = None, called: str = ""
) -> go.Figure:
    """One panel per rate and one row per `by`, in the order of the frame; a dashed line marks the row `overall`.

    `by` tells rows apart, and `called` is the column with what a reader calls them (`by` itself where it is empty).

    Each panel has its own scale from 0: read along a row for one group, and down a panel to compare groups. An index has the
    scale from 0 to 1.

    opens  the column with the id of each row: a dot's `customdata` is then that id and the column of its rate, for a click
    """
    titles = [on_two_lines(rate.title) for rate in rates]
    figure = panels(len(rates), titles, _panel_gap(len(rates)))
    names = list(map(names_of(frame, by, called).__getitem__, frame[by]))
    for column, rate in enumerate(rates, start=1):
        figure.add_trace(_dots(frame, names, rate, opens), row=1, col=column)
        _mark_overall(figure, frame, by, rate, overall, column)
        scale = {"range": [0, _top(frame, rate)], **_scale(frame, rate)}
        set_axes(figure, figure.select_xaxes(row=1, col=column), scale)
    return with_rows(figure, names, [key == overall for key in frame[by]])


def with_rows(figure: go.Figure, names: Sequence[str], bold: Sequence[bool] = (), letters: int = MAX_LENGTH) -> go.Figure:
    """The figure, panels side by side, laid out with one row per name, at the heights 0, 1, 2 and so on; some may be bold."""
    texts = clipped_names(names, letters)
    rows = [f"<b>{text}</b>" if is_bold else text for text, is_bold in zip(texts, bold, strict=True)] if bold else texts
    xaxes = {"tickangle": 0, "tickfont": {"size": 12}, "gridcolor": "#e4e7eb"}
    yaxes = {
        **axis_of_names(rows), "range": [len(rows) - 0.4, -0.6], "ticklabelstandoff": 8, "showgrid": True, "gridcolor": "#f3f4f6",
    }  # fmt: skip
    return styled(figure, 96 + ROW_HEIGHT * len(rows), xaxes, yaxes, showlegend=False, margin={"l": 8, "r": 24, "t": 52, "b": 8})


def _panel_gap(how_many: int) -> float:
    """The gap between two panels as a share of the width, with room for the ends of their scales."""
    return 0.08 if how_many < MAX_SPACED_PANELS else 0.1 if how_many == MAX_SPACED_PANELS else 0.07


def _dots(frame: pd.DataFrame, names: Sequence[str], rate: Rate, opens: str | None) -> go.Scatter:
    share, low, high = (frame[rate.column + end] for end in ("", "_low", "_high"))
    return go.Scatter(
        # Not clipped, so a dot at 0 is drawn whole.
        x=share, y=list(range(len(frame))), mode="markers", cliponaxis=False, marker={"color": rate.colour, "size": DOT},
        error_x=interval_bars(share, low, high, rate.colour),
        text=[_hover(row, name, rate) for row, name in zip(frame.to_dict("records"), names, strict=True)],
        hovertemplate="%{text}<extra></extra>",
        customdata=None if opens is None else [[name, rate.column] for name in frame[opens]],
        # Plotly fades whatever was not clicked; here a click opens another page and selects nothing.
        unselected={"marker": {"opacity": 1}},
    )  # fmt: skip


def interval_bars(middle: pd.Series, low: pd.Series, high: pd.Series, colour: str) -> dict[str, object]:
    """Plotly's settings for the line of an interval through its dot, with a bar at each end."""
    ends = {"array": high - middle, "arrayminus": middle - low}
    return {"type": "data", "symmetric": False, **ends, "color": colour, "thickness": 1.5, "width": CAP}


def _hover(row: Row, name: str, rate: Rate) -> str:
    span = rate.interval_text(row[f"{rate.column}_low"], row[f"{rate.column}_high"])
    within = f"<br>95 % interval {span}" if span else ""
    share = f"{rate.title}: {rate.text(row[rate.column])}{within}"
    return f"<b>{html(name)}</b><br>{share}<br>of {row[rate.of]:,} {rate.unit}"


def _mark_overall(figure: go.Figure, frame: pd.DataFrame, by: str, rate: Rate, overall: str | None, column: int) -> None:
    value = frame.loc[frame[by] == overall, rate.column]
    if len(value) and pd.notna(value.iloc[0]):
        figure.add_vline(x=value.iloc[0], line={"color": FAINT, "width": 1, "dash": "dash"}, row=1, col=column)


def _scale(frame: pd.DataFrame, rate: Rate) -> dict[str, list[object]]:
    if not rate.index:
        return percent_ticks(_ticks(frame, rate))
    return {"tickvals": list(INDEX_TICKS), "ticktext": [coefficient(tick) for tick in INDEX_TICKS]}


def _ticks(frame: pd.DataFrame, rate: Rate) -> list[float]:
    top = _top(frame, rate)
    # At most two ticks above 0, whose texts do not touch in a narrow panel.
    step = next(step for step in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5) if top / step <= 2.6)
    return [i * step for i in range(int(top / step + 1e-9) + 1)]


def _top(frame: pd.DataFrame, rate: Rate) -> float:
    if rate.index:
        return FULL_SCALE
    highest = frame[[rate.column, f"{rate.column}_high"]].max().max()
    # A little beyond the highest end, whose bar must not be cut; to 2 % at least, or tiny shares would look large.
    return 1.0 if pd.isna(highest) else min(FULL_SCALE, max(0.02, float(highest) * 1.08))


BOTH_ANSWER = "pairs in which both answer"
NOT_ADDRESSED_RATE = Rate("r_abs", RATE_TITLES["r_abs"], "scored", "pairs with a verdict", "#6b7280")
DISAGREEMENT_RATE = Rate("r_div", RATE_TITLES["r_div"], "present", BOTH_ANSWER, "#c77700")
SAME_ADVICE_RATE = Rate("r_con", RATE_TITLES["r_con"], "present", BOTH_ANSWER, LABEL_COLOURS[Label.CONSISTENT])
ANY_DISAGREEMENT_RATE = Rate("pct_any_div", RATE_TITLES["pct_any_div"], "questions_scored", "questions", SEVERE)
AUDIT_RATES = (NOT_ADDRESSED_RATE, DISAGREEMENT_RATE, SAME_ADVICE_RATE, ANY_DISAGREEMENT_RATE)
"""The four rates of the audit, in the order and under the names that every page and every export uses."""
