"""The ranked list of pairs, a page at a time; the row that is picked goes into the address."""

from __future__ import annotations

import hashlib
from functools import partial

import pandas as pd
import streamlit as st

from audit.charts.ground import DARK_LABELS, NIGHT, PAPER
from audit.charts.style import LABEL_COLOURS, LABEL_WORDS
from pages._blinded.theme import is_dark
from pages._shared import url
from pages._shared.opened import MOVES, Opened, open_pair, opened_pair, pairs_of

PER_PAGE = 100
ROW_HEIGHT, ROWS_IN_SIGHT = 68, 7
"""Rows higher than 4 rem wrap their text."""


def pair_list(table: pd.DataFrame, names: dict[str, str]) -> None:
    """Draw the list, the opened pair selected; a click anywhere in a row, or the arrow keys, open another."""
    pairs = pairs_of(table)
    now = opened_pair(table)
    shown = hashlib.sha256(repr(pairs).encode()).hexdigest()[:12]
    key = f"pairs_{shown}_{st.session_state.get(MOVES, 0)}"
    st.dataframe(
        _coloured(_readable(table, names)), key=key, hide_index=True, row_height=ROW_HEIGHT, placeholder="",
        height=38 + ROW_HEIGHT * min(len(table), ROWS_IN_SIGHT), on_select=partial(_picked, key, pairs),
        selection_mode="single-cell",
        selection_default={"selection": {"cells": [(pairs.index(now), "about")] if now in pairs else []}},
        column_config={
            "label": st.column_config.TextColumn("Label", width=100),
            "about": st.column_config.TextColumn("What about", width=180),
            "question": st.column_config.TextColumn("Question", width=220),
            "between": st.column_config.TextColumn("Between", width=220),
        },
    )  # fmt: skip


def page_number() -> int:
    """The page of the list that the address asks for, from 1."""
    asked = url.one("page", None, "1") or "1"
    if asked.isdecimal() and 0 < int(asked) < 10**6:
        return int(asked)
    url.note("page", asked)
    return 1


def page_picker(total: int) -> None:
    """Pages of the list, where it has more than one."""
    pages = -(-total // PER_PAGE)
    if pages > 1:
        now = min(page_number(), pages)
        key = f"page_{now}"
        st.pagination(pages, default=now, key=key, max_visible_pages=5, on_change=_turned, args=(key,))


def _turned(key: str) -> None:
    st.query_params["page"] = str(st.session_state[key])


def _picked(key: str, pairs: list[Opened]) -> None:
    for row, _ in st.session_state[key]["selection"]["cells"]:
        if row < len(pairs):
            open_pair(pairs[row])


def _readable(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    label = table["label"].astype("object").where(table["label"].notna(), "unscored")
    about = table["divergence_topic"].fillna("").replace("", pd.NA).fillna(table["question_text"])
    significance = table["significance"].astype("object").where(table["significance"].notna(), "")
    return pd.DataFrame(
        {
            "label": label.map(LABEL_WORDS) + significance.map(lambda word: f"\n{word}" if word else ""),
            "about": about,
            "question": table["question_text"],
            "between": table["handbook_a"].map(names) + "\n" + table["handbook_b"].map(names),
        }
    )


def _coloured(frame: pd.DataFrame) -> object:
    ground, colours = (NIGHT, DARK_LABELS) if is_dark() else (PAPER, LABEL_COLOURS)
    tints = {LABEL_WORDS[name]: _tint(colour, ground) for name, colour in colours.items()}
    return frame.style.map(lambda label: f"background-color: {tints[label.splitlines()[0]]}", subset=["label"])


def _tint(colour: str, ground: str, share: float = 0.3) -> str:
    """A label's colour as a pale ground, or a dim one in the dark, for the page's own letters."""
    mixed = (round((1 - share) * int(ground[i : i + 2], 16) + share * int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)
