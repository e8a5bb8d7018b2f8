"""Evidence that errors become more frequent, along items in order of time, with the limit of chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from audit.charts.style import FAINT, QUALITATIVE, styled
from audit.formatting import fixed
from audit.stats.cusum import Cusum

HEIGHT = 300


def cusum_figure(found: Cusum, days: Sequence[str]) -> go.Figure:
    """The sums as a line, and the limit dashed; `days` of the items, for whoever points at one."""
    numbers = np.arange(1, len(found.path) + 1)
    words = [f"Item {n:,}, {day}<br>Sum {fixed(value, 2)}" for n, day, value in zip(numbers, days, found.path, strict=True)]
    figure = go.Figure(
        go.Scatter(
            x=numbers, y=found.path, mode="lines", line={"color": QUALITATIVE[0], "width": 2}, hovertext=words,
            hovertemplate="%{hovertext}<extra></extra>", showlegend=False,
        )
    )  # fmt: skip
    figure.add_hline(y=found.limit, line={"color": FAINT, "dash": "dash"}, annotation_text="limit")
    figure.update_xaxes(title="Rated items, in order of time")
    figure.update_yaxes(title="Evidence of more errors", range=[0, 1.15 * max(found.limit, found.path.max(initial=0))])
    return styled(figure, HEIGHT)
