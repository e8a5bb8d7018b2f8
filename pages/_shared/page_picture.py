"""The picture of a page of a handbook with marks on it, and the buttons to the pages around it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from audit.source_pages.reader import Box, SourcePage
from pages._blinded.templates import rendered

PICTURE_CSS = Path(__file__).with_name("page_picture.css")


def page_picture(page: SourcePage, name: str, marks: Iterable[tuple[Box, bool]]) -> Markup:
    """The picture of a page; each mark is a box and whether it is the one that is looked for."""
    # Embedded in the page: at an address of its own, people without access could request it
    source = f"data:image/webp;base64,{b64encode(page.picture).decode()}"
    spots = [(_style(box), chosen) for box, chosen in marks]
    return rendered("_shared/page_picture.html", page=page, source=source, name=name, spots=spots)


def _style(box: Box) -> str:
    left, top, right, bottom = (100 * share for share in box)
    return f"left:{left:.2f}%;top:{top:.2f}%;width:{right - left:.2f}%;height:{bottom - top:.2f}%"


def go_to_page(number: int) -> None:
    """Open another page of the same handbook; the rest of the address stays."""
    st.query_params["pdf_page"] = str(number)


def step_buttons(number: int, pages: int) -> None:
    """Buttons for the page before and the page after, also on the keys P and N."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Previous page", shortcut="P", disabled=number <= 1, on_click=go_to_page, args=(number - 1,))
        st.button("Next page", shortcut="N", disabled=number >= pages, on_click=go_to_page, args=(number + 1,))
        st.caption(f"Page {number:,} of {pages:,}")
