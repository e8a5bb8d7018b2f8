"""Stress tests: curves by the share of signal, with intervals and published figures behind them; selective answering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil

import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import axis_of_names, clipped_names, names_of
from audit.charts.rates import interval_bars
from audit.charts.style import FAINT, QUALITATIVE, html, interval, percent, percent_ticks, styled
from audit.tables import Row

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon", "hexagon")
DASHES = ("dash", "dot", "dashdot", "longdash")
GREY = "#9aa3ad"
LEGEND_ROW = 21


def stress_curves_figure(
    frame: pd.DataFrame, published: pd.DataFrame, title: str, across: str, along: str = "signal_share"
) -> go.Figure:
    """One measure of each system along the share of signal, or the number of documents: marks with 95 % intervals, joined.

    frame      one row per system and context: system_id, name, signal_share (int, percent; -1: not stated, not drawn), size
               (int), value, value_low, value_high (in [0, 1]; NaN: unknown), of, questions, unread (int)
    published  the same measure as published: model, signal_share, size, value (in [0, 1]); drawn faint and dashed; may be empty
    title      of the measure
    across     what `along` counts, in words
    along      signal_share, or size

    A context in which a system was not measured has no mark.
    """
    drawn = frame[frame["signal_share"] >= 0]
    places = _places(drawn, published, along)
    figure = go.Figure([*_published(published, places, along), *_curves(drawn, places, title, across, along)])
    ends = min(places.values(), default=0), max(places.values(), default=1)
    margin = 0.06 * max(ends[1] - ends[0], 1)
    unit = " %" if along == "signal_share" else ""
    figure.update_xaxes(
        title=html(across),
        range=[ends[0] - margin, ends[1] + margin],
        **axis_of_names([f"{value}{unit}" for value in places], list(places.values())),
    )
    return _laid_out(figure, title)


def _places(drawn: pd.DataFrame, published: pd.DataFrame, along: str) -> dict[int, float]:
    """Value -> where it is drawn: shares at their place, numbers of documents evenly."""
    values = sorted({*drawn[along], *published[along]})
    return {value: float(value if along == "signal_share" else index) for index, value in enumerate(values)}


def _published(published: pd.DataFrame, places: Mapping[int, float], along: str) -> Iterator[go.Scatter]:
    models = list(dict.fromkeys(published["model"]))
    entries = clipped_names([f"{model} (published)" for model in models], 34)
    for number, (model, entry) in enumerate(zip(models, entries, strict=True)):
        own = published[published["model"] == model]
        yield go.Scatter(
            x=own[along].map(places), y=own["value"], mode="lines+markers", name=entry,
            line={"color": GREY, "width": 1.5, "dash": DASHES[number % len(DASHES)]}, marker={"size": 4, "color": GREY},
            hovertext=[f"{html(model)}, published<br>{percent(value)}" for value in own["value"]],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip


def _curves(drawn: pd.DataFrame, places: Mapping[int, float], title: str, across: str, along: str) -> Iterator[go.Scatter]:
    names = names_of(drawn, "system_id", "name")
    entries = clipped_names(names.values(), 30)
    # Side by side, so the intervals of two systems do not hide each other
    step = 0.009 * max(max(places.values(), default=1) - min(places.values(), default=0), 1)
    for number, ((system_id, name), entry) in enumerate(zip(names.items(), entries, strict=True)):
        own = drawn[drawn["system_id"] == system_id].sort_values(along)
        colour = QUALITATIVE[number % len(QUALITATIVE)]
        yield go.Scatter(
            x=own[along].map(places) + step * (number - (len(names) - 1) / 2), y=own["value"], mode="lines+markers",
            name=entry, cliponaxis=False, line={"color": colour, "width": 2},
            marker={"size": 8, "color": colour, "symbol": SYMBOLS[number % len(SYMBOLS)]},
            error_y=interval_bars(own["value"], own["value_low"], own["value_high"], colour),
            hovertext=[_hover(row, name, title, across, along) for row in own.to_dict("records")],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip


def _hover(row: Row, name: str, title: str, across: str, along: str) -> str:
    span = interval(row["value_low"], row["value_high"])
    unit = " %" if along == "signal_share" else ""
    lines = [f"<b>{html(name)}</b>", f"{html(across)}: {row[along]}{unit}", f"{html(title)}: {percent(row['value'])}"]
    lines += [f"95 % interval {span}"] if span else []
    lines.append(f"{row['of']:,} replies to {row['questions']:,} questions")
    return "<br>".join([*lines, *([f"{row['unread']:,} unreadable, not counted"] if row["unread"] else [])])


def selective_curves(frame: pd.DataFrame, across: str) -> go.Figure:
    """Accuracy among what a system answers, against the share that it answers; a line joins its points by share of signal.

    frame   one row per system and share: system_id, name, signal_share, coverage, accuracy (with _low, _high; NaN: unknown),
            answered, readable
    across  what the share is a share of, in words

    A system that answers nothing has no accuracy, and no mark.
    """
    figure = go.Figure()
    drawn = frame.dropna(subset=["accuracy"])
    names = names_of(frame, "system_id", "name")
    entries = clipped_names(names.values(), 30)
    for index, ((system_id, name), entry) in enumerate(zip(names.items(), entries, strict=True)):
        own = drawn[drawn["system_id"] == system_id].sort_values("signal_share")
        colour = QUALITATIVE[index % len(QUALITATIVE)]
        figure.add_scatter(
            x=own["coverage"], y=own["accuracy"], mode="lines+markers+text", name=entry, cliponaxis=False,
            text=_shares_at_marks(own), textposition=_beside_marks(own, index),
            textfont={"size": 11, "color": FAINT}, line={"color": colour, "width": 1.5, "dash": "dot"},
            marker={"size": 8, "color": colour, "symbol": SYMBOLS[index % len(SYMBOLS)]},
            error_x=interval_bars(own["coverage"], own["coverage_low"], own["coverage_high"], colour),
            error_y=interval_bars(own["accuracy"], own["accuracy_low"], own["accuracy_high"], colour),
            hovertext=[_selective_hover(row, name, across) for row in own.to_dict("records")],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title="Coverage: share of the questions that it answers", range=[-0.03, 1.05], **percent_ticks(TICKS))
    return _laid_out(figure, "Accuracy of what it answers")


def _shares_at_marks(own: pd.DataFrame) -> list[str]:
    """The shares of signal beside the marks of a system; of those that have one mark, all beside the first."""
    known = own[own["signal_share"] >= 0]
    together = known.groupby(["coverage", "accuracy"])["signal_share"].apply(lambda shares: ", ".join(map(str, shares)))
    first = ~known.duplicated(["coverage", "accuracy"]).reindex(own.index, fill_value=True)
    marks = zip(own["coverage"], own["accuracy"], first, strict=True)
    return [f"{together[coverage, accuracy]} %" if is_first else "" for coverage, accuracy, is_first in marks]


def _beside_marks(own: pd.DataFrame, index: int) -> list[str]:
    """Where these texts are: off the edges, and off those of the system before, whose mark may be the same."""
    above = (own["accuracy"] < NEAR_EDGE) | bool(index % 2)
    sides = zip(above, own["coverage"] > 1 - NEAR_EDGE, strict=True)
    return [f"{'top' if is_above else 'bottom'} {'left' if at_the_end else 'right'}" for is_above, at_the_end in sides]


NEAR_EDGE = 0.2
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def _selective_hover(row: Row, name: str, across: str) -> str:
    share = f"<br>{html(across)}: {row['signal_share']} %" if row["signal_share"] >= 0 else ""
    answers = f"answers {row['answered']:,} of {row['readable']:,}: {percent(row['coverage'])}"
    return f"<b>{html(name)}</b>{share}<br>{answers}<br>right: {percent(row['accuracy'])} of these"


def _laid_out(figure: go.Figure, title: str) -> go.Figure:
    figure.update_xaxes(gridcolor="#f3f4f6", tickfont={"size": 12}, title_font={"size": 13})
    figure.update_yaxes(
        title=html(title), range=[-0.02, 1.05], **percent_ticks(TICKS), gridcolor="#e4e7eb", tickfont={"size": 12},
        title_font={"size": 13},
    )  # fmt: skip
    # Two entries side by side: with more rows than there is room for, the first would be cut off
    top = max(64, LEGEND_ROW * (1 + ceil(len(figure.data) / 2)))
    return styled(figure, 366 + top, hovermode="closest", margin={"l": 8, "r": 12, "t": top, "b": 8}, showlegend=True)
