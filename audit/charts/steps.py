"""The disagreeing pairs of one run, step by step to those of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import FAINT, INK, LABEL_COLOURS, clipped, html, percent, styled
from audit.number_format import signed
from audit.vocabulary import Label

HEARD, JUDGED, RUN = "#5f9fb8", LABEL_COLOURS[Label.DIVERGENT], "#9aa3ad"
"""For what is heard or silent (a hue of coverage), for what is judged otherwise (that of disagreement), and for the runs."""
BY_JUDGEMENT = "present in both"
ROW_HEIGHT = 44
HALF = 0.31
"""Half the height of a bar, in rows."""


@dataclass(frozen=True)
class Step:
    """One bar: its name, where it starts, how far it goes, its text at the end, its hover, and the ends of its interval."""

    name: str
    start: int
    change: int
    text: str
    hover: str
    colour: str
    ends: tuple[float, float] | None = None

    @property
    def end(self) -> int:
        """Where the next one starts."""
        return self.start + self.change


def change_steps(frame: pd.DataFrame, first: str, second: str, words: Mapping[str, str]) -> go.Figure:
    """A bar for either run, between them one for each part; the line across a part's end is the 95 % interval of its change.

    frame          one organ, columns of audit.metrics.runs_change
    first, second  what the runs are called
    words          part -> what its bar is called, in the order to draw
    """
    rows: dict[Any, dict[Any, Any]] = frame.set_index("part").to_dict("index")
    steps = [_run(first, rows["in all"], "first")]
    for part, name in words.items():
        steps.append(_part(name, rows[part], steps[-1].end, JUDGED if part == BY_JUDGEMENT else HEARD))
    return _drawn([*steps, _run(second, rows["in all"], "second")])


def _run(name: str, row: Mapping[Any, Any], side: str) -> Step:
    pairs = int(row[f"disagreeing_{side}"])
    hover = f"<b>{html(name)}</b><br>{pairs:,} disagreeing pairs, {percent(row[f'r_div_{side}'])} of the pairs present"
    return Step(f"<b>{clipped(name, 34)}</b>", 0, pairs, f"{pairs:,}", hover, RUN)


def _part(name: str, row: Mapping[Any, Any], start: int, colour: str) -> Step:
    change, ends = int(row["change"]), (float(row["change_low"]), float(row["change_high"]))
    known = not pd.isna(ends[0])
    within = f"{signed(ends[0], 0)} to {signed(ends[1], 0)}" if known else "too few questions"
    told = f"{row['pairs']:,} pairs: {row['disagreeing_first']:,} disagreed before, {row['disagreeing_second']:,} do now"
    hover = f"<b>{name}</b><br>{told}<br>95 % interval of the change: {within}"
    return Step(name, start, change, signed(change, 0), hover, colour, (start + ends[0], start + ends[1]) if known else None)


def _drawn(steps: list[Step]) -> go.Figure:
    places = list(range(len(steps)))
    figure = go.Figure(
        go.Bar(
            orientation="h", y=places, base=[step.start for step in steps], x=[step.change for step in steps], width=2 * HALF,
            marker={"color": [step.colour for step in steps]}, showlegend=False,
            hovertext=[step.hover for step in steps], hovertemplate="%{hovertext}<extra></extra>",
        )
    )  # fmt: skip
    for place, step in enumerate(steps):
        figure.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=10,
            y=place,
            text=f"<b>{step.text}</b>",
            showarrow=False,
            font={"size": 15, "color": INK},
        )
        if place + 1 < len(steps):
            line = {"color": FAINT, "width": 1}
            figure.add_shape(type="line", x0=step.end, x1=step.end, y0=place - HALF, y1=place + 1 + HALF, line=line)
        if step.ends:
            line = {"color": INK, "width": 2}
            figure.add_scatter(x=step.ends, y=[place] * 2, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    farthest = max([1.0, *(float(step.end) for step in steps), *(step.ends[1] for step in steps if step.ends)])
    figure.update_xaxes(range=[0, 1.02 * farthest], gridcolor="#e4e7eb", tickformat=",d", tickfont={"size": 12}, nticks=5)
    figure.update_yaxes(
        range=[len(steps) - 0.5, -0.5],
        tickvals=places,
        ticktext=[step.name for step in steps],
        showgrid=False,
        ticklabelstandoff=8,
    )
    return styled(figure, 48 + ROW_HEIGHT * len(steps), margin={"l": 8, "r": 84, "t": 8, "b": 8})
