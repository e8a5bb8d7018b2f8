"""How pairs of several groups are labelled: a stacked bar for each group, in HTML, with its name above it on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from audit.charts.dark_mode import DARK_COLOURS, light_dark
from audit.charts.style import LABEL_COLOURS, LABEL_WORDS, ink_on, percent
from audit.terms import display_name
from pages._blinded.templates import rendered

CSS = Path(__file__).with_name("label_bars.css")


@dataclass(frozen=True)
class BarPart:
    """One label of a bar: its colours as CSS, its share of the bar, and the share as it is written."""

    label: str
    fill: str
    ink: str
    share: float
    written: str


def label_bars(names: Sequence[str], frame: pd.DataFrame, labels: Sequence[str], population: str) -> None:
    """Draw a bar for each row of the frame, which has one count column per label, by its word; a row without pairs says so."""
    counts = frame[[LABEL_WORDS[label] for label in labels]].astype(float).to_numpy().tolist()
    bars = [(display_name(name), round(sum(row)), _parts(row, labels)) for name, row in zip(names, counts, strict=True)]
    key = [(LABEL_WORDS[label], light_dark(LABEL_COLOURS[label])) for label in labels]
    st.html(CSS)
    st.html(rendered("organs/label_bars.html", bars=bars, key=key, population=population))


def _parts(row: Sequence[float], labels: Sequence[str]) -> list[BarPart]:
    total = sum(row)
    return [
        BarPart(
            LABEL_WORDS[label], light_dark(colour), f"light-dark({ink_on(colour)}, {ink_on(DARK_COLOURS[colour])})",
            count / total, percent(count / total),
        )
        for label, count in zip(labels, row, strict=True) if count for colour in [LABEL_COLOURS[label]]
    ]  # fmt: skip
