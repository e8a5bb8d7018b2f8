"""Colours, order and words that every chart and page shares.

The five labels run from grey (nothing said) over blue (agreement) to orange and dark red (disagreement): hues of
Okabe and Ito (2008), apart in lightness too, so they hold in greyscale and for every common colour blindness.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audit.number_format import fixed
from audit.terms import display_name
from audit.vocabulary import GENERAL, LABELS, Label

Figure = go.Figure
"""What every chart returns; pages know figures by this name, so that plotly stays in this package."""

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
LABEL_PATTERNS: dict[str, str] = {UNSCORED: "/", NOT_ASKED: "x"}
"""Hatching, so that a missing verdict never looks like a label."""

LABEL_WORDS: dict[str, str] = {
    Label.ABSENT: "absent",
    Label.CONSISTENT: "consistent",
    Label.COMPLEMENTARY: "complementary",
    Label.DIVERGENT: "divergent",
    Label.CONTRADICTORY: "contradictory",
    UNSCORED: "unscored",
    NOT_ASKED: "not asked",
}
LABEL_ORDER: tuple[str, ...] = (*(label.value for label in LABELS), UNSCORED, NOT_ASKED)
SIGNIFICANCE_COLOURS = {"low": "#f6d58f", "medium": "#e69f00", "high": "#a3210f"}
ABSENCE_SCALE = ((0.0, "#0b4f6c"), (0.5, "#8fb8c9"), (1.0, "#f3ece0"))
"""Dark where a handbook answers much, paper-coloured where it is silent."""

NO_VALUE = "\N{EN DASH}"
INK = "#31333f"
DARK_INK = "#1f2328"
"""For letters on a ground of one of the colours here."""
BLACK = "#000000"
"""For letters on a ground of any colour: black or white stands out 4.5 to 1 from every one."""
FAINT = "#6b7280"
ACCENT = "#0072b2"
GENERAL_COLOUR = "#6b7280"
QUALITATIVE = ("#cc6677", "#332288", "#117733", "#ddaa33", "#88ccee", "#882255", "#44aa99", "#999933", "#aa4499")
"""Tol's muted palette; organs take a colour in alphabetical order, so an organ keeps its colour on every page."""

FONT = '"Source Sans", "Source Sans Pro", "Helvetica Neue", Arial, sans-serif'


def html(text: object) -> str:
    """A release's text for a Plotly label or hover, which would take tags for formatting."""
    return display_name(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def clipped(text: object, most: int = 40) -> str:
    """`text` cut to `most` characters with an ellipsis, safe for Plotly."""
    plain = display_name(text)
    return html(plain if len(plain) <= most else plain[: most - 1].rstrip() + "…")


def percent(share: float | None, digits: int = 1) -> str:
    """A share in [0, 1] as `12.3 %`; a dash where there is none."""
    return NO_VALUE if share is None or pd.isna(share) else f"{fixed(100 * share, digits)} %"


def percent_ticks(shares: Sequence[float]) -> dict[str, list[Any]]:
    """What an axis prints at these shares: `20 %`, as everywhere else; Plotly's own format has no space."""
    whole = all(abs(100 * share - round(100 * share)) < 1e-9 for share in shares)
    return {"tickvals": list(shares), "ticktext": [percent(share, 0 if whole else 1) for share in shares]}


def interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """`10.1 to 14.6 %`; empty where there is no interval."""
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return ""
    return f"{fixed(100 * low, digits)} to {fixed(100 * high, digits)} %"


def ink_on(colour: str, dark: str = DARK_INK) -> str:
    """Dark or white letters, whichever stand out more from a ground of this colour."""
    return dark if (_light(colour) + 0.05) ** 2 > 1.05 * (_light(dark) + 0.05) else "#ffffff"


def _light(colour: str) -> float:
    """Relative luminance, 0 to 1; two colours stand out by the ratio of theirs, each with 0.05 added (WCAG 2.2)."""
    linear = (
        (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for part in (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def organ_colours(organs: Iterable[str]) -> dict[str, str]:
    """One colour for each organ; `general` is always grey."""
    named = sorted(set(organs) - {GENERAL})
    colours = {organ: QUALITATIVE[i % len(QUALITATIVE)] for i, organ in enumerate(named)}
    return colours | {GENERAL: GENERAL_COLOUR}


def styled(figure: go.Figure, height: int, **layout: Any) -> go.Figure:
    """The common layout: readable type, room for long labels, no frame, no zoom by accident."""
    figure.update_layout(
        height=height,
        font={"family": FONT, "size": 14, "color": INK},
        margin={"l": 8, "r": 8, "t": 36, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        dragmode=False,
        hoverlabel={"font": {"size": 14, "family": FONT}, "align": "left"},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "xanchor": "left", "traceorder": "normal"},
    )
    figure.update_xaxes(automargin=True, fixedrange=True, zeroline=False)
    figure.update_yaxes(automargin=True, fixedrange=True, zeroline=False)
    figure.update_layout(**layout)
    return figure


HANDBOOK_NAME_PARTS = ("organ", "center", "phase")


def handbook_names(handbooks: pd.DataFrame, without: tuple[str, ...] = ()) -> dict[str, str]:
    """handbook_id -> name, such as `heart · Alder · pre`; parts that all handbooks share, or in `without`, are left out.

    `handbooks` has one or more rows per handbook with handbook_id, organ, center and phase. Two handbooks whose
    three parts are all equal keep their ids too, so that no two go by one name (unless `without` hides what differs).
    """
    single = handbooks.drop_duplicates("handbook_id")
    telling = [part for part in HANDBOOK_NAME_PARTS if part == "center" or (part not in without and single[part].nunique() > 1)]
    names = single[telling].map(display_name).agg(" · ".join, axis=1)
    twins = single[list(HANDBOOK_NAME_PARTS)].duplicated(keep=False)
    names = names.mask(twins, names + " · " + single["handbook_id"])
    return dict(zip(single["handbook_id"], names, strict=True))


def coefficient(value: float | None, digits: int = 2) -> str:
    """A kappa, a rho or the like, `0.47`; a dash where it is not known."""
    return NO_VALUE if value is None or pd.isna(value) else fixed(value, digits)


def coefficient_interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """`0.32 to 0.60`; `unknown` where there is no interval."""
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return "unknown"
    return f"{fixed(low, digits)} to {fixed(high, digits)}"


def unsigned_zeros(values: pd.Series, digits: int) -> pd.Series:
    """Numbers for a table that a browser rounds: one that it would write as `-0.00` is 0."""
    return values.mask((values < 0) & (values.round(digits) == 0), 0.0)
