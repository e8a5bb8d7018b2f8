"""The search without a model: how many right answers it finds for how many wrong ones, at each score."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import QUALITATIVE, html, percent, percent_ticks, styled
from audit.tables import Row

STEPS = tuple(step / 10 for step in range(11))
HEIGHT = 340
COUNTS = ("right", "wrong", "missed", "answered", "questions")


def search_curves_figure(frame: pd.DataFrame, names: Mapping[str, str]) -> go.Figure:
    """A line for each way to compare, from the highest score on; marked where its states begin, which the mark says.

    frame  as `audit.evaluation.retrieval_measures` describes it
    names  way -> its name
    """
    figure = go.Figure()
    for number, (way, name) in enumerate(names.items()):
        own = frame[frame["way"] == way]
        colour = QUALITATIVE[number % len(QUALITATIVE)]
        marked = own[own["state"] != ""]
        figure.add_scatter(
            x=own["wrong"] / own["questions"], y=own["right"] / own["questions"], mode="lines", name=html(name),
            line={"color": colour, "width": 2}, hoverinfo="skip",
        )  # fmt: skip
        figure.add_scatter(
            x=marked["wrong"] / marked["questions"], y=marked["right"] / marked["questions"], mode="markers+text",
            text=marked["state"], textposition="bottom right", showlegend=False, marker={"color": colour, "size": 10},
            hovertext=[_hover(name, row) for row in marked.to_dict("records")], hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    shares = percent_ticks(STEPS)
    titles = "Questions with other passages", "Questions with the answer quoted"
    figure.update_xaxes(title=titles[0], range=[0, 0.62], **shares)
    figure.update_yaxes(title=titles[1], range=[0, 0.62], **shares)
    return styled(figure, HEIGHT)


def _hover(name: str, row: Row) -> str:
    right, wrong, missed, answered, questions = (int(row[key]) for key in COUNTS)
    return (
        f"<b>{html(name)}, {row['state']} or better</b><br>Answer quoted: {right:,} of {questions:,} "
        f"({percent(right / questions)})<br>Other passages: {wrong:,} ({percent(wrong / questions)})"
        f"<br>Missed: {missed:,} of {answered:,} with an answer"
    )
