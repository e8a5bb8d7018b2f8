"""Changes between two runs: rates as dots in percentage points, and disagreeing pairs step by step (a waterfall chart)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import axis_of_names, clipped_names, names_of
from audit.charts.rates import DOT, Rate, interval_bars, with_rows
from audit.charts.style import FAINT, INK, LABEL_COLOURS, NO_VALUE, html, on_two_lines, panels, percent, styled
from audit.formatting import signed
from audit.tables import Row
from audit.vocabulary import Label

CLEAR_DIRECTIONS = ("rises", "falls")
"""Values of `moves` where the interval excludes 0; such a dot is filled."""


def points(change: float | None, digits: int = 1) -> str:
    """A change of a share in percentage points, `+1.2` or `-1.2` with a true minus sign; a dash where it is missing."""
    return NO_VALUE if change is None or pd.isna(change) else signed(100 * change, digits)


def points_interval(low: float | None, high: float | None) -> str:
    """`-1.2 to +0.4`; "" without an interval."""
    return "" if low is None or high is None or pd.isna(low) or pd.isna(high) else f"{points(low)} to {points(high)}"


def change_dots(frame: pd.DataFrame, by: str, rates: Sequence[Rate], overall: str, called: str = "") -> go.Figure:
    """One panel per rate and one row per `by`, in the order of the frame; dots are changes in points, lines their intervals.

    frame  the columns of audit.metrics.runs; `rate` is the column of a Rate; `by` tells groups apart, and `called` is the column
           with what a reader calls them (`by` itself where it is empty)

    Dots whose interval excludes 0 are filled. Each panel has its own scale, with 0 in the middle.
    """
    groups = names_of(frame, by, called)
    titles = [on_two_lines(rate.title) for rate in rates]
    figure = panels(len(rates), titles, 0.06)
    for column, rate in enumerate(rates, start=1):
        rows = frame[frame["rate"] == rate.column].set_index(by).reindex(list(groups)).reset_index()
        figure.add_trace(_change(rows, list(groups.values()), rate), row=1, col=column)
        # 0 is in the middle of every panel, so directions can be compared across them.
        limit = _half_width(rows)
        figure.update_xaxes(
            range=[-limit, limit], tickvals=[-limit / 1.25, 0, limit / 1.25], row=1, col=column,
            ticktext=[points(-limit / 1.25, 0), "0", points(limit / 1.25, 0)],
        )  # fmt: skip
        figure.add_vline(x=0, line={"color": FAINT, "width": 1.5}, row=1, col=column)
    return with_rows(figure, list(groups.values()), [group == overall for group in groups])


def _change(rows: pd.DataFrame, names: Sequence[str], rate: Rate) -> go.Scatter:
    change, low, high = (rows[f"change{end}"] for end in ("", "_low", "_high"))
    return go.Scatter(
        x=change, y=list(range(len(rows))), mode="markers", cliponaxis=False,
        marker={
            "size": DOT, "line": {"color": rate.colour, "width": 1.5},
            "color": [rate.colour if moves in CLEAR_DIRECTIONS else "#ffffff" for moves in rows["moves"]],
        },
        error_x=interval_bars(change, low, high, rate.colour),
        text=[_hover(row, name, rate) for row, name in zip(rows.to_dict("records"), names, strict=True)],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _hover(row: Row, name: str, rate: Rate) -> str:
    span = points_interval(row["change_low"], row["change_high"])
    sides = "<br>".join(
        f"{side}: {percent(row[side])} ({row[f'count_{side}']:,} of {row[f'of_{side}']:,} {rate.unit})"
        for side in ("first", "second")
    )
    within = f"95 % interval {span}" if span else "too few questions for an interval"
    return f"<b>{html(name)}</b><br>{rate.title}: {points(row['change'])} points<br>{within}<br>{sides}"


def _half_width(rows: pd.DataFrame) -> float:
    """Half the width of a panel: the farthest end of an interval, rounded up to the next step."""
    farthest = rows[["change", "change_low", "change_high"]].abs().max().max()
    needed = 0.01 if pd.isna(farthest) else max(float(farthest), 0.01)
    # A quarter beyond the outer ticks, so their texts are not cut.
    return 1.25 * next(step for step in (0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0) if needed <= 1.2 * step)


# For answers found or lost (the hue of coverage), for different verdicts (that of disagreement), and for the runs.
FOUND_COLOUR, JUDGED_COLOUR, RUN_COLOUR = "#5f9fb8", LABEL_COLOURS[Label.DIVERGENT], "#9aa3ad"
BY_JUDGEMENT = "present in both"
STEP_HEIGHT = 44
HALF_BAR = 0.31
"""Half the height of a bar, in rows."""


@dataclass(frozen=True)
class Step:
    """One bar: its name, start, length, text at the end, hover text, and the ends of its interval."""

    name: str
    start: int
    change: int
    text: str
    hover: str
    colour: str
    ends: tuple[float, float] | None = None

    @property
    def end(self) -> int:
        """Where the next bar starts."""
        return self.start + self.change


def change_steps(frame: pd.DataFrame, first: str, second: str, names: Mapping[str, str]) -> go.Figure:
    """A bar for each run and, between them, one for each cause; the line at its end is the 95 % interval of the change.

    frame          one organ, columns of audit.metrics.runs
    first, second  the names of the runs
    names          part -> name of its bar, in drawing order
    """
    rows: Mapping[Any, Row] = frame.set_index("part").to_dict("index")
    texts = clipped_names([first, second], 34)
    steps = [_run_step(first, texts[0], rows["in all"], "first")]
    for part, name in names.items():
        steps.append(_part_step(name, rows[part], steps[-1].end, JUDGED_COLOUR if part == BY_JUDGEMENT else FOUND_COLOUR))
    return _steps_figure([*steps, _run_step(second, texts[1], rows["in all"], "second")])


def _run_step(name: str, text: str, row: Row, side: str) -> Step:
    pairs = int(row[f"disagreeing_{side}"])
    hover = f"<b>{html(name)}</b><br>{pairs:,} disagreeing pairs, {percent(row[f'r_div_{side}'])} of the pairs present"
    return Step(f"<b>{text}</b>", 0, pairs, f"{pairs:,}", hover, RUN_COLOUR)


def _part_step(name: str, row: Row, start: int, colour: str) -> Step:
    change, ends = int(row["change"]), (float(row["change_low"]), float(row["change_high"]))
    known = not pd.isna(ends[0])
    within = f"{signed(ends[0], 0)} to {signed(ends[1], 0)}" if known else "too few questions"
    detail = f"{row['pairs']:,} pairs: {row['disagreeing_first']:,} disagreed before, {row['disagreeing_second']:,} do now"
    hover = f"<b>{name}</b><br>{detail}<br>95 % interval of the change: {within}"
    return Step(name, start, change, signed(change, 0), hover, colour, (start + ends[0], start + ends[1]) if known else None)


def _steps_figure(steps: list[Step]) -> go.Figure:
    rows = list(range(len(steps)))
    figure = go.Figure(
        go.Bar(
            orientation="h", y=rows, base=[step.start for step in steps], x=[step.change for step in steps], width=2 * HALF_BAR,
            marker={"color": [step.colour for step in steps]}, showlegend=False,
            hovertext=[step.hover for step in steps], hovertemplate="%{hovertext}<extra></extra>",
        )
    )  # fmt: skip
    for row, step in enumerate(steps):
        figure.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=10, y=row, text=f"<b>{step.text}</b>", showarrow=False,
            font={"size": 15, "color": INK},
        )  # fmt: skip
        if row + 1 < len(steps):
            line = {"color": FAINT, "width": 1}
            figure.add_shape(type="line", x0=step.end, x1=step.end, y0=row - HALF_BAR, y1=row + 1 + HALF_BAR, line=line)
        if step.ends:
            line = {"color": INK, "width": 2}
            figure.add_scatter(x=step.ends, y=[row] * 2, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    farthest = max([1.0, *(float(step.end) for step in steps), *(step.ends[1] for step in steps if step.ends)])
    figure.update_xaxes(range=[0, 1.02 * farthest], gridcolor="#e4e7eb", tickformat=",d", tickfont={"size": 12}, nticks=5)
    figure.update_yaxes(
        **axis_of_names([step.name for step in steps]), range=[len(steps) - 0.5, -0.5], showgrid=False, ticklabelstandoff=8
    )
    return styled(figure, 48 + STEP_HEIGHT * len(steps), margin={"l": 8, "r": 84, "t": 8, "b": 8})
