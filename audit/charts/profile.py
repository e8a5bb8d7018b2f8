"""One handbook beside its peers: what share of the questions it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import ACCENT, FAINT, INK, clipped, html, percent, percent_ticks, styled

ROW_HEIGHT = 34


def profile_bars(table: pd.DataFrame, peers: str) -> go.Figure:
    """A bar for the share this handbook answers, a tick for its peers' share; rows in the order of the table.

    table  name, asked, answered, share, peers_share; asked 0 has no bar and says `not asked`
    peers  who the peers are, for the legend
    """
    rows = [f"{clipped(row['name'])}  {_count(row)}" for row in table.to_dict("records")]
    figure = go.Figure([_bars(table, rows), _ticks(table, rows, peers)])
    figure.update_xaxes(range=[0, 1.03], gridcolor="#e4e7eb", **percent_ticks([0, 0.25, 0.5, 0.75, 1]))
    figure.update_yaxes(autorange="reversed", showgrid=False, ticklabelstandoff=6)
    return styled(figure, 70 + ROW_HEIGHT * len(table), bargap=0.35)


def _count(row: Mapping[Any, Any]) -> str:
    return f"<b>{row['answered']:,}</b> of {row['asked']:,}" if row["asked"] else "not asked"


def _bars(table: pd.DataFrame, rows: list[str]) -> go.Bar:
    hover = [
        f"<b>{html(name)}</b><br>answers {percent(share)}<br>peers answer {percent(peers)}"
        for name, share, peers in zip(table["name"], table["share"], table["peers_share"], strict=True)
    ]
    return go.Bar(
        y=rows, x=table["share"], orientation="h", marker={"color": ACCENT}, name="answered here",
        hovertext=hover, hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip


def _ticks(table: pd.DataFrame, rows: list[str], peers: str) -> go.Scatter:
    return go.Scatter(
        y=rows, x=table["peers_share"], mode="markers", name=html(peers), hoverinfo="skip",
        marker={"symbol": "line-ns", "size": 20, "line": {"width": 3, "color": INK}, "color": FAINT},
    )  # fmt: skip
