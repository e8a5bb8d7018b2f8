"""A page of a handbook with the cited statements marked: the picture, or the text where there is none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import streamlit as st
from markupsafe import Markup

from audit.formatting import MAX_TEXT_LENGTH
from audit.source_pages.marks import statement_boxes
from audit.source_pages.reader import Box, SourcePage
from audit.text.documents import Section
from audit.text.statements import statements
from pages._blinded.templates import marked, rendered
from pages._shared.page_picture import page_picture

CSS = Path(__file__).with_name("view.css")
MAX_AROUND = 1_500  # characters of a section that are shown before and after the statement


class Marked(NamedTuple):
    """A statement to be marked: characters `start` to `end` of a section; both 0: its heading.

    chosen  whether the link was for it
    """

    section: Section
    start: int
    end: int
    chosen: bool = True

    def on_page(self, number: int) -> tuple[int, int] | None:
        """The part of it that is on a page."""
        if self.is_heading:
            return (0, 0) if number in self.section.pages[:1] else None
        return self.section.on_page(number, self.start, self.end)

    @property
    def is_heading(self) -> bool:
        """Whether the heading of the section is cited."""
        return self.start == self.end

    @property
    def quoted(self) -> str:
        """The statement with the leads that give it its meaning."""
        if self.is_heading:
            return self.section.heading
        known = statements(self.section.text[:MAX_TEXT_LENGTH])
        whole = (statement for statement in known if statement.start <= self.start < statement.end)
        lead = next((" ".join((*statement.leads, "")) for statement in whole), "")
        return lead + self.section.text[self.start : self.end]


def picture_html(page: SourcePage, name: str, marked: Iterable[Marked]) -> tuple[Markup, bool]:
    """The picture of a page with its marks, and whether the chosen statement is marked."""
    marks = [(box, statement.chosen) for statement in marked for box in _boxes(page, statement)]
    return page_picture(page, name, marks), any(chosen for _, chosen in marks)


def _boxes(page: SourcePage, marked: Marked) -> list[Box]:
    part = marked.on_page(page.number)
    if part is None:
        return []
    text = marked.section.text
    if marked.is_heading:
        return statement_boxes(page, marked.section.heading, after=text)
    return statement_boxes(page, text[slice(*part)], text[: part[0]], text[part[1] :])


def card_html(
    name: str, section: Section | None, chosen: Marked | None, number: int | None, address: Markup, links: Markup
) -> Markup:
    """What is cited: the handbook, the headings over it, the page's number, the statement with its leads, and links."""
    return rendered("source/card.html", name=name, section=section, chosen=chosen, page=number, address=address, links=links)


def text_html(section: Section, chosen: Marked | None) -> Markup:
    """The text of the section around the statement, which is marked; its beginning where nothing is chosen."""
    text, (start, end) = section.text, (chosen.start, chosen.end) if chosen else (0, 0)
    first, last = max(0, start - MAX_AROUND), min(len(text), end + MAX_AROUND)
    before, after = "... " if first else "", " ..." if last < len(text) else ""
    shown = marked(text[first:last], start - first, end - first)
    return Markup('<div class="source-text" dir="auto">{}{}{}</div>').format(before, shown, after)


SCRIPT = Path(__file__).with_name("show_marked_sentence.js").read_text(encoding="utf-8")
_scroller = st.components.v2.component("show_marked_sentence", js=SCRIPT)


def scroll_to_mark(address: str) -> None:
    """Bring the mark into sight, once for each `address`."""
    _scroller(key="show_marked_sentence", data={"address": address})
