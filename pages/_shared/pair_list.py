"""The list of disagreements: its filters, its rows a page at a time, the open pair (all kept in the address), and re-judging."""

from __future__ import annotations

import hashlib
from functools import partial
from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.dark_mode import DARK_BACKGROUND, DARK_LABEL_COLOURS, LIGHT_BACKGROUND
from audit.charts.style import LABEL_COLOURS, LABEL_WORDS
from audit.metrics.disagreements import UNSCORED, Filters
from audit.metrics.theme import theme_topics
from audit.queries.lookup import filter_values
from audit.store.runs import Run
from audit.terms import display_name, fill
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES, Label
from pages._blinded.access import current_account, may_rejudge
from pages._blinded.frame import is_dark
from pages._shared.loaders import load
from pages._shared.pickers import named_by, param_value, pick_many, pick_one, type_words, warn_unknown_value
from pages._shared.themes import current_taxonomy_or_none, theme_names
from pages._shared.widgets import link, title_of

PER_PAGE = 100
ROW_HEIGHT_PX, MAX_VISIBLE_ROWS = 68, 7  # Streamlit wraps text in rows that are higher than 4 rem
PairKey = tuple[str, str, str]
"""Question id and the ids of both handbooks."""
PARAMS = ("question", "a", "b")
COLUMNS = ["question_id", "handbook_a", "handbook_b"]
STEPS_TAKEN = "steps taken in the list"
SEVERITY = {label.value: label.code for label in Label}


def pair_list(run: Run, table: pd.DataFrame, names: dict[str, str]) -> None:
    """Draw the list with the open pair selected; a click anywhere in a row opens another pair."""
    pairs = pairs_of(table)
    current = opened_pair(table)
    # The key changes with the pairs listed: a selection of row 3 must not carry over to another list.
    content = hashlib.sha256(repr(pairs).encode()).hexdigest()[:12]
    key = f"pairs_{content}_{st.session_state.get(STEPS_TAKEN, 0)}"
    st.dataframe(
        _with_label_colours(_list_rows(table, names)), key=key, hide_index=True, row_height=ROW_HEIGHT_PX, placeholder="",
        height=38 + ROW_HEIGHT_PX * min(len(table), MAX_VISIBLE_ROWS), on_select=partial(_open_picked, key, pairs),
        selection_mode="single-cell",
        selection_default={"selection": {"cells": [(pairs.index(current), "about")] if current in pairs else []}},
        column_config={
            "label": st.column_config.TextColumn("Label", width=100),
            "about": st.column_config.TextColumn("About", width=180),
            "question": st.column_config.TextColumn(title_of(run, "question"), width=220),
            "between": st.column_config.TextColumn(title_of(run, "handbooks"), width=220),
        },
    )  # fmt: skip


def page_number() -> int:
    """The page of the list in the address, counted from 1."""
    requested = param_value("page", None, "1") or "1"
    if requested.isdecimal() and 0 < int(requested) < 10**6:
        return int(requested)
    warn_unknown_value("page", requested)
    return 1


