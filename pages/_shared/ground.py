"""Figures in the colours of the page they stand on."""

from __future__ import annotations

from audit.charts.ground import on_dark
from audit.charts.style import Figure
from pages._blinded.theme import is_dark


def on_this_ground(figure: Figure) -> Figure:
    """The figure as it is drawn on a light page, or its like for a dark one."""
    return on_dark(figure) if is_dark() else figure
