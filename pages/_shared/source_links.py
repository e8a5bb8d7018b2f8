"""Links from an answer to the page that it cites: the page *Source*, or the public address of the handbook, at that page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from audit.queries.citations import Citation
from audit.store.runs import Run
from pages._blinded.templates import rendered


class CitationLink(NamedTuple):
    """A link that opens the source at the page of a citation, with its statement marked."""

    number: int
    words: str
    address: str
    title: str


def citation_links_html(
    run: Run, question_id: str | None, handbook_id: str, cited: Sequence[Citation], *, same_tab: bool = False
) -> Markup:
    """A line with a link to each page that an answer cites; empty where it cites nothing that the run has.

    same_tab  left out: each opens in a tab of its own, so that the answer stays open next to its source
    """
    first_on_page = {(citation.number, citation.section_id, citation.page): citation for citation in reversed(cited)}
    links = [
        _link(run, handbook_id, citation, question_id)
        for citation in cited
        if first_on_page[citation.number, citation.section_id, citation.page] is citation
    ]
    return rendered("_shared/citation_links.html", links=links, same_tab=same_tab)


def _link(run: Run, handbook_id: str, citation: Citation, question_id: str | None) -> CitationLink:
    words = f"page {citation.page}" if citation.page else citation.title
    address = source_address(run, handbook_id, citation.section_id, citation.start, citation.end, citation.page, question_id)
    title = "open this page, with the sentence marked" if citation.start is not None else "open this page"
    return CitationLink(citation.number, words, address, title)


def source_address(
    run: Run,
    handbook_id: str,
    section_id: str,
    start: int | None = None,
    end: int | None = None,
    page: int | None = None,
    question_id: str | None = None,
    ask: str | None = None,
) -> str:
    """The address of the page *Source*, relative to any other page; `ask`, the question of one's own that led there."""
    values = {
        "run": run.key, "handbook": handbook_id, "section": section_id, "start": start, "end": end, "pdf_page": page,
        "question": question_id, "ask": ask,
    }  # fmt: skip
    return f"source?{urlencode({name: value for name, value in values.items() if value is not None})}"


def public_link_html(url: str, page: int | None = None) -> Markup:
    """A link to where a text was taken from, at a page; empty where the address is not one of the web, such as `javascript:`."""
    if not url.lower().startswith(("http://", "https://")):
        return Markup()
    # Browsers and PDF viewers open a PDF at this page; an address with a place of its own keeps it
    address = f"{url}#page={page}" if page and "#" not in url else url
    return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">source</a>').format(address)