def page_picker(total: int) -> None:
    """Page numbers below the list, where it has more than one page."""
    pages = -(-total // PER_PAGE)
    if pages > 1:
        current = min(page_number(), pages)
        key = f"page_{current}"
        st.pagination(pages, default=current, key=key, max_visible_pages=5, on_change=_turn_page, args=(key,))


def _turn_page(key: str) -> None:
    st.query_params["page"] = str(st.session_state[key])


def _open_picked(key: str, pairs: list[PairKey]) -> None:
    for row, _ in st.session_state[key]["selection"]["cells"]:
        if row < len(pairs):
            open_pair(pairs[row])


def _list_rows(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
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


def _with_label_colours(frame: pd.DataFrame) -> object:
    background, colours = (DARK_BACKGROUND, DARK_LABEL_COLOURS) if is_dark() else (LIGHT_BACKGROUND, LABEL_COLOURS)
    tints = {LABEL_WORDS[name]: _tint(colour, background) for name, colour in colours.items()}
    return frame.style.map(lambda label: f"background-color: {tints[label.splitlines()[0]]}", subset=["label"])


def _tint(colour: str, background: str, share: float = 0.3) -> str:
    # Mixed into the background and not used in full, so that text on it stays readable in light and in dark mode.
    mixed = (round((1 - share) * int(background[i : i + 2], 16) + share * int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def step_buttons(table: pd.DataFrame, current: PairKey) -> None:
    """Buttons for the previous and the next pair of the list, also on the keys P and N."""
    pairs = pairs_of(table)
    index = pairs.index(current) if current in pairs else -1
    _step_button("Previous", "P", pairs[index - 1] if index > 0 else None)
    _step_button("Next", "N", pairs[index + 1] if index + 1 < len(pairs) else None)


def _step_button(label: str, key: str, target: PairKey | None) -> None:
    st.button(label, shortcut=key, key=label, disabled=target is None, on_click=_step_to, args=(target,))


def _step_to(pair: PairKey) -> None:
    open_pair(pair)
    # Streamlit applies `selection_default` only to a table that is drawn for the first time, so the key has to change.
    st.session_state[STEPS_TAKEN] = st.session_state.get(STEPS_TAKEN, 0) + 1


# -- which pair is open -----------------------------------------------------------------------------------------------


def pairs_of(table: pd.DataFrame) -> list[PairKey]:
    """The keys of the pairs in a list."""
    return list(table[COLUMNS].itertuples(index=False, name=None))


def opened_pair(table: pd.DataFrame) -> PairKey:
    """The pair in the address, else the first of the list."""
    question, a, b = (st.query_params.get(name) for name in PARAMS)
    return (question, a, b) if question and a and b else pairs_of(table)[0]


def open_pair(pair: PairKey) -> None:
    """Write a pair to the address."""
    st.query_params.update(zip(PARAMS, pair, strict=True))


def close_when_changed(name: str, view: Any, params: tuple[str, ...]) -> None:
    """Drop `params` from the address when the view called `name` has changed since the previous run of the page."""
    # The first run after a link is opened has no previous one, so a linked pair stays open.
    key = f"{name} seen"
    if st.session_state.get(key, view) != view:
        for param in params:
            st.query_params.pop(param, None)
    st.session_state[key] = view


def opened_on(question_id: str, cells: pd.DataFrame, answering: pd.Series) -> tuple[str, str]:
    """The open pair of handbooks on a question: the one in the address, else the first with the most serious label."""
    a, b = st.query_params.get("a"), st.query_params.get("b")
    if st.query_params.get("question", question_id) == question_id and a in cells.index and b in cells.index and a != b:
        return str(a), str(b)
    return max(combinations(answering, 2), key=lambda handbooks: SEVERITY.get(str(cells.at[handbooks]), -1))


def click_opens(clicked: tuple[str, str], opened: tuple[str, str]) -> None:
    """Open the pair of a clicked cell, unless it is open already."""
    if clicked != opened:
        st.query_params.update(zip(("a", "b"), clicked, strict=True))
        st.rerun()


# -- filters -----------------------------------------------------------------------------------------------------------

LABEL_CHOICES = (*(label.value for label in reversed(LABELS)), UNSCORED)
MAX_WORDS = 8


def pick_filters(run: Run, names: dict[str, str]) -> Filters:
    """Draw the filters (the most used in one row, the others behind a button) and return what was chosen."""
    values = load(filter_values, run)
    words, labels, organs, topics, more = st.columns([4, 4, 3, 3, 2], vertical_alignment="bottom")
    with words:
        typed = type_words("Words", "words", placeholder="in question, answers or reasoning")
    with labels:
        label = pick_many("Labels", LABEL_CHOICES, "label", _label_word, placeholder="Disagreeing")
    with organs:
        organ = pick_many(title_of(run, "organ"), values["organ"], "organ")
    with topics:
        topic = pick_many(title_of(run, "topic"), values["topic"], "topic")
    with more:
        further = _more_filters(run, values, names)
    return Filters(
        organs=tuple(organ),
        topics=tuple(topic),
        labels=tuple(label) or tuple(label.value for label in DISAGREEING),
        words=tuple(typed.split()[:MAX_WORDS]),
        **further,
    )


def _more_filters(run: Run, values: dict[str, list[str]], names: dict[str, str]) -> dict[str, Any]:
    params = {"theme", "subtopic", "significance", "center", "handbook", "phase"}
    used = len(params & set(st.query_params))
    with st.popover(f"More ({used})" if used else "More", icon=":material/tune:", width="stretch"):
        return {
            "divergence_topics": _topics_of_theme(run),
            "subtopics": tuple(pick_many(title_of(run, "subtopic"), values["subtopic"], "subtopic")),
            "significances": tuple(pick_many("Clinical significance", tuple(SIGNIFICANCES)[::-1], "significance")),
            "handbooks": tuple(pick_many(fill(run, "{Handbooks}"), list(names), "handbook", named_by(names))),
            "centers": tuple(pick_many(fill(run, "{Centers}"), values["center"], "center")),
            "phases": tuple(pick_many(fill(run, "{Phases}"), values["phase"], "phase")),
        }


def _topics_of_theme(run: Run) -> tuple[str, ...] | None:
    """The divergence topics of the chosen theme; None where none is chosen or the run has no themes."""
    taxonomy = current_taxonomy_or_none(run)
    if taxonomy is None:
        return None
    titles = theme_names(taxonomy)
    theme_id = pick_one("Theme", list(titles), "theme", format_func=lambda name: display_name(titles.get(name, name)))
    return None if theme_id is None else tuple(load(theme_topics, run, taxonomy=taxonomy, theme_id=theme_id)["topic"])


def _label_word(label: str) -> str:
    return display_name(LABEL_WORDS.get(label, label.lower()))


# -- links to the page Re-judge ------------------------------------------------------------------------------------------

FILTERS = ("words", "label", "organ", "topic", "subtopic", "theme", "significance", "center", "handbook", "phase")
"""The parameters in which the list of disagreements keeps its filters."""


def link_for_a_pair(run: Run, question_id: str, a: str, b: str) -> None:
    """The link from an opened pair, for those who may use it."""
    if may_rejudge(current_account()):
        link("rejudge", "Re-judge this pair", run, icon=":material/gavel:", question=question_id, a=a, b=b)


def link_for_all(run: Run) -> None:
    """The link from the list of disagreements, with its filters, for those who may use it."""
    if may_rejudge(current_account()):
        filters = {name: st.query_params.get_all(name) for name in FILTERS if name in st.query_params}
        link("rejudge", "Re-judge all of them", run, icon=":material/gavel:", **filters)
