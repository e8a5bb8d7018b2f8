"""The text of one handbook as it was read, line by line, with what is in doubt about it and what people corrected."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from audit.queries.lookup import handbook_number
from audit.store.connection import Connection, rows
from audit.text.corrections import letters_in_order
from audit.text.documents import Corrected, Doubt, Section, doubts_of_records
from audit.text.statements import CELL_SEPARATOR, INDENT, ITEM, ITEM_MARK

FACTS = "select extraction::varchar from handbooks where handbook = $handbook"
SECTIONS = """
select section_id, heading, text, above, pages, url, page_starts from sections where handbook = $handbook order by place
"""
LINE = re.compile(r"[^\n]+")


class ReadText(NamedTuple):
    """The sections of a handbook in reading order, the doubts about them, and what corrections did; None: there were none.

    is_checked  whether the release says what is in doubt; without that, no doubt is not known to be none
    """

    sections: tuple[Section, ...]
    doubts: tuple[Doubt, ...]
    corrections: Corrected | None
    is_checked: bool


class ReadLine(NamedTuple):
    """A heading, paragraph, item or row, or the part of it that is on one page.

    depth    of a heading, from 1; of an item, from 0
    in_file  whether the source has these words as a line or paragraph: the cells of a row may have heads that it has only once
    """

    kind: Literal["heading", "text", "item", "row"]
    text: str
    depth: int = 0
    in_file: bool = True


def read_text(con: Connection, handbook_id: str) -> ReadText:
    """The text of a handbook; without sections where the run does not have it. Raises NotInRunError for an unknown handbook."""
    handbook = {"handbook": handbook_number(con, handbook_id)}
    ((stored,),) = rows(con, FACTS, handbook)
    facts = json.loads(stored or "{}")
    sections = tuple(
        Section(section_id, heading, text, tuple(above), tuple(pages), url, tuple((page, start) for page, start in starts))
        for section_id, heading, text, above, pages, url, starts in rows(con, SECTIONS, handbook)
    )
    return ReadText(sections, doubts_of_records(facts.get("doubts")), _corrected(facts.get("corrections")), "doubts" in facts)


def _corrected(record: object) -> Corrected | None:
    """What a release says of corrections; None where it says nothing that can be used."""
    if not isinstance(record, dict) or not isinstance(record.get("applied"), int):
        return None
    missed = record.get("missed")
    sentences = tuple(str(sentence) for sentence in missed) if isinstance(missed, list) else ()
    return Corrected(str(record.get("digest") or ""), record["applied"], sentences)


def pages_of(text: ReadText) -> list[int]:
    """The numbers of the pages with text or doubts, in order; none where the source has no pages."""
    numbered = {page for section in text.sections for page in range(*_first_and_after(section))}
    return sorted(numbered | {page for doubt in text.doubts for page in doubt.pages})


def _first_and_after(section: Section) -> tuple[int, int]:
    return (section.pages[0], section.pages[-1] + 1) if section.pages else (0, 0)


def lines_on_page(sections: Sequence[Section], page: int | None) -> list[ReadLine]:
    """The lines of a page in reading order; those of all sections where the source has no pages (None)."""
    return [line for section in sections for line in _lines(section, page)]


def _lines(section: Section, page: int | None) -> Iterator[ReadLine]:
    heading = letters_in_order(section.heading)
    if section.heading and (page is None or page in section.pages[:1]):
        yield ReadLine("heading", section.heading, len(section.above) + 1)
    for match in LINE.finditer(section.text):
        span = match.span() if page is None else section.on_page(page, *match.span())
        # A heading above short items is also their lead, and the page has it once
        is_lead = match.start() == 0 and letters_in_order(match.group()) == heading
        if span is not None and section.text[slice(*span)].strip() and not is_lead:
            yield _line(section.text[slice(*span)])


def _line(text: str) -> ReadLine:
    item = ITEM.fullmatch(text)
    if item:
        # The number of a step is a part of its line on the page, as a bullet is not
        return ReadLine("item", text.strip().removeprefix(ITEM_MARK), len(item["indent"]) // INDENT)
    if CELL_SEPARATOR in text:
        return ReadLine("row", text, in_file=": " not in text)
    return ReadLine("text", text.strip())
