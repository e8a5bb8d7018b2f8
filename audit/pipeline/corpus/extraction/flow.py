"""The lines of a PDF in reading order, and beside them what belongs to no line above or below it.

Text in another direction than the page, what annotations write, and the first of the lines that pages repeat are asides: each is
read on its own, behind the text of its page. A line that pages repeat is left out where the text says the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, groupby
from typing import NamedTuple

from audit.pipeline.corpus.extraction.drawings import separators
from audit.pipeline.corpus.extraction.head_bars import with_bar_heads
from audit.pipeline.corpus.extraction.headers_and_footers import HeadersAndFooters, find_headers_and_footers, is_page_number
from audit.pipeline.corpus.extraction.layout import Area, LeftOut, Line, PdfPage, TextCell
from audit.pipeline.corpus.extraction.line_breaks import SENTENCE_END
from audit.pipeline.corpus.extraction.list_columns import lists_in_columns
from audit.pipeline.corpus.extraction.page_columns import folded
from audit.pipeline.corpus.extraction.panels import Panel, in_order, panels_of
from audit.pipeline.corpus.extraction.reading_order import are_rows, in_reading_order
from audit.pipeline.corpus.extraction.ruled_tables import lines_and_tables
from audit.text.documents import FRAME

# Of a free text, which has no type of its own here
PLAIN = 10.0
MIN_LETTERS = 3
# In type sizes of a title that pages repeat: how far below is what belongs to it
SUBTITLE_GAP = 2.0


class View(NamedTuple):
    """The lines of a page in one direction; `turn` is that of `PdfPage`, the part of a line the number of its panel."""

    lines: list[Line]
    width: float
    height: float
    separators: list[Area]
    turn: int
    panels: list[Panel]


@dataclass(frozen=True)
class PageLines:
    """A page as lines: the direction of most of its text comes first."""

    number: int
    views: tuple[View, ...]
    free_text: tuple[str, ...]


class Aside(NamedTuple):
    """Lines that belong to nothing above or below them."""

    page: int
    lines: list[Line]


Keep = Callable[[Sequence[list[Line]]], tuple[list[Line], list[list[Line]]]]
"""Of the header and the footer of a page, the lines that a person keeps, and the others."""


class Flow(NamedTuple):
    """The lines of all pages in reading order, their asides, what of each page is left out, and which parts are panels.

    panels  part -> the part around it
    """

    lines: list[Line]
    asides: list[Aside]
    left_out: dict[int, list[LeftOut]]
    panels: dict[int, int]


def page_lines(page: PdfPage) -> PageLines:
    """The lines of a page, in each direction."""
    return PageLines(page.number, tuple(map(_view, (page, *page.others))), page.free_text)


def _view(page: PdfPage) -> View:
    panels = panels_of(page)
    lines = with_bar_heads(lines_and_tables(page, panels), page.boxes)
    return View(lines, page.width, page.height, separators([*page.rulings, *page.borders], page.width), page.turn, panels)


def flow_of(pages: Sequence[PageLines], title: str | None, keep: Keep = lambda stretches: ([], list(stretches))) -> Flow:
    """The lines of all pages; `title` is that of the document, which pages may repeat."""
    repeated, titles = dict(_repeated(pages)), _Titles(pages)
    lines, asides, removed, panels = list[Line](), list[Aside](), list[list[Line]](), dict[int, int]()
    parts = count(1)
    for page in pages:
        for view, in_flow in _in_order(page.views):
            body, above, below = repeated[view.turn].parted(view.lines, view.height)
            kept_here, (above, below) = keep([above, below])
            body, head = [*kept_here, *body], list[Line]()
            if in_flow:
                head, body, above = titles.divided(above, body, repeated[view.turn], lines[-1] if lines else None)
            removed += [above, below]
            # What stands beside the text of a page in another direction is a table more often than columns of text
            is_beside = len(page.views) > 1 and (view.turn > 0 or view is not page.views[0])
            lines_here = _ordered(body, view, is_beside=is_beside)
            # The lists of a panel are not those beside it
            ordered = [*head, *chain.from_iterable(lists_in_columns(list(part)) for _, part in groupby(lines_here, _part))]
            if in_flow:
                numbers = {line.part: next(parts) if view.turn or line.part else 0 for line in ordered}
                panels |= {numbers[part]: _outer(part, view, numbers) for part in numbers if part}
                lines += [replace(line, part=numbers[line.part]) for line in ordered]
            elif ordered:
                asides.append(Aside(page.number, [replace(line, part=0) for line in ordered]))
        asides += [Aside(page.number, _plain_lines(text, page.number)) for text in page.free_text]
    kept, left_out = _once(removed, [*lines, *chain.from_iterable(aside.lines for aside in asides)], title or "")
    return Flow(lines, sorted([*asides, *kept], key=lambda aside: aside.page), left_out, panels)


def _part(line: Line) -> int:
    return line.part


def _ordered(body: list[Line], view: View, *, is_beside: bool) -> list[Line]:
    panels = [] if is_beside else folded(body, view.width, view.height)
    if len(panels) > 1:
        return [line for panel in panels for line in _ordered(panel, view._replace(width=0.0), is_beside=False)]
    in_rows = is_beside and are_rows(body)
    if in_rows or not any(line.part for line in body):
        return in_reading_order([replace(line, part=0) for line in body] if in_rows else body, view.separators, in_rows=in_rows)
    return in_order(body, view.panels, view.separators)


def _outer(part: int, view: View, numbers: dict[int, int]) -> int:
    """The number in the flow of the part around a panel."""
    parent = view.panels[part - 1].parent
    while parent and parent not in numbers:
        parent = view.panels[parent - 1].parent
    return numbers.get(parent, 0)


def _repeated(pages: Sequence[PageLines]) -> Iterator[tuple[int, HeadersAndFooters]]:
    """What pages repeat, for each direction."""
    views: defaultdict[int, list[View]] = defaultdict(list)
    for view in chain.from_iterable(page.views for page in pages):
        views[view.turn].append(view)
    for turn, alike in views.items():
        yield turn, find_headers_and_footers([view.lines for view in alike], [view.height for view in alike])


def _in_order(views: Sequence[View]) -> Iterator[tuple[View, bool]]:
    """The views of a page, each with whether its lines are text of the page: that of most text, and what is upright."""
    main, *others = views
    for view in sorted(others, key=lambda view: view.turn):
        if not view.turn:
            yield view, True
    yield main, True
    yield from ((view, False) for view in others if view.turn)


def _plain_lines(text: str, page: int) -> list[Line]:
    return [
        Line(page, PLAIN * number, PLAIN, False, (TextCell(" ".join(words.split()), 0.0, PLAIN),))
        for number, words in enumerate(text.splitlines(), start=1)
        if words.strip()
    ]


# -- what pages repeat -------------------------------------------------------------------------------------------------


class _Titles:
    """The titles that pages repeat: "Foods to leave out" stands above what every page of a handout says."""

    def __init__(self, pages: Sequence[PageLines]) -> None:
        self.seen: set[str] = set()
        on_page = ({_letters(line.text) for view in page.views for line in view.lines} for page in pages)
        self.pages_with = Counter(chain.from_iterable(on_page))

    def divided(
        self, above: list[Line], body: list[Line], repeated: HeadersAndFooters, before: Line | None
    ) -> tuple[list[Line], list[Line], list[Line]]:
        """The title of a page, if it is new, with what pages repeat just below it; the text of the page; and its header.

        before  the last line of the page before: where its sentence goes on, the header is no title of what follows
        """
        titles = [line for line in above if repeated.is_title(line)]
        if not titles:
            return [], body, above
        last = [line for line in titles if line.size == titles[0].size][-1]
        below = [line for line in (*above, *body) if _is_below_title(line, last) and self.pages_with[_letters(line.text)] > 1]
        rest = [line for line in body if line not in below]
        header = [*above, *(line for line in below if line not in above)]
        key = "".join(_letters(line.text) for line in header)
        goes_on = before and rest and rest[0].text[:1].islower() and not SENTENCE_END.search(before.text)
        if goes_on or key in self.seen:
            return [], rest, header
        self.seen.add(key)
        return [_joined(last, below) if line is last else line for line in above if line not in below], rest, []


def _is_below_title(line: Line, title: Line) -> bool:
    near = 0 < line.baseline - title.baseline <= SUBTITLE_GAP * title.size
    return (
        near
        and line.size != title.size
        and line.bold == title.bold
        and line.x0 < title.x1
        and title.x0 < line.x1
        and not is_page_number(line.text)
    )


def _joined(title: Line, below: Sequence[Line]) -> Line:
    text = ": ".join(line.text.rstrip(":") for line in (title, *below))
    return replace(title, cells=(TextCell(text, title.x0, max(line.x1 for line in (title, *below))),))


def _once(removed: Iterable[list[Line]], body: Iterable[Line], title: str) -> tuple[list[Aside], dict[int, list[LeftOut]]]:
    """Of the lines that pages repeat, the first of each whose words are not in the text, and all others by page."""
    stretches = [stretch for stretch in removed if stretch]
    times = Counter(_letters(line.text) for line in chain.from_iterable(stretches))
    text_letters = _letters(f"{title} {' '.join(line.text for line in body)}")
    without_numbers = "".join(filter(str.isalpha, text_letters))
    kept, left_out = list[Aside](), defaultdict[int, list[LeftOut]](list)

    def is_new(line: Line) -> bool:
        nonlocal text_letters, without_numbers
        key = _letters(line.text)
        letters = "".join(filter(str.isalpha, key))
        # Where the numbers of a line change from page to page, they are those of the pages
        is_in_text = key in text_letters if times[key] > 1 else letters in without_numbers
        if is_in_text or len(letters) < MIN_LETTERS or is_page_number(line.text):
            return False
        text_letters, without_numbers = text_letters + key, without_numbers + letters
        return True

    for stretch in stretches:
        new = [line for line in stretch if is_new(line)]
        if new:
            kept.append(Aside(new[0].page, in_reading_order(new)))
        for line in stretch:
            if line not in new:
                left_out[line.page].append(LeftOut(FRAME, line.text))
    return kept, left_out


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
