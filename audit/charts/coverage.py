"""The coverage heatmap: the share of each organ's questions that each handbook does not address.

The heatmap is drawn with bars of equal length and not as a heatmap trace: a bar can be hatched (not asked is not a share), and
Plotly reports clicks on bars but not on heatmaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from audit.charts.names import MAX_LENGTH, NO_NAME, axis_of_names, clipped_names
from audit.charts.style import (
    ABSENCE_SCALE,
    FAINT,
    INK,
    LABEL_PATTERNS,
    NOT_ASKED,
    handbook_names,
    html,
    ink_on,
    interval,
    organ_colours,
    percent,
    styled,
)
from audit.formatting import fixed
from audit.tables import Row
from audit.terms import display_name

ROW_HEIGHT = 18
# Plotly draws the lines of a hatched bar in the marker's own colour.
HATCHING = "#aab1ba"
# A cell of another organ's questions: a heart handbook is not expected to answer them, so it must not look like a gap.
MUTED, MUTED_TEXT = "#f3f4f6", FAINT
Trace = dict[str, object]
BAR: Trace = {
    "type": "bar", "orientation": "h", "textposition": "inside", "insidetextanchor": "middle", "textangle": 0,
    "constraintext": "none", "insidetextfont": {"size": 12}, "hovertemplate": "%{hovertext}<extra></extra>",
    # Plotly fades whatever was not clicked; here a click opens a handbook and selects nothing.
    "unselected": {"marker": {"opacity": 1}},
}  # fmt: skip
PERCENTAGES = [i / 100 for i in range(101)]
GENERAL = "general"
ORDERS = ("organ", "name", "absence", "center")
# Column heads with more letters in total are slanted, because they would overlap on a narrow screen.
MAX_HEAD_LETTERS, MAX_GROUP_HEAD = 40, 60
STRIP, FIRST_ORGAN = -0.3, 1.25
"""Where the strip of organ colours ends and the first organ column starts; the column for all questions is at 0."""


def shades(scale: Sequence[Sequence[Any]]) -> list[str]:
    """A colour of `scale` for each whole percentage, which is what a cell prints."""
    colours = sample_colorscale([list(stop) for stop in scale], PERCENTAGES, colortype="tuple")
    return ["#" + "".join(f"{round(255 * part):02x}" for part in shade) for shade in colours]


SHADES = shades(ABSENCE_SCALE)


def coverage_rows(overall: pd.DataFrame, order: str) -> pd.DataFrame:
    """One row per handbook in the chosen order, with its name and its position on the figure's y axis.

    overall  handbook_id, organ, center, phase, asked, absent, absence (with _low, _high), over all questions
    order    'organ' (grouped, then by name), 'absence' (the best coverage first), 'center' or 'name'

    Adds: name, place (float; one row between groups), opens (True in the first row of a group).
    """
    keys = {
        "organ": ["organ", "name"], "absence": ["absence", "handbook_id"], "center": ["center", "organ", "handbook_id"],
        "name": ["name"],
    }  # fmt: skip
    names = handbook_names(overall, without=("organ",) if order == "organ" else ())
    table = overall.assign(name=overall["handbook_id"].map(names)).sort_values(keys[order], ignore_index=True)
    group = table[order] if order in ("organ", "center") else pd.Series("", index=table.index)
    opens = group.ne(group.shift()) & (order == "organ")
    # The row above the first of a group is left for the group's name.
    return table.assign(opens=opens, place=table.index + 1.3 * opens.cumsum())


def coverage_figure(rows: pd.DataFrame, cells: pd.DataFrame, handbook: str = "handbook") -> go.Figure:
    """Handbooks as rows, question organs as columns; each cell has the percentage of questions left out, the darker the more.

    Cells of another organ's questions are muted: leaving those out is no gap. Questions for everybody belong to every handbook.

    rows      from `coverage_rows`
    cells     handbook_id, question_organ, asked, absent, absence (with _low, _high); asked 0 is drawn hatched
    handbook  the run's word for a handbook, for the hover text

    Every bar's `customdata` is its handbook_id.
    """
    organs = list(dict.fromkeys(cells["question_organ"]))
    # Traces are plain dicts, so plotly validates each of their several thousand values once and not twice.
    traces = [_strip(rows), _column(rows, 0.0, "all questions", handbook)]
    for i, organ in enumerate(organs):
        own = cells[cells["question_organ"] == organ]
        of_handbook = rows[["handbook_id", "name", "place", "organ"]].rename(columns={"organ": "own_organ"})
        column = of_handbook.merge(own, on="handbook_id", how="left")
        column["muted"] = ~column["own_organ"].isin((organ, GENERAL)) & (organ != GENERAL)
        traces.append(_column(column, FIRST_ORGAN + i, f"{display_name(organ)} questions", handbook))
    figure = go.Figure(traces)
    _head_columns(figure, organs)
    _head_groups(figure, rows)
    return _laid_out(figure, rows, head=_head_height(organs))


def _strip(rows: pd.DataFrame) -> Trace:
    """The colours of the handbooks' own organs; of zero width where all have the same organ."""
    colours = organ_colours(rows["organ"])
    width = 0.12 if rows["organ"].nunique() > 1 else 0.0
    return BAR | {
        "y": rows["place"], "x": [width] * len(rows), "base": STRIP - width, "width": 1.0,
        "marker": {"color": rows["organ"].map(colours), "line": {"width": 0}}, "customdata": rows["handbook_id"],
        "hovertext": [html(organ) for organ in rows["organ"]],
    }  # fmt: skip


