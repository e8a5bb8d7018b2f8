"""The rows of *Disagreements*, by question or by pair, a page at a time, and which of them is open (all kept in the address).

A click or the arrow keys open a row. Texts reach the browser as data and are set as text, so nothing in them is interpreted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.dark_mode import light_dark
from audit.charts.style import LABEL_COLOURS, LABEL_WORDS, cut
from audit.metrics.disagreements import ANSWER, QUESTION, SearchPlace
from audit.metrics.question_positions import question_positions
from audit.result_cache import stored_for_every_question
from audit.store.runs import Run
from audit.terms import counted
from audit.text.search_hits import TextPart, excerpt, find_hits, parts
from audit.vocabulary import composed
from pages._blinded.templates import component
from pages._shared.pickers import param_value, warn_unknown_value
from pages._shared.position_cards import FEW
from pages._shared.search import searched_words
from pages._shared.widgets import counts, listed, title_of

_list = component("_shared/pick_list")
PER_PAGE = 100
DOTS = "A dot is {a_handbook}, a colour a position; hollow dots say something else."
WEAK = " (weak evidence)"
LONGEST = 40  # letters of a handbook's name in a line that says where words were found
PairKey = tuple[str, str, str]
"""Question id and the ids of both handbooks."""
PARAMS = ("question", "a", "b")
COLUMNS = ["question_id", "handbook_a", "handbook_b"]


@dataclass(frozen=True)
class PairRow:
    """One row.

    key     what `on_pick` gets
    about   the question, or the two handbooks
    more    a second line, fainter; may be empty
    found   where searched words are; may be empty
    hits    `about` in pieces, those searched for marked; () where it has none
    excerpt a text that has searched words, in pieces
    colour  of the label, as CSS
    strip   handbooks in each position of the question, most first, and those that say something else last, negative
    """

    key: str
    about: str
    more: str
    found: str
    label: str
    colour: str
    significance: str
    hits: tuple[TextPart, ...] = ()
    excerpt: tuple[TextPart, ...] = ()
    strip: tuple[int, ...] = ()


def question_rows(
    run: Run, table: pd.DataFrame, occurrences: Mapping[str, Sequence[SearchPlace]], names: Mapping[str, str]
) -> list[PairRow]:
    """The rows of a list of questions (`disputed_questions`); `occurrences`: where searched words are (`places_in_questions`)."""
    strips = _strips(run.digest, run.loaded_at, run)
    rows: Iterable[Any] = table.itertuples()
    return [
        _row(
            str(row.question_id),
            str(row.question_text),
            f"{counted(run, 'pair', row.pairs)} of {counted(run, 'handbook', row.handbooks)}",
            occurrences.get(str(row.question_id), ()),
            row,
            names,
            strips.get(str(row.question_id), ()),
        )
        for row in rows
    ]


@st.cache_data(show_spinner=False, max_entries=16)
def _strips(digest: str, loaded_at: str, _run: Run) -> dict[str, tuple[int, ...]]:
    """The strip of each question; of none where the positions are not found yet, which loading a run starts."""
    columns = ["of_question", "position", "handbook_id"]
    stored = stored_for_every_question(_run.path, question_positions.name, columns)
    if stored is None:
        return {}
    once = stored.drop_duplicates(["of_question", "handbook_id"])  # of several aspects, in the first
    sizes = once.groupby(["of_question", once["position"].fillna(0)]).size()
    held = {question: part.droplevel(0) for question, part in sizes.groupby(level=0)}
    return {
        str(question): (*part[part.index > 0].tolist(), *(-part[part.index == 0]).tolist())
        for question, part in held.items()
        if (part.index > 0).any() and part.sum() > FEW
    }


def pair_rows(
    table: pd.DataFrame,
    names: dict[str, str],
    occurrences: Mapping[PairKey, Sequence[SearchPlace]],
    weak: Mapping[tuple[str, str], Sequence[str]],
) -> list[PairRow]:
    """The rows of a list of pairs (`disagreements`).

    occurrences  where searched words are (`places_in_pairs`); weak  answers that rest on weak evidence (`weak_answers`)
    """
    return [
        _row(
            json.dumps(key),
            f"{names.get(key[1], key[1])} / {names.get(key[2], key[2])}",
            f"{row.question_text}{WEAK if {key[:2], (key[0], key[2])} & weak.keys() else ''}",
            occurrences.get(key, ()),
            row,
            names,
        )
        for key, row in zip(pairs_of(table), table.itertuples(), strict=True)
    ]


def _row(
    key: str, about: str, more: str, occurrences: Sequence[SearchPlace], row: Any, names: Mapping[str, str],
    strip: tuple[int, ...] = (),
) -> PairRow:  # fmt: skip
    label = row.label if isinstance(row.label, str) else "unscored"
    significance = row.significance if isinstance(row.significance, str) else ""
    places = dict.fromkeys(_found_in_words(occurrence, names) for occurrence in occurrences)
    found_in = f"Found in {listed(places)}" if places else ""
    searched = searched_words() if occurrences else ()
    hits = find_hits(about, searched)
    # What the row shows anyway needs no excerpt.
    hidden = next((occurrence.text for occurrence in occurrences if occurrence.text != about), "")
    return PairRow(
        key, about, more, found_in, LABEL_WORDS[label], light_dark(LABEL_COLOURS[label]), significance,
        parts(about, hits) if hits else (), excerpt(hidden, searched), strip,
    )  # fmt: skip


def _found_in_words(occurrence: SearchPlace, names: Mapping[str, str]) -> str:
    if occurrence.kind != ANSWER:
        return "the question" if occurrence.kind == QUESTION else "the judge's words"
    if occurrence.texts > 1:
        return f"{occurrence.texts:,} answers"
    return f"the answer of {cut(names.get(occurrence.handbook_ids[0], occurrence.handbook_ids[0]), LONGEST)}"


def question_list(run: Run, rows: Sequence[PairRow], opened: str) -> None:
    """Draw a list of questions; a click or an arrow key opens another."""
    headings = (title_of(run, "question"), "Label", "Significance")
    pick_list(rows, opened, headings, f"{title_of(run, 'questions')} that match", open_question)
    if any(row.strip for row in rows):
        counts(run, DOTS)


def pair_list(run: Run, rows: Sequence[PairRow], opened: PairKey) -> None:
    """Draw a list of pairs; a click or an arrow key opens another."""
    headings = (title_of(run, "handbooks"), "Label", "Significance")
    pick_list(rows, json.dumps(opened), headings, "Pairs that match", open_pair_of_row)


def pick_list(
    rows: Sequence[PairRow], opened: str | None, headings: tuple[str, str, str], name: str, on_pick: Callable[[str], None]
) -> None:
    """Draw the list; `on_pick` gets the key of a row that was picked, before the page is drawn again.

    opened  key of the open row
    name    of the list, for screen readers
    """
    data = {"rows": [asdict(row) for row in rows], "opened": opened, "headings": headings, "name": name}
    _list(key="pick_list", data=data, on_picked_change=partial(_picked, on_pick, {row.key for row in rows}))


def _picked(on_pick: Callable[[str], None], keys: set[str]) -> None:
    picked = getattr(st.session_state.get("pick_list"), "picked", None)
    # What a browser sends is not believed: another tab may still show an older list.
    if picked in keys:
        on_pick(picked)


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


def step_buttons(keys: Sequence[str], current: str, on_pick: Callable[[str], None]) -> None:
    """Buttons for the previous and the next row of the list, also on the keys P and N."""
    index = keys.index(current) if current in keys else -1
    for label, target in (("Previous", index - 1 if index > 0 else None), ("Next", index + 1 if index + 1 < len(keys) else None)):
        step = partial(on_pick, keys[target]) if target is not None else None
        st.button(label, shortcut=label[0], key=label, disabled=step is None, on_click=step)


def pairs_of(table: pd.DataFrame) -> list[PairKey]:
    """The keys of the pairs in a list."""
    return list(table[COLUMNS].itertuples(index=False, name=None))


def opened_pair(table: pd.DataFrame) -> PairKey:
    """The pair in the address, else the first of the list."""
    question, a, b = (composed(st.query_params.get(name) or "") for name in PARAMS)
    return (question, a, b) if question and a and b else pairs_of(table)[0]


def open_pair_of_row(key: str) -> None:
    """Write the pair of a row to the address."""
    st.query_params.update(zip(PARAMS, json.loads(key), strict=True))


def open_question(question_id: str) -> None:
    """Write a question to the address, without a pair of another one."""
    close(PARAMS)
    st.query_params["question"] = question_id


def close(params: Sequence[str] = PARAMS) -> None:
    """Drop parameters from the address."""
    for param in params:
        st.query_params.pop(param, None)


def close_when_changed(name: str, view: Any, params: Sequence[str]) -> None:
    """Drop `params` from the address when the view called `name` has changed since the previous run of the page."""
    # The first run after a link is opened has no previous one, so a linked pair stays open.
    key = f"{name} seen"
    if st.session_state.get(key, view) != view:
        close(params)
    st.session_state[key] = view


def linked_pair(question_id: str, handbooks: pd.Index) -> tuple[str, str] | None:
    """The two handbooks that the address names on this question; None where it names none, or one that the run does not have."""
    a, b = (composed(st.query_params.get(name) or "") for name in ("a", "b"))
    if composed(st.query_params.get("question", question_id)) == question_id and a in handbooks and b in handbooks and a != b:
        return str(a), str(b)
    return None


def click_opens(clicked: tuple[str, str], opened: tuple[str, str]) -> None:
    """Open the pair of a clicked cell, unless it is open already."""
    if clicked != opened:
        st.query_params.update(zip(("a", "b"), clicked, strict=True))
        st.rerun()
