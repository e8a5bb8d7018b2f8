"""What a list of probable cases finds and costs, along the probability from which it shows them."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import QUALITATIVE, percent, percent_ticks, styled
from audit.formatting import fixed

CURVES = {"found": "Disputed, and shown", "false": "Not disputed, but shown", "missed": "Disputed, but not shown"}
HEIGHT = 340


def decision_figure(frame: pd.DataFrame) -> go.Figure:
    """A line for each of CURVES.

    frame  threshold (in [0, 1]), and found, false and missed (per 100)
    """
    figure = go.Figure()
    for number, (column, name) in enumerate(CURVES.items()):
        words = [
            f"{name}: {fixed(value, 1)} of 100<br>shown from probability {percent(threshold, 0)}"
            for threshold, value in zip(frame["threshold"], frame[column], strict=True)
        ]
        figure.add_scatter(
            x=frame["threshold"], y=frame[column], mode="lines+markers", name=name, hovertext=words,
            line={"color": QUALITATIVE[number], "width": 2}, hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title="Shown from this probability", range=[0, 1], **percent_ticks(tuple(step / 5 for step in range(6))))
    figure.update_xaxes(ticklabelstandoff=8)  # or its 0 % would lie on the 0 of the other scale
    figure.update_yaxes(title="Of 100", rangemode="tozero")
    return styled(figure, HEIGHT)
