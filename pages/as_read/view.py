"""The parts of the page *As read*: what to check, and the lines of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from markupsafe import Markup

from audit.formatting import some_of
from audit.queries.read_text import ReadLine
from audit.source_pages.marks import statement_boxes
from audit.source_pages.reader import SourcePage
from audit.text.documents import Doubt
from pages._blinded.templates import rendered
from pages._shared.page_picture import page_picture

CSS = Path(__file__).with_name("view.css")


def doubts_html(doubts: Sequence[Doubt]) -> Markup:
    """What to check on a page: the words, and what may be wrong with them."""
    entries = [(doubt.quote, f"{doubt.sentence[:1].upper()}{doubt.sentence[1:]}.", _others(doubt)) for doubt in doubts]
    return rendered("as_read/doubts.html", entries=entries)


def _others(doubt: Doubt) -> str:
    return f"Pages {some_of([f'{page:,}' for page in doubt.pages], 6)}." if len(doubt.pages) > 1 else ""


def lines_html(lines: Sequence[ReadLine]) -> Markup:
    """The lines of a page with their numbers."""
    return rendered("as_read/lines.html", lines=lines)


def picture_html(page: SourcePage, name: str, doubts: Iterable[Doubt]) -> Markup:
    """The picture of a page, on which the words to check are marked as far as they are found."""
    here = [doubt for doubt in doubts if page.number in doubt.pages]
    quotes = [doubt.quote.removesuffix("…") for doubt in here]
    return page_picture(page, name, [(box, True) for quote in quotes for box in statement_boxes(page, quote)])
