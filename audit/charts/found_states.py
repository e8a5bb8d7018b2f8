"""What a search found, as stacked bars: stated, perhaps, not found, of the questions that should be answered."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import axis_of_names, clipped_names
from audit.charts.style import ABSENCE_SCALE, Figure, html, ink_on, interval, percent, percent_ticks, styled
from audit.tables import Row

ROW_HEIGHT, HEAD = 26, 70
STATES = {"stated": "stated", "perhaps": "perhaps", "not_found": "not found"}
"""Column of the metric `silence` -> its words."""
# From the colour of much said to that of the paper, as where a model answered; each has a counterpart in dark mode
COLOURS = dict(zip(STATES, (colour for _, colour in reversed(ABSENCE_SCALE)), strict=True))
NARROWEST = 0.04
"""The smallest share of a bar with room for its number."""


def state_bars(table: pd.DataFrame, opens: str = "name") -> Figure:
    """A bar for each row, in its three states, with the counts in it.

    table  called (its name on the axis), asked, stated, perhaps, not_found, silent (with _low, _high; NaN: not known)
    opens  column whose value is the `customdata` of every bar of a row
    """
    figure = go.Figure([_bars(table, state, opens) for state in STATES])
    names = [f"{name}  <b>{row['stated']:,}</b> of {row['asked']:,}" for name, row in _named(table)]
    figure.update_xaxes(range=[0, 1.01], gridcolor="#e4e7eb", tickangle=0, **percent_ticks([0, 0.5, 1]))
    figure.update_yaxes(**axis_of_names(names), range=[len(table) - 0.5, -0.5], showgrid=False, ticklabelstandoff=6)
    legend = {"traceorder": "normal", "itemclick": False, "itemdoubleclick": False}
    return styled(figure, HEAD + ROW_HEIGHT * len(table), barmode="stack", bargap=0.25, legend=legend)


def _named(table: pd.DataFrame) -> list[tuple[str, Row]]:
    return list(zip(clipped_names(table["called"]), table.to_dict("records"), strict=True))


def _bars(table: pd.DataFrame, state: str, opens: str) -> go.Bar:
    shares = table[state] / table["asked"]
    return go.Bar(
        y=list(range(len(table))), x=shares, orientation="h", name=STATES[state], customdata=table[opens],
        marker={"color": COLOURS[state], "line": {"width": 0}}, unselected={"marker": {"opacity": 1}},
        text=[f"{count:,}" if share >= NARROWEST else "" for count, share in zip(table[state], shares, strict=True)],
        textposition="inside", insidetextanchor="middle", textangle=0, constraintext="none",
        insidetextfont={"size": 12, "color": ink_on(COLOURS[state])},
        hovertext=[_hover(name, row, state) for name, row in _named(table)], hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip


def _hover(name: str, row: Row, state: str) -> str:
    lines = [f"<b>{name}</b>", f"{STATES[state]}: {row[state]:,} of {row['asked']:,}"]
    if state == "not_found" and pd.notna(row["silent"]):
        span = interval(row["silent_low"], row["silent_high"]) or "unknown"
        lines.append(html(f"silent in truth, estimated: {percent(row['silent'])} (95 % interval {span})"))
    return "<br>".join(lines)
