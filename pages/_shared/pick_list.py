"""A list of which one row is open, in three narrow columns: what it is about, its label, its clinical significance.

A click or the arrow keys open a row. Texts reach the browser as data and are set as text, so nothing in them is interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from audit.text.search_hits import Part

HERE = Path(__file__).parent
_list = st.components.v2.component(
    "pick_list",
    html='<div class="pick-list"></div>',
    css=(HERE / "pick_list.css").read_text(encoding="utf-8"),
    js=(HERE / "pick_list.js").read_text(encoding="utf-8"),
)


@dataclass(frozen=True)
class Row:
    """One row.

    key     what `on_pick` gets
    about   the question, or the two handbooks
    more    a second line, fainter; may be empty
    found   where searched words are; may be empty
    hits    `about` in pieces, those searched for marked; () where it has none
    excerpt a text that has searched words, in pieces
    colour  of the label, as CSS
    """

    key: str
    about: str
    more: str
    found: str
    label: str
    colour: str
    significance: str
    hits: tuple[Part, ...] = ()
    excerpt: tuple[Part, ...] = ()


def pick_list(
    rows: Sequence[Row], opened: str | None, headings: tuple[str, str, str], name: str, on_pick: Callable[[str], None]
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
