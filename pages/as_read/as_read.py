"""As read: a page of a handbook beside the text that was read from it; what may be wrong comes first, and a PI can correct it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from audit.charts.style import handbook_names
from audit.errors import MissingLibraryError
from audit.queries.citations import SourceFile, source_file
from audit.queries.lookup import handbook_list
from audit.queries.read_text import ReadLine, ReadText, lines_on_page, pages_of, read_text
from audit.settings import Settings
from audit.source_pages.files import PDF, TEXTS, find_source
from audit.source_pages.reader import SourcePage, SourcePageError, read_page
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.page_picture import PICTURE_CSS, go_to_page, step_buttons
from pages._shared.pickers import named_by, pick_one, warn_unknown_value
from pages._shared.widgets import counts, link, say, title_of
from pages.as_read.correcting import correct_lines
from pages.as_read.view import CSS, doubts_html, lines_html, picture_html

LEAD = "A page of {a_handbook} beside the text that was read from it. What may be wrong comes first."
NO_TEXT = "The run does not have the text of this {handbook}, so there is nothing to compare."
NO_FILE = (
    "The file of this {handbook} is not on this server, so only its text is shown. An administrator can put it into the folder "
    "for sources (AUDIT_SOURCES); it is recognised by its content."
)
NO_PICTURE = "This {handbook} has no pages to show as pictures: its text comes from a web page or a text file."
NOT_CHECKED = (
    "Nobody looked for doubtful places in this {handbook}, so nothing is marked; that does not mean that all of it is right. The "
    "next `audit run` looks for them."
)
NO_DOUBT = "Nothing is marked on this page. A mistake that nothing points to is still possible: compare the text with the page."
NOWHERE = (
    "Nothing is marked in this {handbook}. A mistake that nothing points to is still possible: compare the text with its pages."
)
PAGES = "{places} to check, on {count} of {pages}."
NO_LINES = "No text was read from this page."
APPLIED = "The text below follows {n} corrections that people made."


def pick_page(text: ReadText) -> int | None:
    """The page to compare: from the address, else the first with something to check; None where the source has no pages."""
    numbers = pages_of(text)
    asked = st.query_params.get("pdf_page")
    if asked and not (asked.isdecimal() and int(asked[:9]) > 0 and len(asked) < 10):
        warn_unknown_value("pdf_page", asked)
        asked = None
    if not numbers:
        return None
    return int(asked) if asked else min((page for doubt in text.doubts for page in doubt.pages[:1]), default=numbers[0])


def picture(run: Run, file: SourceFile, pdf: Path | None, number: int | None) -> SourcePage | None:
    """The picture of a page; a sentence where there is none."""
    if number is None:
        st.info(say(run, NO_PICTURE))
    elif pdf is None or file.digest is None:
        st.info(say(run, NO_FILE))
    else:
        try:
            with st.spinner("Drawing the page ..."):
                return read_page(pdf, file.digest, number)
        except (SourcePageError, MissingLibraryError) as error:
            st.info(say(run, "{sentence}", sentence=error))
    return None


def to_check(run: Run, text: ReadText, number: int | None) -> None:
    """How many places of the handbook to check, a way to the next one, and those of this page."""
    with_doubts = sorted({page for doubt in text.doubts for page in doubt.pages})
    if not text.is_checked:
        st.info(say(run, NOT_CHECKED))
        return
    if not text.doubts:
        st.info(say(run, NOWHERE))
        return
    if with_doubts:
        places = f"{len(text.doubts):,} {'place' if len(text.doubts) == 1 else 'places'}"
        pages = len(pages_of(text))
        counts(run, PAGES, places=places, count=f"{len(with_doubts):,}", pages=f"{pages:,} {'page' if pages == 1 else 'pages'}")
    later = next((page for page in with_doubts if number is not None and page > number), None)
    if later is not None:
        st.button(f"Next page to check: {later:,}", icon=":material/skip_next:", on_click=go_to_page, args=(later,))
    st.header("To check on this page" if number else "To check", anchor=False)
    here = [doubt for doubt in text.doubts if number is None or number in doubt.pages or not doubt.pages]
    if here:
        st.html(doubts_html(here))
    else:
        st.caption(NO_DOUBT)


def as_read(run: Run, lines: list[ReadLine]) -> None:
    """The lines of the page, numbered in reading order."""
    st.header("As read, in reading order", anchor=False)
    if lines:
        st.html(lines_html(lines))
    else:
        counts(run, NO_LINES)


with page("As read", LEAD, unlabelled=LEAD) as run:
    names = handbook_names(load(handbook_list, run))
    default = next(iter(names))
    handbook_id = (
        pick_one(title_of(run, "handbook"), list(names), "handbook", default=default, format_func=named_by(names)) or default
    )
    file, text = load(source_file, run, handbook_id=handbook_id), load(read_text, run, handbook_id=handbook_id)
    if not text.sections:
        st.info(say(run, NO_TEXT))
        st.stop()
    number = pick_page(text)
    lines = lines_on_page(text.sections, number)
    source = find_source(file.digest, Settings().sources_dir, PDF if number else TEXTS)
    st.html(PICTURE_CSS)
    st.html(CSS)
    left, right = st.container(key="as_read").columns([6, 5], gap="medium")
    with left:
        shown = picture(run, file, source, number)
        if number is not None:
            step_buttons(number, shown.pages if shown else max(pages_of(text)))
        if shown:
            st.html(picture_html(shown, file.title, text.doubts))
    with right:
        if text.corrections:
            counts(run, APPLIED, n=f"{text.corrections.applied:,}")
        to_check(run, text, number)
        as_read(run, lines)
        correct_lines(run, file, source, number, lines, text)
        here = {"handbook": handbook_id} | ({"pdf_page": str(number)} if number else {})
        link("source", "See it as a source", run, icon=":material/menu_book:", **here)
