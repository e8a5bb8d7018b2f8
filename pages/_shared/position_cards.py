"""Who says what on one question: its positions as cards with quotes, and the answers listed under their position.

Every character of a release is escaped before a tag is put around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from audit.metrics.position_groups import position_groups
from audit.metrics.question_positions import Holder, Position, positions_in, question_positions
from audit.store.runs import Run
from audit.terms import terms
from audit.vocabulary import DISAGREEING, PRESENT_LABELS
from pages._shared.loaders import load, load_knowing
from pages._shared.search_hits import hits_html, searched_words
from pages._shared.widgets import counts

CSS = Path(__file__).with_name("positions.css")
NAMED_MEMBERS = 14  # visible at once; a click shows the other members of a position
METHODS = {
    "rules": "Found by rules: {handbooks} are grouped by the judge's labels, and every quote is verbatim from an answer.",
    "judge": "Found by a model; every quote is verbatim from an answer.",
    "release": "As the release has them; every quote is verbatim from an answer.",
}


def positions_on(run: Run, question_id: str) -> tuple[Position, ...]:
    """The positions on a question, most held first."""

    def known() -> dict[str, Any]:
        return {"groups": load(position_groups, run, question_id=question_id)}

    return positions_in(load_knowing(known, question_positions, run, question_id=question_id))


def position_cards(run: Run, positions: Sequence[Position], names: dict[str, str], cells: pd.DataFrame | None = None) -> None:
    """One card per position, under the aspect that it is about, and how they were found.

    cells  the matrix of labels; with it a card says how many pairs within its position disagree
    """
    st.html(CSS)
    parts = (
        _aspect_html(aspect) + "".join(_card_html(run, position, names, cells) for position in held)
        for aspect, held in groupby(positions, lambda position: position.aspect)
    )
    st.html(f'<div class="positions">{"".join(parts)}</div>')
    for method in dict.fromkeys(position.method for position in positions):
        counts(run, METHODS[method])


def different_positions(positions: Sequence[Position], a: str, b: str) -> bool:
    """Whether two handbooks hold different positions on some aspect."""
    held: dict[str, dict[str, set[int]]] = {}
    for number, position in enumerate(positions):
        for holder in position.holders:
            held.setdefault(position.aspect, {}).setdefault(holder.handbook_id, set()).add(number)
    return any(a in by and b in by and not by[a] & by[b] for by in held.values())


def most_differing(pairs: Sequence[tuple[str, str]], positions: Sequence[Position]) -> tuple[str, str]:
    """The first of `pairs`, the gravest first, that lies across positions; the first of all where none does."""
    return next((pair for pair in pairs if different_positions(positions, *pair)), pairs[0])


def _aspect_html(aspect: str) -> str:
    return f'<div class="aspect">{escape(aspect)}</div>' if aspect else ""


def _card_html(run: Run, position: Position, names: dict[str, str], cells: pd.DataFrame | None) -> str:
    size, words = len(position.holders), terms(run)
    value = f'<span class="value">{escape(position.value)}</span> ' if position.value else ""
    count = f'<span class="count">{size:,} {escape(words["handbook" if size == 1 else "handbooks"])}</span>'
    members = members_html([names.get(holder.handbook_id, holder.handbook_id) for holder in position.holders])
    quote = f"{hits_html(position.statement, searched_words())}{quoted_from_html(position, names)}"
    return (
        f'<div class="position">{value}{count}<blockquote>{quote}</blockquote>'
        f'<div class="members">{members}</div>{_words_html(position, names)}{_inner_disagreement_html(position, cells)}</div>'
    )


def _inner_disagreement_html(position: Position, cells: pd.DataFrame | None) -> str:
    # A pair that disagrees within one position is a verdict that deserves a second look.
    if cells is None:
        return ""
    holders = [holder.handbook_id for holder in position.holders]
    labels = cells.loc[holders, holders].to_numpy(dtype=object)
    disagreeing, present = (int(np.isin(labels, list(words)).sum()) // 2 for words in (DISAGREEING, PRESENT_LABELS))
    return f'<div class="count">{disagreeing} of {present} pairs within this position disagree</div>' if disagreeing else ""


def members_html(names: Sequence[str]) -> str:
    """Names in a line, those beyond the first few behind a click."""
    safe = [escape(name) for name in names]
    if len(safe) <= NAMED_MEMBERS + 2:  # a click for one or two more names is not worth it
        return "; ".join(safe)
    first, others = safe[:NAMED_MEMBERS], safe[NAMED_MEMBERS:]
    return f"{'; '.join(first)}<details><summary>and {len(others)} more</summary>{'; '.join(others)}</details>"


def _words_html(position: Position, names: dict[str, str]) -> str:
    """The words of every holder, where they are not those on the card; equal words once."""
    if all(_own_words(holder) == position.statement for holder in position.holders):
        return ""
    said = sorted(position.holders, key=_own_words)
    quotes = "".join(_quote_html(words, holders, names) for words, holders in groupby(said, _own_words))
    return f'<details class="words"><summary>In their own words</summary>{quotes}</details>'


def quoted_from_html(position: Position, names: dict[str, str]) -> str:
    """Whose words the card shows, where not all of its holders use them: the others agree, and need not say this very thing."""
    theirs = [holder for holder in position.holders if _own_words(holder) == position.statement]
    if not theirs or len(theirs) == len(position.holders):
        return ""
    others = f" and {len(theirs) - 1:,} more" if len(theirs) > 1 else ""
    return f'<div class="by">in the words of {escape(names.get(theirs[0].handbook_id, theirs[0].handbook_id))}{others}</div>'


def _own_words(holder: Holder) -> str:
    return f"{holder.lead} {holder.quote}".strip()


def _quote_html(words: str, holders: Iterable[Holder], names: dict[str, str]) -> str:
    by = "; ".join(escape(names.get(holder.handbook_id, holder.handbook_id)) for holder in holders)
    return f'<blockquote>{hits_html(words, searched_words())}<div class="by">{by}</div></blockquote>'
