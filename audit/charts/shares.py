"""A heatmap of label shares: one row per group, one column per label, each column in the hue of its label."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import LABEL_COLOURS, LABEL_WORDS, clipped, html, percent, styled

ROW_HEIGHT = 40


def share_heatmap(frame: pd.DataFrame, by: str, labels: Sequence[str], of: str) -> go.Figure:
    """Shares of `labels` among their own sum, row by row; `frame` holds one count column per label, by its word.

    Columns are on one scale (deepest hue = 100 %), so a deep cell in any column means the same share.
    A row without any such pair is left blank: no pair is not a share of zero.
    """
    numbers = frame[[LABEL_WORDS[label] for label in labels]].set_axis(list(labels), axis=1)
    total = numbers.sum(axis=1)
    shares = numbers.div(total.where(total > 0), axis=0)
    rows = [clipped(name) for name in frame[by]]
    figure = go.Figure([_column(label, rows, numbers[label], shares[label], of) for label in labels])
    figure.update_xaxes(side="top", showgrid=False, tickfont={"size": 14})
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, 60 + ROW_HEIGHT * len(frame), margin={"l": 8, "r": 8, "t": 40, "b": 8})


def _column(label: str, rows: list[str], pairs: pd.Series, shares: pd.Series, of: str) -> go.Heatmap:
    name = LABEL_WORDS[label]
    hover = [f"<b>{row}</b><br>{name}: {n:,} pairs<br>{percent(s)} of {html(of)}" for row, n, s in zip(rows, pairs, shares, strict=True)]
    return go.Heatmap(
        x=[name], y=rows, z=[[s] for s in shares], zmin=0, zmax=1, showscale=False, xgap=3, ygap=3,
        colorscale=[[0, "#fafbfc"], [1, LABEL_COLOURS[label]]], text=[[percent(s)] for s in shares], texttemplate="%{text}",
        textfont={"size": 14}, hovertext=[[h] for h in hover], hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip
