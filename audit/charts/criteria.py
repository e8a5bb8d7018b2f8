"""The eight criteria and the preferences between systems as stacked bars of 100 %."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import axis_of_names, clipped_names, names_of
from audit.charts.style import (
    LABEL_COLOURS,
    SEVERE,
    UNSCORED,
    html,
    ink_on,
    interval,
    percent,
    percent_ticks,
    set_axes,
    styled,
)
from audit.evaluation.criteria import CRITERIA, Criterion
from audit.tables import Row
from audit.vocabulary import Label

WORST, BETWEEN, BEST = "lowest score", "score in between", "best score"
LEVEL_COLOURS = {
    WORST: SEVERE, BETWEEN: LABEL_COLOURS[Label.DIVERGENT], BEST: LABEL_COLOURS[Label.ABSENT],
}  # fmt: skip
BAR_HEIGHT = 24
MIN_LABELLED = 0.09
"""A segment narrower than this share has no room for its percentage; the hover text and the table show it."""
OUTCOMES = {"a": "the first is better", "tie": "tie", "both_bad": "both bad", "b": "the second is better"}
OUTCOME_COLOURS = {
    "a": LABEL_COLOURS[Label.CONSISTENT], "tie": LABEL_COLOURS[Label.ABSENT], "both_bad": LABEL_COLOURS[UNSCORED],
    "b": LABEL_COLOURS[Label.DIVERGENT],
}  # fmt: skip
PREFERENCE_HEIGHT, MAX_HEAD = 84, 90
SHARES_AXIS = {"range": [0, 1], **percent_ticks([0, 0.5, 1]), "tickfont": {"size": 12}, "gridcolor": "#e4e7eb"}
BAR_WIDTH, PREFERENCE_WIDTH = 0.78, 0.36


class Segment(NamedTuple):
    """A part of a bar of 100 %: the place of its bar, where it begins, its share, its colour, and its words when pointed at."""

    position: float
    start: float
    share: float
    colour: str
    hover: str


def level(criterion: str, score: int) -> str:
    """Whether a score is the lowest of its criterion, the best, or in between."""
    scale = CRITERIA[Criterion(criterion)]
    return WORST if score == scale.worst else BEST if score == scale.best else BETWEEN


def criteria_bars(frame: pd.DataFrame, criteria: Sequence[str] = tuple(CRITERIA)) -> go.Figure:
    """For each criterion a heading and, below it, one bar of 100 % per system: the lowest score left, the best right.

    frame     one row per criterion, system and score: criterion, system_id, name (of the system), score, answers (with that
              score), of (answers with a readable score), share, share_low, share_high
    criteria  which ones, in drawing order

    A system without a readable score on a criterion has an empty bar, which is not a share of zero.
    """
    figure, position = go.Figure(), 0.0
    places, segments = list[float](), list[Segment]()
    names, scores = names_of(frame, "system_id", "name"), _scores_of_bars(frame)
    for criterion in criteria:
        _head(figure, CRITERIA[Criterion(criterion)].heading, position)
        for system_id, name in names.items():
            position += 1.0
            places.append(position)
            segments += _segments(scores[criterion, system_id], name, position)
        position += 1.3
    figure.add_traces([_bars(segments, BAR_WIDTH), *_legend_entries(LEVEL_COLOURS)])
    set_axes(figure, [figure.layout.xaxis], SHARES_AXIS)
    bars = axis_of_names(clipped_names(names.values(), 30) * len(criteria), places)
    set_axes(figure, [figure.layout.yaxis], {**bars, "range": [position - 0.6, -0.7], "showgrid": False, "ticks": ""})
    return _with_fixed_legend(figure, int(80 + BAR_HEIGHT * (position + 1)))


def _head(figure: go.Figure, heading: str, position: float, second_line: str = "") -> None:
    """A heading, which is safe for Plotly, above the bar or bars that follow."""
    text = f"<b>{heading}</b>" + (f"<br>{html(second_line)}" if second_line else "")
    figure.add_annotation(
        x=0, y=position, xref="paper", xanchor="left", align="left", text=text, showarrow=False, font={"size": 14}
    )


def _scores_of_bars(frame: pd.DataFrame) -> defaultdict[tuple[str, Hashable], list[Row]]:
    """(criterion, system) -> the rows of its bar, the lowest score first. Selecting them bar by bar took ten times as long."""
    scores: defaultdict[tuple[str, Hashable], list[Row]] = defaultdict(list)
    for row in frame.sort_values("score", kind="stable").to_dict("records"):
        scores[row["criterion"], row["system_id"]].append(row)
    return scores


def _segments(rows: Sequence[Row], name: str, position: float) -> Iterator[Segment]:
    """The segments of one bar, next to each other; none for a score that no answer was given."""
    start = 0.0
    for row in rows:
        if row["answers"]:
            colour = LEVEL_COLOURS[level(row["criterion"], row["score"])]
            yield Segment(position, start, row["share"], colour, _score_hover(row, name))
            start += row["share"]


def _score_hover(row: Row, name: str) -> str:
    meaning, span = CRITERIA[Criterion(row["criterion"])].meanings[row["score"]], interval(row["share_low"], row["share_high"])
    within = f" (95 % interval {span})" if span else ""
    head = f"<b>{html(name)}</b><br>{meaning} ({row['score']}): {percent(row['share'])}{within}"
    return f"{head}<br>{row['answers']:,} of {row['of']:,} answers with a readable score"


def preference_bars(frame: pd.DataFrame) -> go.Figure:
    """One bar of 100 % per row: how often the first system was preferred, ties, both bad, and how often the second.

    frame  name (str, which two systems), by (str, who compared them), comparisons, a, b, tie, both_bad (int)
    """
    figure, segments = go.Figure(), list[Segment]()
    names = clipped_names(frame["name"], MAX_HEAD)
    for number, row in enumerate(frame.to_dict("records")):
        _head(figure, names[number], number, f"{row['by']}, {row['comparisons']:,} times")
        start = 0.0
        for outcome, words in OUTCOMES.items():
            share = row[outcome] / row["comparisons"]
            hover = f"<b>{html(row['name'])}</b><br>{words}: {row[outcome]:,} of {row['comparisons']:,} ({percent(share)})"
            segments += [Segment(number + 0.5, start, share, OUTCOME_COLOURS[outcome], hover)] if share else []
            start += share
    legend = _legend_entries({words: OUTCOME_COLOURS[outcome] for outcome, words in OUTCOMES.items()})
    figure.add_traces([_bars(segments, PREFERENCE_WIDTH), *legend])
    set_axes(figure, [figure.layout.xaxis], SHARES_AXIS)
    set_axes(figure, [figure.layout.yaxis], {"range": [len(frame) - 0.2, -0.3], "visible": False})
    return _with_fixed_legend(figure, 100 + PREFERENCE_HEIGHT * len(frame))


def _bars(segments: Sequence[Segment], width: float) -> go.Bar:
    """All segments as one trace: as a trace each they took a quarter of the time of the page *Systems*."""
    positions, starts, shares, colours, hovers = zip(*segments, strict=True) if segments else ((), (), (), (), ())
    return go.Bar(
        orientation="h", y=positions, x=shares, base=starts, width=width, showlegend=False,
        marker={"color": colours, "line": {"color": "#ffffff", "width": 1}},
        text=[percent(share, 0) if share >= MIN_LABELLED else "" for share in shares],
        textposition="inside", insidetextanchor="middle", textangle=0, constraintext="none",
        textfont={"color": [ink_on(colour) for colour in colours], "size": 12}, hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip


def _legend_entries(colours: Mapping[str, str]) -> list[go.Scatter]:
    return [
        go.Scatter(x=[None], y=[None], mode="markers", name=words, marker={"symbol": "square", "size": 13, "color": colour})
        for words, colour in colours.items()
    ]


def _with_fixed_legend(figure: go.Figure, height: int) -> go.Figure:
    # A click on the legend would hide a part, and the bars would no longer add up.
    position = {"x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top"}
    legend = {"orientation": "h", **position, "itemclick": False, "itemdoubleclick": False}
    margin = {"l": 8, "r": 20, "t": 52, "b": 8}
    return styled(figure, height, barmode="overlay", legend=legend, margin=margin)
