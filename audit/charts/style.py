"""Colours, order, names and number formats that every chart and page shares.

The five labels run from grey (not addressed) over blue (agreement) to orange and dark red (disagreement). The hues
are those of Okabe and Ito (2008). They also differ in lightness, so they can be told apart in greyscale and with every common
colour blindness.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audit.formatting import fixed, isolated
from audit.terms import display_name
from audit.vocabulary import GENERAL, LABELS, Label

# What every chart returns; pages use this name, so only this package imports plotly.
Figure = go.Figure

UNSCORED = "unscored"
NOT_ASKED = "not asked"

LABEL_COLOURS: dict[str, str] = {
    Label.ABSENT: "#d4d7db",
    Label.CONSISTENT: "#0072b2",
    Label.COMPLEMENTARY: "#80bce6",
    Label.DIVERGENT: "#e69f00",
    Label.CONTRADICTORY: "#a3210f",
    UNSCORED: "#8a8f98",
    NOT_ASKED: "#ffffff",
}
# Hatching, so a missing verdict never looks like a label.
LABEL_PATTERNS: dict[str, str] = {UNSCORED: "/", NOT_ASKED: "x"}

LABEL_WORDS: dict[str, str] = {
    Label.ABSENT: "absent", Label.CONSISTENT: "consistent", Label.COMPLEMENTARY: "complementary", Label.DIVERGENT: "divergent",
    Label.CONTRADICTORY: "contradictory", UNSCORED: "unscored", NOT_ASKED: "not asked",
}  # fmt: skip
PLAIN_LABELS = {
    **LABEL_WORDS, Label.DIVERGENT: "different advice (divergent)", Label.CONTRADICTORY: "opposite advice (contradictory)",
}  # fmt: skip
"""The same for readers who have not met the labels."""
LABEL_ORDER: tuple[str, ...] = (*(label.value for label in LABELS), UNSCORED, NOT_ASKED)
SEVERE = "#7a4300"
"""The far end of a scale of severity: brown, because red is for CONTRADICTORY alone."""
SIGNIFICANCE_COLOURS = {"low": "#f6d58f", "medium": "#e69f00", "high": SEVERE}
# Dark where a handbook answers many questions, paper-coloured where it answers none.
ABSENCE_SCALE = ((0.0, "#f3ece0"), (0.5, "#8fb8c9"), (1.0, "#0b4f6c"))

NO_VALUE = "\N{EN DASH}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
INK = "#31333f"
DARK_INK = "#1f2328"
"""For text on one of the colours defined here."""
# For text on any colour: black or white has a contrast of at least 4.5 to 1 with each.
BLACK = "#000000"
FAINT = "#6b7280"
ACCENT = "#0072b2"
GENERAL_COLOUR = "#6b7280"
# Paul Tol's muted palette, its rose replaced by a purple of Okabe and Ito: red is for one label alone. Organs take colours in
# alphabetical order, so an organ keeps its colour on every page.
QUALITATIVE = ("#cc79a7", "#332288", "#117733", "#ddaa33", "#88ccee", "#882255", "#44aa99", "#999933", "#aa4499")

# The page has the first; a figure saved from it may be opened where only a wider one is, for which
# `fallback_font.with_room_for_names` makes room. DejaVu Sans, the widest, has a condensed style as wide as Arial.
FONT = '"Source Sans", "Source Sans Pro", "Source Sans 3", "Helvetica Neue", Arial, "DejaVu Sans Condensed", sans-serif'


def html(text: object) -> str:
    """A release's name for a Plotly label or hover text, as a person reads it."""
    return literal(display_name(text))


