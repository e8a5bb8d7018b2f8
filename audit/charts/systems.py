"""Answering systems compared: means, differences and strengths as dots with intervals, and composites against retrieval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import MAX_LENGTH, names_of
from audit.charts.rates import DOT, ROW_HEIGHT, interval_bars, with_rows
from audit.charts.run_changes import CLEAR_DIRECTIONS
from audit.charts.style import (
    ACCENT,
    FAINT,
    INK,
    NO_VALUE,
    coefficient_interval,
    html,
    on_two_lines,
    panels,
    set_axes,
    set_layout,
    styled,
)
from audit.formatting import fixed, signed
from audit.tables import Row


def decimals(value: float) -> int:
    """How many decimals a mean of this size needs: 0.209, 7.81, 238.4 words."""
    return 3 if abs(value) < 1 else 2 if abs(value) < 100 else 1


def written(value: float | None, *, sign: bool = False, like: float | None = None) -> str:
    """A mean, or a difference of means (`sign`), with the decimals of its size or of `like`; a dash where it is unknown."""
    if value is None or pd.isna(value):
        return NO_VALUE
    digits = decimals(value if like is None else like)
    return signed(value, digits) if sign else fixed(value, digits)


def mean_dots(frame: pd.DataFrame, by: str, titles: Mapping[str, str], called: str = "") -> go.Figure:
    """One panel per measure and one row per `by`, in the order of the frame: means as dots, lines are 95 % intervals.

    `by` tells rows apart, and `called` is the column with what a reader calls them (`by` itself where it is empty).

    frame   long: `by`, measure, answers (int), mean, mean_low, mean_high; a missing row leaves its place empty
    titles  measure -> title of its panel, in drawing order; at least one

    Each panel has its own scale, which begins at 0.
    """
    names = names_of(frame, by, called)
    rows_of = _rows_of_panels(frame, by, names, titles)
    figure = _panels(titles, len(names))
    for number, (measure, title) in enumerate(titles.items()):
        rows = rows_of[measure]
        hover = [_mean_hover(row, names[row[by]], title) for row in rows]
        figure.add_trace(_dots(rows, "mean", hover, [ACCENT] * len(rows)), **_place(number))
        known = _known(rows, "mean", "mean_low", "mean_high")
        top = max(known, default=0.0)
        scale = {"range": [min([0.0, *known]), 1.08 * top if top > 0 else 1.0], "nticks": 4}
        set_axes(figure, figure.select_xaxes(**_place(number)), scale)
    return _laid_out(figure, list(names.values()), len(titles))


def difference_dots(frame: pd.DataFrame, by: str, titles: Mapping[str, str], called: str = "") -> go.Figure:
    """Panels of differences to a baseline, with 0 in the middle of each; filled where the interval excludes 0.

    `by` and `called` are those of `mean_dots`.

    frame  long: `by`, measure, of (int, questions that both have), change, change_low, change_high, moves
    """
    names = names_of(frame, by, called)
    rows_of = _rows_of_panels(frame, by, names, titles)
    figure = _panels(titles, len(names))
    for number, (measure, title) in enumerate(titles.items()):
        rows = rows_of[measure]
        fills = [ACCENT if row["moves"] in CLEAR_DIRECTIONS else "#ffffff" for row in rows]
        hover = [_difference_hover(row, names[row[by]], title) for row in rows]
        figure.add_trace(_dots(rows, "change", hover, fills), **_place(number))
        limit = 1.15 * max(map(abs, _known(rows, "change", "change_low", "change_high")), default=0.0) or 1.0
        digits = -math.floor(math.log10(limit / 1.5))
        tick = math.floor(limit / 1.5 * 10**digits) / 10**digits  # one figure, rounded down: a tick outside would not be drawn
        digits = max(digits, 0)
        ticks = {"tickvals": [-tick, 0, tick], "ticktext": [signed(-tick, digits), "0", signed(tick, digits)]}
        set_axes(figure, figure.select_xaxes(**_place(number)), {"range": [-limit, limit], **ticks})
        figure.add_vline(x=0, line={"color": FAINT, "width": 1.5}, **_place(number))
    return _laid_out(figure, list(names.values()), len(titles))


Rows = Sequence[Row]


def _rows_of_panels(frame: pd.DataFrame, by: str, keys: Iterable[Hashable], measures: Iterable[str]) -> dict[str, Rows]:
    """The rows of each measure, one for each key; where the frame does not have one, its values are NaN.

    Rows are dictionaries: as frames, those of a page's panels took a tenth of its time.
    """
    known = {(row["measure"], row[by]): row for row in frame.to_dict("records")}
    unknown: dict[Hashable, object] = dict.fromkeys(frame.columns, math.nan)
    return {measure: [known.get((measure, key)) or {**unknown, by: key} for key in keys] for measure in measures}


def _known(rows: Rows, *columns: str) -> list[float]:
    return [float(row[column]) for row in rows for column in columns if not pd.isna(row[column])]


PANELS_IN_A_ROW = 3
"""More would be too narrow to read on a phone."""
MAX_BESIDE_THREE = 26  # letters of a name beside as many panels, whose titles would lie on each other


PANEL_GAP = 86
"""Pixels between two rows of panels: the ticks of one and the title of the next."""


def _panels(titles: Mapping[str, str], systems: int) -> go.Figure:
    columns = min(PANELS_IN_A_ROW, len(titles))
    rows = -(-len(titles) // columns)
    heads = list(map(on_two_lines, titles.values()))
    gap = PANEL_GAP / (rows * ROW_HEIGHT * systems + (rows - 1) * PANEL_GAP) if rows > 1 else 0.0
    return panels(columns, heads, 0.07, rows, gap)


def _place(number: int) -> dict[str, int]:
    return {"row": number // PANELS_IN_A_ROW + 1, "col": number % PANELS_IN_A_ROW + 1}


def _laid_out(figure: go.Figure, names: Sequence[str], how_many: int) -> go.Figure:
    rows = -(-how_many // PANELS_IN_A_ROW)
    height = 96 + rows * ROW_HEIGHT * len(names) + (rows - 1) * PANEL_GAP
    letters = MAX_LENGTH if how_many < PANELS_IN_A_ROW else MAX_BESIDE_THREE
    return set_layout(with_rows(figure, names, letters=letters), {"height": height})


def _dots(rows: Rows, column: str, hover: Sequence[str], fills: Sequence[str]) -> go.Scatter:
    value, low, high = (pd.Series([row[column + end] for row in rows], dtype=float) for end in ("", "_low", "_high"))
    return go.Scatter(
        x=value, y=list(range(len(rows))), mode="markers", cliponaxis=False, text=list(hover),
        hovertemplate="%{text}<extra></extra>", error_x=interval_bars(value, low, high, ACCENT),
        marker={"size": DOT, "color": list(fills), "line": {"color": ACCENT, "width": 1.5}},
    )  # fmt: skip


def _mean_hover(row: Row, called: str, title: str) -> str:
    name = f"<b>{html(called)}</b><br>{html(title)}: "
    if pd.isna(row["mean"]):
        return f"{name}not known"
    span = f"{written(row['mean_low'], like=row['mean'])} to {written(row['mean_high'], like=row['mean'])}"
    return f"{name}{written(row['mean'])}<br>95 % interval {span}<br>{row['answers']:,.0f} answers"


def _difference_hover(row: Row, called: str, title: str) -> str:
    name = f"<b>{html(called)}</b><br>{html(title)}: "
    if pd.isna(row["change"]):
        return f"{name}not known"
    known = not pd.isna(row["change_low"])
    ends = (written(row[end], sign=True, like=row["change"]) for end in ("change_low", "change_high"))
    span = f"95 % interval {' to '.join(ends)}" if known else "too few questions for an interval"
    return f"{name}{written(row['change'], sign=True)}<br>{span}<br>{row['of']:,.0f} questions that both have"


def strength_dots(frame: pd.DataFrame) -> go.Figure:
    """Bradley-Terry strengths with their intervals, the strongest first.

    frame  system_id, name, comparisons, strength (_low, _high)
    """
    rows = frame.sort_values("strength", ascending=False, ignore_index=True).to_dict("records")
    names = names_of(frame, "system_id", "name")
    hover = [
        f"<b>{html(names[row['system_id']])}</b><br>strength {written(row['strength'], sign=True)} "
        f"({coefficient_interval(row['strength_low'], row['strength_high'])})<br>{row['comparisons']:,} comparisons"
        for row in rows
    ]
    figure = panels(1, ["Strength (log odds); 0: as strong as the average"], 0.0)
    figure.add_trace(_dots(rows, "strength", hover, [ACCENT] * len(rows)))
    figure.add_vline(x=0, line={"color": FAINT, "width": 1.5})
    return with_rows(figure, [names[row["system_id"]] for row in rows])


# -- downstream --------------------------------------------------------------------------------------------------------

LARGEST_BUBBLE = 34
"""Pixels, for the combination of values that most questions have."""


def downstream_bubbles(points: pd.DataFrame, title: str) -> go.Figure:
    """Composites against how well retrieval found the sections; the line joins the mean composite at each value.

    points  one row per question: value (of the retrieval measure, in [0, 1]), composite
    title   of the retrieval measure

    Values are rounded to tenths. Questions with equal values and composites are one bubble, whose area is their number.
    """
    rounded = points.assign(value=points["value"].round(1), composite=points["composite"].round(1))
    numbers = rounded.groupby(["value", "composite"]).size().reset_index(name="questions")
    means = points.groupby(rounded["value"])["composite"].mean()
    largest = numbers["questions"].max()
    figure = go.Figure(
        go.Scatter(
            x=numbers["value"], y=numbers["composite"], mode="markers", name="questions (area: how many)", cliponaxis=False,
            marker={
                "size": numbers["questions"], "sizemode": "area", "sizeref": 2 * largest / LARGEST_BUBBLE**2, "sizemin": 3,
                "color": ACCENT, "opacity": 0.45, "line": {"width": 0},
            },
            text=[
                f"{row['questions']:,} questions<br>{html(title)} {fixed(row['value'], 1)}<br>"
                f"composite {fixed(row['composite'], 1)}"
                for row in numbers.to_dict("records")
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_scatter(
        x=means.index, y=means, mode="lines+markers", name="mean composite", hoverinfo="skip",
        line={"color": INK, "width": 1.5}, marker={"size": 5, "color": INK},
    )  # fmt: skip
    scale = {"gridcolor": "#e4e7eb", "tickfont": {"size": 12}, "title_font": {"size": 13}}
    figure.update_xaxes(title=html(title), range=[-0.04, 1.04], **scale)
    figure.update_yaxes(title="Composite, 0 to 10", range=[-0.3, 10.3], **scale)
    return styled(figure, 360, hovermode="closest")
