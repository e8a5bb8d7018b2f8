"""A heatmap of label shares: one row per group, one column per label, each column in the hue of its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    figure = go.Figure(_cells([clipped(name) for name in frame[by]], list(labels), numbers, shares, of))
    figure.update_xaxes(side="top", showgrid=False, tickfont={"size": 14}, ticks="")
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="")
    return styled(figure, 60 + ROW_HEIGHT * len(frame), margin={"l": 8, "r": 8, "t": 40, "b": 8})


def _cells(rows: list[str], labels: list[str], pairs: pd.DataFrame, shares: pd.DataFrame, of: str) -> go.Heatmap:
    names = [LABEL_WORDS[label] for label in labels]
    hover = [
        [f"<b>{row}</b><br>{name}: {n:,} pairs<br>{percent(s)} of {html(of)}" for name, n, s in zip(names, ns, ss, strict=True)]
        for row, ns, ss in zip(rows, pairs.to_numpy(), shares.to_numpy(), strict=True)
    ]
    return go.Heatmap(
        x=names, y=rows, z=[[i + 0.999 * s for i, s in enumerate(line)] for line in shares.to_numpy()], zmin=0, zmax=len(labels),
        colorscale=_scale(labels), showscale=False, xgap=3, ygap=3, hoverongaps=False,
        text=[[percent(s) for s in line] for line in shares.to_numpy()], texttemplate="%{text}", textfont={"size": 14},
        hovertext=hover, hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip


def _scale(labels: list[str]) -> list[list[Any]]:
    """One scale for all columns: column i takes the part from i to i + 1, from paper to the hue of its label."""
    ends = [((i / len(labels), "#fafbfc"), ((i + 0.9995) / len(labels), LABEL_COLOURS[label])) for i, label in enumerate(labels)]
    return [[place, colour] for pair in ends for place, colour in pair] + [[1.0, LABEL_COLOURS[labels[-1]]]]