def _column(column: pd.DataFrame, start: float, title: str, handbook: str) -> Trace:
    asked = column["asked"].fillna(0) > 0
    cells = list(zip(column["absence"], asked, strict=True))
    hatching = {"shape": ["" if known else LABEL_PATTERNS[NOT_ASKED] for known in asked], "bgcolor": "#ffffff"}
    muted = column.get("muted", pd.Series(False, index=column.index)).fillna(False)
    colours = [
        HATCHING if not known else MUTED if aside else SHADES[round(100 * share)]
        for (share, known), aside in zip(cells, muted, strict=True)
    ]
    return BAR | {
        "y": column["place"], "x": [0.98] * len(column), "base": start - 0.24, "width": 0.94,
        "marker": {"color": colours, "pattern": hatching, "line": {"width": 0}},
        "insidetextfont": {"size": 12, "color": [MUTED_TEXT if colour == MUTED else ink_on(colour) for colour in colours]},
        "text": [fixed(100 * share, 0) if known else "" for share, known in cells],
        "customdata": column["handbook_id"], "hovertext": [_hover(row, title, handbook) for row in column.to_dict("records")],
    }  # fmt: skip


def _hover(row: Row, title: str, handbook: str) -> str:
    name = f"<b>{html(row['name'])}</b><br>{html(title)}: "
    # Not `<= 0`: where a handbook has no cell, asked is NaN.
    if not row["asked"] > 0:
        return f"{name}not asked of this {html(handbook)}"
    span = interval(row["absence_low"], row["absence_high"])
    return f"{name}{row['absent']:,.0f} of {row['asked']:,.0f} not addressed<br>{percent(row['absence'])} (95 % interval {span})"


def _slanted(organs: Sequence[str]) -> bool:
    longest = max((len(word) for organ in organs for word in display_name(organ).split()), default=0)
    return longest * len(organs) > MAX_HEAD_LETTERS


def _head_height(organs: Sequence[str]) -> int:
    """Pixels above the rows: a slanted name of n letters of 13 px rises by about 4 px a letter."""
    longest = min(MAX_LENGTH, max((len(display_name(organ)) for organ in organs), default=0))
    return max(60, 16 + 4 * longest) if _slanted(organs) else 60


def _head_columns(figure: go.Figure, organs: Sequence[str]) -> None:
    slanted = _slanted(organs)
    heads = clipped_names(organs) if slanted else [_wrapped(organ) for organ in organs]
    places = [0.25, *(FIRST_ORGAN + 0.25 + i for i in range(len(organs)))]
    figure.update_xaxes(
        **axis_of_names(["<b>all</b>", *heads], places), side="top", tickangle=-35 if slanted else 0, ticklabeloverflow="allow",
        range=[STRIP - 0.15, places[-1] + 0.52], showgrid=False, tickfont={"size": 13}, ticks="",
    )  # fmt: skip


def _wrapped(name: str, width: int = 13) -> str:
    lines: list[str] = []
    for word in display_name(name).split():
        if lines and len(lines[-1]) + len(word) < width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "<br>".join(map(html, lines)) or NO_NAME


def _head_groups(figure: go.Figure, rows: pd.DataFrame) -> None:
    if rows["organ"].nunique() < 2:
        return
    groups = rows[rows["opens"]]
    for first, name in zip(groups.to_dict("records"), clipped_names(groups["organ"], MAX_GROUP_HEAD), strict=True):
        count = int((rows["organ"] == first["organ"]).sum())
        figure.add_annotation(
            x=STRIP - 0.12, y=first["place"] - 1.0, text=f"<b>{name}</b> ({count})", showarrow=False,
            xanchor="left", font={"color": INK, "size": 14},
        )  # fmt: skip


def _laid_out(figure: go.Figure, rows: pd.DataFrame, head: int) -> go.Figure:
    last = float(rows["place"].max()) if len(rows) else 0.0
    figure.update_yaxes(
        **axis_of_names(clipped_names(rows["name"], 46), rows["place"].tolist()), ticks="", range=[last + 0.6, -0.6],
        showgrid=False, tickfont={"size": 12},
    )  # fmt: skip
    return styled(
        figure, int(50 + head + ROW_HEIGHT * (last + 1)), barmode="overlay", showlegend=False, bargap=0,
        margin={"l": 8, "r": 48, "t": head, "b": 8},
    )  # fmt: skip
