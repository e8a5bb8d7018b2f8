"""Which pair is opened: three parameters of the address, question, a and b."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from audit.vocabulary import Label

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
