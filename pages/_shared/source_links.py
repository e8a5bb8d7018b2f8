"""Links from an answer to the page that it cites: the page *Source*, or the public address of the handbook, at that page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

from audit.queries.citations import Citation
from audit.store.runs import Run


def citation_links_html(
    run: Run, question_id: str | None, handbook_id: str, cited: Sequence[Citation], *, same_tab: bool = False
) -> str:
    """A line with a link to each page that an answer cites; "" where it cites nothing that the run has."""
    first_on_page = {(citation.number, citation.section_id, citation.page): citation for citation in reversed(cited)}
    links = [
        source_link_html(run, handbook_id, citation, question_id, same_tab=same_tab)
        for citation in cited
        if first_on_page[citation.number, citation.section_id, citation.page] is citation
    ]
    heading = "This answer cites" if same_tab else "In the source"
    return f'<div class="faint">{heading}: {" · ".join(links)}</div>' if links else ""


def source_link_html(
    run: Run, handbook_id: str, citation: Citation, question_id: str | None = None, *, same_tab: bool = False
) -> str:
    """A link that opens the source at the page of a citation, with its statement marked."""
    words = f"page {citation.page}" if citation.page else citation.title
    href = source_address(run, handbook_id, citation.section_id, citation.start, citation.end, citation.page, question_id)
    title = "open this page, with the sentence marked" if citation.start is not None else "open this page"
    # In a new tab, so that the answer stays open next to its source
    target = 'target="_self"' if same_tab else 'target="_blank" rel="noopener"'
    return f'<a href="{escape(href)}" {target} title="{title}">[{citation.number}] {escape(words)}</a>'


def source_address(
    run: Run,
    handbook_id: str,
    section_id: str,
    start: int | None = None,
    end: int | None = None,
    page: int | None = None,
    question_id: str | None = None,
) -> str:
    """The address of the page *Source*, relative to any other page of the dashboard."""
    values = {
        "run": run.key, "handbook": handbook_id, "section": section_id, "start": start, "end": end, "pdf_page": page,
        "question": question_id,
    }  # fmt: skip
    return f"source?{urlencode({name: value for name, value in values.items() if value is not None})}"


def public_link_html(url: str, page: int | None = None) -> str:
    """A link to where a text was taken from, at a page; "" where the address is not one of the web, such as `javascript:`."""
    if not url.lower().startswith(("http://", "https://")):
        return ""
    # Browsers and PDF viewers open a PDF at this page; an address with a place of its own keeps it
    address = f"{url}#page={page}" if page and "#" not in url else url
    return f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">source</a>'
