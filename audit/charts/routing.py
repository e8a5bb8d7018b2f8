"""Several sources: how one question was routed, drawn from left to right; evidence and text by source; budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import clipped_names, names_of
from audit.charts.rates import DOT, FULL_SCALE, ROW_HEIGHT, interval_bars, with_rows
from audit.charts.style import (
    BLACK,
    FAINT,
    GENERAL_COLOUR,
    INK,
    NO_VALUE,
    QUALITATIVE,
    html,
    ink_on,
    interval,
    percent,
    percent_ticks,
    styled,
)
from audit.formatting import fixed
from audit.tables import Row

OTHERS = "(others)"
MIN_LABELLED = 0.08
"""A segment narrower than this share has no room for its percentage."""
MAX_COLOURED = len(QUALITATIVE) - 1
"""Sources with a colour of their own; the others share a grey."""
# Where the columns of the drawing are, from left to right
SOURCE_X, BUDGET_X, BUDGET_WIDTH, FLOW_X, PASSAGE_X, TERM_X, RIGHT = 0.0, 1.8, 1.0, 3.4, 3.95, 5.4, 7.1
LANE, TERM_LETTERS = 46, 18  # the letters of a line of a term that a window of 900 pixels shows whole
HEADS = {SOURCE_X: "Source", BUDGET_X: "Passages taken", PASSAGE_X: "Evidence kept", TERM_X: "Terms that link it"}
SEARCHED, BRIDGED = "found by the search", "found over a shared term (bridged)"
SYMBOLS = {False: "circle", True: "diamond"}


def source_colours(sources: Sequence[str]) -> dict[str, str]:
    """One colour for each of the first sources, in this order; all further ones are grey."""
    return {name: QUALITATIVE[index] if index < MAX_COLOURED else GENERAL_COLOUR for index, name in enumerate(sources)}


# -- one question ------------------------------------------------------------------------------------------------------


def route_picture(routes: pd.DataFrame, passages: pd.DataFrame, terms: pd.DataFrame, colours: Mapping[str, str]) -> go.Figure:
    """The routing of one question: its sources, the passages taken from each, the packed evidence, and the terms that link it.

    routes    best first: source, facts (a line of text), probed, budget (int or NaN), share (of the budget, NaN: not stated)
    passages  best first: rank, source (None: of no source), bridged (bool), title
    terms     name, is_seed (the search started from it), ranks (of the passages that name it)
    colours   source -> colour

    Every passage has the number of its rank. A passage that was found over a shared term is a diamond, with a dashed line.
    """
    rows = max(len(routes), len(passages), len(terms), 2)
    order = {name: index for index, name in enumerate(routes["source"])}
    placed = passages.assign(lane=passages["source"].map(order).fillna(len(order)))
    placed = placed.sort_values(["lane", "rank"], ignore_index=True).assign(y=_spread(len(placed), rows))
    lanes = dict(zip(routes["source"], _spread(len(routes), rows), strict=True))
    figure = go.Figure()
    figure.add_traces(list(_flows(placed, lanes, colours)))
    figure.add_traces(list(_links(placed, terms, rows)))
    figure.add_traces([*_budgets(routes, lanes, colours), *_markers(placed, colours)])
    for row, name in zip(routes.to_dict("records"), clipped_names(routes["source"], 22), strict=True):
        _label(figure, SOURCE_X, lanes[row["source"]], f"<b>{name}</b><br>{html(row['facts'])}", INK)
    for x, head in HEADS.items():
        if x != TERM_X or len(terms):
            _label(figure, x, -1.0, f"<b>{head}</b>", FAINT)
    figure.update_xaxes(range=[-0.05, RIGHT if len(terms) else TERM_X], visible=False)
    figure.update_yaxes(range=[rows - 0.4, -1.4], visible=False)
    return styled(
        figure, 80 + LANE * (rows + 1), hovermode="closest", barmode="overlay", margin={"l": 4, "r": 4, "t": 44, "b": 4}
    )


def _spread(count: int, rows: int) -> list[float]:
    """The heights of `count` marks, evenly over the rows."""
    return [(index + 0.5) * rows / count - 0.5 for index in range(count)]


def _label(figure: go.Figure, x: float, y: float, text: str, colour: str) -> None:
    figure.add_annotation(x=x, y=y, text=text, showarrow=False, xanchor="left", align="left", font={"size": 13, "color": colour})


def _budgets(routes: pd.DataFrame, lanes: Mapping[str, float], colours: Mapping[str, str]) -> Iterator[go.Bar]:
    """A bar for what is taken from each source, on a pale one for the whole budget."""
    heights, fills = [lanes[name] for name in routes["source"]], [colours.get(name, GENERAL_COLOUR) for name in routes["source"]]
    same = {"y": heights, "base": BUDGET_X, "orientation": "h", "width": 0.42, "showlegend": False, "cliponaxis": False}
    hover = {
        "hovertext": [_route_hover(row) for row in routes.to_dict("records")],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    yield go.Bar(
        x=[BUDGET_WIDTH] * len(routes), **same, **hover, marker={"color": "#e4e7eb"}, textposition="outside",
        text=[_taken(row) for row in routes.to_dict("records")], textfont={"size": 12, "color": INK},
    )  # fmt: skip
    yield go.Bar(x=routes["share"].fillna(0.0) * BUDGET_WIDTH, **same, **hover, marker={"color": fills})


def _taken(row: Row) -> str:
    if pd.isna(row["budget"]):
        return NO_VALUE
    return f"{row['budget']:.0f}" + ("" if pd.isna(row["probed"]) else f" of {row['probed']:.0f}")


def _route_hover(row: Row) -> str:
    probed = "not stated" if pd.isna(row["probed"]) else f"{row['probed']:.0f} passages"
    budget = "not stated" if pd.isna(row["budget"]) else f"{row['budget']:.0f} passages"
    return f"<b>{html(row['source'])}</b><br>probed: {probed}<br>budget: {budget} ({percent(row['share'])} of all)"


def _flows(placed: pd.DataFrame, lanes: Mapping[str, float], colours: Mapping[str, str]) -> Iterator[go.Scatter]:
    """A line from the budget of a source to each of its passages."""
    for row in placed.to_dict("records"):
        if row["source"] in lanes:
            yield go.Scatter(
                x=[FLOW_X, PASSAGE_X], y=[lanes[row["source"]], row["y"]], mode="lines",
                line={"color": colours[row["source"]], "width": 1.5, "dash": "dot" if row["bridged"] else "solid"},
                hoverinfo="skip", showlegend=False,
            )  # fmt: skip


def _links(placed: pd.DataFrame, terms: pd.DataFrame, rows: int) -> Iterator[go.Scatter]:
    """A line from each passage to the terms that it names, and the terms."""
    if terms.empty:
        return
    heights = dict(zip(placed["rank"], placed["y"], strict=True))
    middle = [float(np.mean([heights[rank] for rank in ranks])) for ranks in terms["ranks"]]
    ordered = terms.assign(middle=middle).sort_values("middle", kind="stable", ignore_index=True)
    ordered = ordered.assign(y=_spread(len(ordered), rows))
    for row in ordered.to_dict("records"):
        for rank in row["ranks"]:
            yield go.Scatter(
                x=[PASSAGE_X, TERM_X - 0.08], y=[heights[rank], row["y"]], mode="lines", hoverinfo="skip", showlegend=False,
                line={"color": "#9aa3ad", "width": 1},
            )  # fmt: skip
    names = [
        "<br>".join(f"<b>{line}</b>" if seed else line for line in wrap(name, TERM_LETTERS))
        for name, seed in zip(clipped_names(ordered["name"], 32), ordered["is_seed"], strict=True)
    ]
    yield go.Scatter(
        x=[TERM_X] * len(ordered), y=ordered["y"], mode="text", text=names, textposition="middle right", showlegend=False,
        textfont={"size": 13, "color": INK}, cliponaxis=False, hovertemplate="%{hovertext}<extra></extra>",
        hovertext=[f"<b>{html(row['name'])}</b><br>in {len(row['ranks'])} passages" for row in ordered.to_dict("records")],
    )  # fmt: skip


def _markers(placed: pd.DataFrame, colours: Mapping[str, str]) -> Iterator[go.Scatter]:
    """The passages as numbered marks, circles apart from diamonds, each with an entry of the legend."""
    for bridged, title in ((False, SEARCHED), (True, BRIDGED)):
        own = placed[placed["bridged"] == bridged]
        fills = [colours.get(name, GENERAL_COLOUR) for name in own["source"]]
        if own.empty:
            continue
        yield go.Scatter(
            x=[PASSAGE_X] * len(own), y=own["y"], mode="markers+text", text=[f"{rank}" for rank in own["rank"]], showlegend=False,
            textfont={"size": 13, "color": [ink_on(fill, BLACK) for fill in fills]}, cliponaxis=False,
            marker={"symbol": SYMBOLS[bridged], "size": 30 if bridged else 26, "color": fills},
            hovertext=[f"<b>{row['rank']}. {html(row['title'])}</b><br>{title}" for row in own.to_dict("records")],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
        yield go.Scatter(
            x=[None], y=[None], mode="markers", name=title, hoverinfo="skip",
            marker={"symbol": SYMBOLS[bridged], "size": 12, "color": FAINT},
        )  # fmt: skip


# -- all questions -----------------------------------------------------------------------------------------------------

PLACES = ("circle", "square", "diamond", "triangle-up", "cross", "x")


def dominance_dots(frame: pd.DataFrame, sources: Sequence[str]) -> go.Figure:
    """The share of the evidence that each system takes from a source, next to the source's share of all text.

    frame    one row per system and source: system_id, name, source_id, evidence (_low, _high; in [0, 1], NaN: unknown), text (in
             [0, 1], NaN: unknown), routed (int, questions)
    sources  in drawing order

    Where a dot is right of the bar, the source gives more evidence than it has text: it is short and dense, or it is preferred.
    """
    figure, heights = go.Figure(), {name: index for index, name in enumerate(sources)}
    texts = frame.drop_duplicates("source_id")
    figure.add_bar(
        x=texts["text"], y=[heights[name] for name in texts["source_id"]], orientation="h", name="share of all text", width=0.72,
        marker={"color": "#e4e7eb"}, hovertemplate="%{hovertext}<extra></extra>",
        hovertext=[f"<b>{html(row['source_id'])}</b><br>{percent(row['text'])} of all text" for row in texts.to_dict("records")],
    )  # fmt: skip
    names = names_of(frame, "system_id", "name")
    entries = clipped_names(names.values(), 30)
    for index, ((system_id, name), entry) in enumerate(zip(names.items(), entries, strict=True)):
        own, colour = frame[frame["system_id"] == system_id], QUALITATIVE[index % len(QUALITATIVE)]
        offset = 0.5 * ((index + 0.5) / len(names) - 0.5)
        middle = [heights[source] + offset for source in own["source_id"]]
        figure.add_scatter(
            x=own["evidence"], y=middle, mode="markers", name=entry,
            cliponaxis=False, marker={"size": DOT + 2, "color": colour, "symbol": PLACES[index % len(PLACES)]},
            error_x=interval_bars(own["evidence"], own["evidence_low"], own["evidence_high"], colour),
            hovertext=[_dominance_hover(row, name) for row in own.to_dict("records")],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    highest = float(np.nanmax([0.2, *frame[["evidence", "evidence_high", "text"]].max()]))
    step = 0.1 if highest <= 0.5 else 0.25
    figure.update_xaxes(range=[0, min(FULL_SCALE, highest * 1.06)], **percent_ticks([i * step for i in range(int(1 / step) + 1)]))
    height = max(ROW_HEIGHT, 14 * len(names)) * len(sources) + 110
    return with_rows(figure, sources).update_layout(height=height, showlegend=True, margin={"t": 64})


def _dominance_hover(row: Row, name: str) -> str:
    span = interval(row["evidence_low"], row["evidence_high"])
    within = f"<br>95 % interval {span}" if span else ""
    head = f"<b>{html(row['source_id'])}</b>, {html(name)}"
    return f"{head}<br>{percent(row['evidence'])} of the first five passages{within}<br>of {row['routed']:,} questions"


def budget_bars(frame: pd.DataFrame, colours: Mapping[str, str]) -> go.Figure:
    """How each system divides its budget between sources, one bar of 100 % per system and kind of question.

    frame    one row per system, kind and source: system_id, name, kind (in words; not written where there is one), source_id,
             budget (mean, passages; NaN: not stated), routed (int, questions)
    colours  source -> colour, in drawing order; sources without a colour of their own are one segment

    A system that states no budgets has no bar.
    """
    coloured = [name for name in colours if colours[name] != GENERAL_COLOUR]
    named = frame.dropna(subset=["budget"])
    named = named.assign(source=named["source_id"].where(named["source_id"].isin(coloured), OTHERS))
    names, bars = names_of(frame, "system_id", "name"), ["system_id", "kind"]
    summed = named.groupby([*bars, "source"], sort=False).agg(budget=("budget", "sum"), routed=("routed", "max")).reset_index()
    summed["name"] = summed["system_id"].map(names)
    summed["share"] = summed["budget"] / summed.groupby(bars)["budget"].transform("sum")
    heights = {key: index for index, key in enumerate(summed[bars].drop_duplicates().itertuples(index=False, name=None))}
    summed["y"] = [heights[key] for key in summed[bars].itertuples(index=False, name=None)]
    entries = zip((*coloured, OTHERS), clipped_names([*coloured, OTHERS], 24), strict=True)
    figure = go.Figure([_budget_segment(summed, source, entry, colours.get(source, GENERAL_COLOUR)) for source, entry in entries])
    several = frame["kind"].nunique() > 1
    rows = [f"{names[system_id]}, {kind}" if several else names[system_id] for system_id, kind in heights]
    figure.update_xaxes(range=[0, 1], **percent_ticks([0, 0.5, 1]))
    return with_rows(figure, rows).update_layout(
        barmode="stack", showlegend=True, height=110 + ROW_HEIGHT * len(rows), margin={"t": 60}
    )


def _budget_segment(summed: pd.DataFrame, source: str, entry: str, fill: str) -> go.Bar:
    own = summed[summed["source"] == source]
    return go.Bar(
        x=own["share"], y=own["y"], orientation="h", name=entry, showlegend=not own.empty, width=0.7,
        marker={"color": fill, "line": {"color": "#ffffff", "width": 1}}, textposition="inside", insidetextanchor="middle",
        text=[percent(share, 0) if share >= MIN_LABELLED else "" for share in own["share"]], constraintext="none", textangle=0,
        textfont={"size": 12, "color": ink_on(fill)}, hovertemplate="%{hovertext}<extra></extra>",
        hovertext=[_budget_hover(row) for row in own.to_dict("records")],
    )  # fmt: skip


def _budget_hover(row: Row) -> str:
    head = f"<b>{html(row['source'])}</b>: {percent(row['share'])} of the budget"
    return f"{head}<br>{fixed(row['budget'], 1)} passages a question<br>{html(row['name'])}, {row['routed']:,} questions"