def literal(text: str) -> str:
    """The same text as it is: tags would be read as formatting. One from right to left has its own direction."""
    # `&` first, or the others would be escaped twice.
    return isolated(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def cut(text: str, max_length: int) -> str:
    """`text` cut to `max_length` characters with an ellipsis."""
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + ELLIPSIS


def percent(share: float | None, digits: int = 1) -> str:
    """A share in [0, 1] as `12.3 %`; a dash where it is missing."""
    return NO_VALUE if share is None or pd.isna(share) else f"{fixed(100 * share, digits)} %"


def percent_ticks(shares: Sequence[float]) -> dict[str, list[object]]:
    """Axis ticks at these shares, written `20 %` as everywhere else; Plotly's own format has no space."""
    # 0.07 * 100 is not exactly 7.
    are_whole_percents = all(abs(100 * share - round(100 * share)) < 1e-9 for share in shares)
    return {"tickvals": list(shares), "ticktext": [percent(share, 0 if are_whole_percents else 1) for share in shares]}


def interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """`10.1 to 14.6 %`; "" without an interval."""
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return ""
    return f"{fixed(100 * low, digits)} to {fixed(100 * high, digits)} %"


def ink_on(colour: str, dark: str = DARK_INK) -> str:
    """Dark or white text, whichever has the higher contrast with this background colour."""
    # Dark text has the higher contrast where the luminance is above the geometric mean of dark's and white's (WCAG).
    return dark if (_luminance(colour) + 0.05) ** 2 > 1.05 * (_luminance(dark) + 0.05) else "#ffffff"


def _luminance(colour: str) -> float:
    """Relative luminance, 0 to 1. The contrast of two colours is the ratio of their luminances, each plus 0.05 (WCAG 2.2)."""
    linear = (
        (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for part in (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def organ_colours(organs: Iterable[str]) -> dict[str, str]:
    """One colour per organ; `general` is always grey."""
    named = sorted(set(organs) - {GENERAL})
    colours = {organ: QUALITATIVE[i % len(QUALITATIVE)] for i, organ in enumerate(named)}
    return colours | {GENERAL: GENERAL_COLOUR}


Axes = Mapping[str, object]


def styled(figure: go.Figure, height: int, xaxes: Axes | None = None, yaxes: Axes | None = None, **layout: object) -> go.Figure:
    """The common layout: readable type, room for long labels, no frame, no accidental zoom.

    xaxes, yaxes  further settings of all axes
    """
    common: dict[str, object] = {
        "height": height,
        "font": {"family": FONT, "size": 14, "color": INK},
        "margin": {"l": 8, "r": 24, "t": 36, "b": 8},  # right: half of the last text of a scale, which is hidden where it is cut
        # Transparent, so the page's own background shows in light and dark mode.
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        # Pages are scrolled by touch and wheel, which must not zoom a chart by accident.
        "dragmode": False,
        "hoverlabel": {"font": {"size": 14, "family": FONT}, "align": "left"},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "xanchor": "left", "traceorder": "normal"},
    }
    set_layout(figure, _merged(common, layout))
    axes = {"automargin": True, "fixedrange": True, "zeroline": False}
    set_axes(figure, figure.select_xaxes(), {**axes, **(xaxes or {})})
    set_axes(figure, figure.select_yaxes(), {**axes, **(yaxes or {})})
    return figure


def set_layout(figure: go.Figure, settings: Mapping[str, object]) -> go.Figure:
    """The figure, which is changed: with these parts of its layout; those in a group, such as a legend's, add to what it has."""
    # Each part is replaced as a whole: `update_layout` takes eight times as long
    for name, value in settings.items():
        figure.layout[name] = _merged(figure.layout[name].to_plotly_json(), value) if isinstance(value, Mapping) else value
    return figure


PANEL_TITLE_SIZE = 13


def on_two_lines(title: str) -> str:
    """The title of a panel, broken before the brackets, else after its first word: a line would run into the next panel's."""
    return title.replace(" (", "<br>(", 1) if " (" in title else title.replace(" ", "<br>", 1)


def panels(columns: int, titles: Sequence[str], gap: float, rows: int = 1, row_gap: float = 0.0) -> go.Figure:
    """An empty figure of panels, row by row, with a title above each; gaps are shares of the figure's width and height.

    Panels of a row share their vertical axis.
    """
    # A copy takes half the time of making them, and the same panels are asked for at every rerun of a page
    return copy.deepcopy(_empty_panels(columns, tuple(titles), gap, rows, row_gap))


@lru_cache(maxsize=64)
def _empty_panels(columns: int, titles: tuple[str, ...], gap: float, rows: int, row_gap: float) -> go.Figure:
    figure = make_subplots(
        rows=rows, cols=columns, shared_yaxes=True, horizontal_spacing=gap, vertical_spacing=row_gap, subplot_titles=titles
    )
    return figure.update_annotations(font={"size": PANEL_TITLE_SIZE})


def set_axes(figure: go.Figure, axes: Iterable[go.layout.XAxis | go.layout.YAxis], settings: Axes) -> None:
    """Set axes of a figure (of `figure.select_xaxes`); those in a group, such as a font's, add to what it has."""
    # Each axis is replaced as a whole: Plotly takes ten times as long to update it setting by setting
    for axis in list(axes):
        figure.layout[axis.plotly_name] = _merged(axis.to_plotly_json(), settings)


def _merged(settings: Axes, others: Axes) -> dict[str, object]:
    """Settings with others, which add to those in a group, such as a legend's or a font's, and replace single ones."""
    both = dict(settings)
    for name, value in others.items():
        own = settings.get(name)
        both[name] = {**own, **value} if isinstance(own, dict) and isinstance(value, dict) else value
    return both


HANDBOOK_NAME_PARTS = ("organ", "center", "phase")


def handbook_names(handbooks: pd.DataFrame, without: tuple[str, ...] = ()) -> dict[str, str]:
    """handbook_id -> name, such as `heart · Alder · pre`; parts that all handbooks share, and those in `without`, are left out.

    `handbooks` has one or more rows per handbook with handbook_id, organ, center and phase. Two handbooks whose
    three parts are all equal also show their ids, so no two have the same name (unless `without` hides the difference).
    """
    single = handbooks.drop_duplicates("handbook_id")
    ids, parts = single["handbook_id"].tolist(), {part: single[part].tolist() for part in HANDBOOK_NAME_PARTS}
    # The center is in every name, also where all have the same: a name must not be empty.
    shown = [part for part in parts if part == "center" or (part not in without and len(set(parts[part])) > 1)]
    # Every page names handbooks; row by row in pandas this took 20 ms of it for a hundred.
    names = [" · ".join(map(display_name, row)) for row in zip(*(parts[part] for part in shown), strict=True)]
    alike = Counter(zip(*parts.values(), strict=True))
    keys = zip(*parts.values(), strict=True)
    return {
        handbook_id: f"{name} · {handbook_id}" if alike[key] > 1 else name
        for handbook_id, name, key in zip(ids, names, keys, strict=True)
    }


def coefficient(value: float | None, digits: int = 2) -> str:
    """A coefficient such as kappa or rho, written `0.47`; a dash where it is unknown."""
    return NO_VALUE if value is None or pd.isna(value) else fixed(value, digits)


def coefficient_interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """`0.32 to 0.60`; `unknown` without an interval."""
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return "unknown"
    return f"{fixed(low, digits)} to {fixed(high, digits)}"
