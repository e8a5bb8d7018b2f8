"""Themes as a ranked list of bars: the disagreements of each by clinical significance."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from audit.charts.style import FAINT, INK, SIGNIFICANCE_COLOURS, clipped, html, styled
from audit.tables import Row
from audit.terms import display_name
from audit.vocabulary import SIGNIFICANCES

ROW_HEIGHT = 26
NOT_STATED = "unstated"
GRADES = (*reversed(SIGNIFICANCES), NOT_STATED)
"""The columns that are drawn, the gravest first."""
GRADE_COLOURS = {**SIGNIFICANCE_COLOURS, NOT_STATED: FAINT}
GRADE_WORDS = {NOT_STATED: "significance not stated"}


def theme_bars(themes: pd.DataFrame) -> go.Figure:
    """One bar a theme, in the order of the frame: its disagreeing pairs of high, medium, low and unstated significance.

    themes  theme_id, name, disagreeing, high, medium, low, unstated (pairs)

    Every bar's `customdata` is its theme_id. A grade that no theme has is not drawn.
    """
    rows = list(range(len(themes)))
    hovers = [_hover(row) for row in themes[["name", "disagreeing", *GRADES]].to_dict("records")]
    traces = [_bars(themes, rows, grade, hovers) for grade in GRADES if themes[grade].sum()]
    xaxes = {"title": {"text": "disagreeing pairs"}, "gridcolor": "#e4e7eb", "rangemode": "tozero"}
    names = {"tickmode": "array", "tickvals": rows, "ticktext": [clipped(name, 52) for name in themes["name"]]}
    yaxes = {**names, "ticklabelstandoff": 6, "range": [len(rows) - 0.4, -0.6], "showgrid": False}
    # From the left edge of the figure: beside long names, a window of 900 pixels has no room for its entries in a line
    legend = {"orientation": "h", "x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top"}
    figure, height = go.Figure(traces), 110 + ROW_HEIGHT * len(rows)
    return styled(figure, height, xaxes, yaxes, barmode="stack", bargap=0.3, legend=legend)


def _bars(themes: pd.DataFrame, rows: list[int], grade: str, hovers: list[str]) -> go.Bar:
    return go.Bar(
        x=themes[grade], y=rows, orientation="h", name=GRADE_WORDS.get(grade, f"{grade} significance"),
        marker={"color": GRADE_COLOURS[grade], "line": {"width": 0.5, "color": INK}}, customdata=themes["theme_id"],
        hovertext=hovers, hovertemplate="%{hovertext}<extra></extra>",
        # Plotly fades whatever was not clicked; here a click opens the disagreements and selects nothing.
        unselected={"marker": {"opacity": 1}},
    )  # fmt: skip


def _hover(row: Row) -> str:
    return f"<b>{html(display_name(row['name']))}</b><br>{row['disagreeing']:,} disagreeing pairs: {grades_text(row)}"


def grades_text(row: Row) -> str:
    """`2 high, 1 low`: how many of a theme's disagreements have which significance."""
    return ", ".join(f"{row[grade]:,} {'not stated' if grade == NOT_STATED else grade}" for grade in GRADES if row[grade])
