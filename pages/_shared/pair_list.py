"""The ranked list of pairs, a page at a time; the row that is picked goes into the address."""

from __future__ import annotations

import hashlib
from functools import partial
from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.dark_mode import DARK_BACKGROUND, DARK_LABEL_COLOURS, LIGHT_BACKGROUND
from audit.charts.style import LABEL_COLOURS, LABEL_WORDS
from audit.vocabulary import Label
from pages._blinded.theme import is_dark
from pages._shared.pickers import param_value, warn_unknown_value

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
    asked = param_value("page", None, "1") or "1"
    if asked.isdecimal() and 0 < int(asked) < 10**6:
        return int(asked)
    warn_unknown_value("page", asked)
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
    background, colours = (DARK_BACKGROUND, DARK_LABEL_COLOURS) if is_dark() else (LIGHT_BACKGROUND, LABEL_COLOURS)
    tints = {LABEL_WORDS[name]: _tint(colour, background) for name, colour in colours.items()}
    return frame.style.map(lambda label: f"background-color: {tints[label.splitlines()[0]]}", subset=["label"])


def _tint(colour: str, ground: str, share: float = 0.3) -> str:
    """A label's colour as a pale ground, or a dim one in the dark, for the page's own letters."""
    mixed = (round((1 - share) * int(ground[i : i + 2], 16) + share * int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)


Opened = tuple[str, str, str]
PARAMS = ("question", "a", "b")
COLUMNS = ["question_id", "handbook_a", "handbook_b"]
MOVES = "moves in the list"
GRAVITY = {label.value: label.code for label in Label}


def pairs_of(table: pd.DataFrame) -> list[Opened]:
    """The pairs of a list, as the address names them."""
    return list(table[COLUMNS].itertuples(index=False, name=None))


def opened_pair(table: pd.DataFrame) -> Opened:
    """The pair that the address names, else the first of the list."""
    question, a, b = (st.query_params.get(name) for name in PARAMS)
    return (question, a, b) if question and a and b else pairs_of(table)[0]


def open_pair(pair: Opened) -> None:
    """Write a pair into the address."""
    st.query_params.update(zip(PARAMS, pair, strict=True))


def close_when_changed(name: str, view: Any, params: tuple[str, ...]) -> None:
    """Drop `params` from the address when the view called `name` is no longer that of the last run of the page.

    The first run after a link is opened has no last one, so a linked pair stays open.
    """
    seen = f"{name} seen"
    if st.session_state.get(seen, view) != view:
        for param in params:
            st.query_params.pop(param, None)
    st.session_state[seen] = view


def opened_on(question_id: str, cells: pd.DataFrame, answering: pd.Series) -> tuple[str, str]:
    """The two handbooks opened on a question: those of the address, else the first couple with the gravest label."""
    a, b = st.query_params.get("a"), st.query_params.get("b")
    if st.query_params.get("question", question_id) == question_id and a in cells.index and b in cells.index and a != b:
        return str(a), str(b)
    couples = list(combinations(answering, 2))
    return max(couples, key=lambda couple: GRAVITY.get(str(cells.at[couple]), -1))


def click_opens(clicked: tuple[str, str], opened: tuple[str, str]) -> None:
    """Open the pair of a clicked cell where another is open."""
    if clicked != opened:
        st.query_params.update(zip(("a", "b"), clicked, strict=True))
        st.rerun()


def step_buttons(table: pd.DataFrame, now: Opened) -> None:
    """Previous and next pair of the list, also on the keys P and N."""
    pairs = pairs_of(table)
    place = pairs.index(now) if now in pairs else -1
    _step("Previous", "P", pairs, place - 1, place > 0)
    _step("Next", "N", pairs, place + 1, place + 1 < len(pairs))


def _step(label: str, key: str, pairs: list[Opened], to: int, possible: bool) -> None:
    st.button(label, shortcut=key, key=label, disabled=not possible, on_click=_move, args=(pairs[to] if possible else None,))


def _move(pair: Opened) -> None:
    open_pair(pair)
    # A table takes a selection from the program only when it is drawn anew.
    st.session_state[MOVES] = st.session_state.get(MOVES, 0) + 1
