"""Source: the page of a handbook that an answer cites, with the cited sentence marked."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from audit.charts.style import handbook_names
from audit.errors import MissingLibraryError
from audit.queries.citations import SourceFile, citations, cited_section, section_titles, source_file
from audit.queries.lookup import handbook_list
from audit.settings import Settings
from audit.source_pages.files import find_source, read_source
from audit.source_pages.reader import SourcePage, SourcePageError, read_page
from audit.store.runs import Run
from audit.text.documents import Section
from audit.vocabulary import composed
from pages._blinded.file_widgets import download_button
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.page_picture import PICTURE_CSS, step_buttons
from pages._shared.pair_list import close_when_changed
from pages._shared.pickers import named_by, param_value, pick_one, warn_unknown_value
from pages._shared.source_links import citation_links_html, public_link_html
from pages._shared.widgets import counts, link, say, title_of
from pages.source.view import CSS, Marked, card_html, picture_html, scroll_to_mark, text_html

LEAD = "The page of the {handbook} that an answer cites, with the cited sentence marked."
PLACE = ("section", "start", "end", "pdf_page", "question")
NO_PICTURE = {
    "digest": "The run does not record which file this {handbook} was taken from, so its pages cannot be shown as pictures.",
    "file": "The PDF of this {handbook} is not on this server, so its pages cannot be shown. An administrator can put it "
    "into the folder for sources (AUDIT_SOURCES); it is recognised by its content.",
    "pages": "This section has no page numbers: its text does not come from a PDF.",
    "mark": "The sentence was not found on the picture of this page. The text below has it.",
}
NO_TEXT = (
    "The run has neither the file nor the text of this {handbook}, so there is nothing to show. A run has the texts of "
    "its {handbooks} in sections.jsonl."
)


def number_in_address(name: str) -> int | None:
    """An integer parameter of the address."""
    value = st.query_params.get(name)
    if value and not value.isdecimal():
        warn_unknown_value(name, value)
    return int(value) if value and value.isdecimal() and len(value) < 10 else None


def chosen_section(run: Run, file: SourceFile) -> Section | None:
    """The section that the link is for; where no PDF can be opened at its first page, one to be picked."""
    section_id = composed(st.query_params.get("section") or "") or None
    if not file.digest and "start" not in st.query_params:
        titles = load(section_titles, run, handbook_id=file.handbook_id)
        if not titles:
            st.info(say(run, NO_TEXT))
            st.stop()
        first = next(iter(titles))
        section_id = pick_one("Section", list(titles), "section", default=first, format_func=named_by(titles)) or first
    return load(cited_section, run, handbook_id=file.handbook_id, section_id=section_id) if section_id else None


def chosen_statement(section: Section | None) -> Marked | None:
    """The statement that the link is for."""
    start, end = number_in_address("start"), number_in_address("end")
    if section is None or start is None or end is None:
        return None
    is_heading = start == end == 0 and bool(section.heading)
    return Marked(section, start, end) if is_heading or start < end <= len(section.text) else None


def other_statements(run: Run, handbook_id: str, chosen: Marked | None) -> list[Marked]:
    """The other statements that the same answer cites."""
    question_id = param_value("question", None, None)
    if question_id is None:
        return []
    others = [
        Marked(
            load(cited_section, run, handbook_id=handbook_id, section_id=cited.section_id), cited.start, cited.end, chosen=False
        )
        for cited in load(citations, run, question_id=question_id).get(handbook_id, ())
        if cited.start is not None and cited.end is not None
    ]
    return [other for other in others if chosen is None or other[:3] != chosen[:3]]


def page_of(section: Section | None, chosen: Marked | None) -> int | None:
    """The page to open: from the address, else of the statement, else the first of the section or the handbook."""
    if asked := number_in_address("pdf_page"):
        return asked
    if section is None:
        return 1
    page = section.page_at(chosen.start) if chosen and not chosen.is_heading else None
    return page or (section.pages[0] if section.pages else None)


def open_page(run: Run, file: SourceFile, number: int | None) -> tuple[SourcePage | None, Path | None]:
    """The page with its PDF; a sentence where there is no picture."""
    pdf = find_source(file.digest, Settings().sources_dir)
    missing = "pages" if number is None else "digest" if not file.digest else "file" if pdf is None else ""
    if missing or pdf is None or number is None or file.digest is None:
        st.info(say(run, NO_PICTURE[missing]))
        return None, pdf
    try:
        with st.spinner("Drawing the page ..."):
            return read_page(pdf, file.digest, number), pdf
    except (SourcePageError, MissingLibraryError) as error:
        st.info(say(run, "{sentence}", sentence=error))
        return None, pdf


def file_offer(run: Run, file: SourceFile, pdf: Path | None) -> None:
    """A link to the PDF where its licence allows that, else a sentence."""
    licence = f"Licence: {file.licence}. " if file.licence else ""
    if pdf and file.digest and file.may_be_downloaded:
        digest = file.digest
        counts(run, "{licence}", licence=licence)
        download_button(
            "Download the PDF", data=lambda: read_source(pdf, digest), file_name=f"{file.handbook_id}.pdf",
            mime="application/pdf", key="download_source", icon=":material/download:",
        )  # fmt: skip
    elif pdf:
        counts(run, "{licence}The PDF itself is not offered here, because its licence is not known to allow it.", licence=licence)


def card(run: Run, file: SourceFile, section: Section | None, chosen: Marked | None, number: int | None) -> None:
    """The cited statement, the other citations of the answer, and a link back to it."""
    address = public_link_html((section.url if section else None) or file.url or "", number)
    question_id = composed(st.query_params.get("question") or "")
    cited = load(citations, run, question_id=question_id).get(file.handbook_id, ()) if question_id else ()
    links = citation_links_html(run, question_id or "", file.handbook_id, cited, same_tab=True)
    st.html(card_html(file.title, section, chosen, number, address, links))
    if question_id:
        link("answer", "See the answer", run, icon=":material/find_in_page:", question=question_id, handbook=file.handbook_id)


def continued_note(run: Run, number: int, chosen: Marked) -> None:
    """The page with the rest of a sentence that a page break divides."""
    for neighbour, words in ((number - 1, "begins on page {page}"), (number + 1, "continues on page {page}")):
        if chosen.section.page_starts and chosen.on_page(neighbour):
            counts(run, f"The sentence {words}.", page=neighbour)


def draw_page(run: Run, shown: SourcePage, name: str, chosen: Marked | None, others: list[Marked]) -> bool:
    """Draw the picture with its marks; returns False if the chosen statement is on this page but could not be marked."""
    html, is_marked = picture_html(shown, name, [*others, *([chosen] if chosen else [])])
    expected = chosen is not None and chosen.on_page(shown.number) is not None
    if expected and not is_marked:
        st.info(say(run, NO_PICTURE["mark"]))
    if chosen and expected:
        continued_note(run, shown.number, chosen)
    st.html(html)
    scroll_to_mark(str(st.query_params.to_dict()))
    return is_marked or not expected


with page("Source", LEAD, unlabelled=LEAD) as run:
    names = handbook_names(load(handbook_list, run))
    default = next(iter(names))
    handbook_id = (
        pick_one(title_of(run, "handbook"), list(names), "handbook", default=default, format_func=named_by(names)) or default
    )
    close_when_changed("source", handbook_id, PLACE)
    file = load(source_file, run, handbook_id=handbook_id)
    section = chosen_section(run, file)
    chosen = chosen_statement(section)
    number = page_of(section, chosen)
    st.html(PICTURE_CSS)
    st.html(CSS)
    left, right = st.container(key="source").columns([4, 7], gap="medium")
    with left:
        card(run, file, section, chosen, number)
    with right:
        shown, pdf = open_page(run, file, number)
        if shown:
            step_buttons(shown.number, shown.pages)
            here = {"handbook": handbook_id, "pdf_page": str(shown.number)}
            link("as_read", "Check how this page was read", run, icon=":material/fact_check:", **here)
        complete = shown is not None and draw_page(run, shown, file.title, chosen, other_statements(run, handbook_id, chosen))
        if section and not complete:
            st.html(text_html(section, chosen))
    with left:
        file_offer(run, file, pdf)
