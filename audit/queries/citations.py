"""Citations of answers: the statement of a handbook's section, and the page on which it is printed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from audit.errors import NotInRunError
from audit.queries.lookup import handbook_number, question_number
from audit.queries.loose_records import Record, int_or_none, objects, text_or_none
from audit.store.connection import Connection, rows
from audit.text.documents import Section

CITED = """
select handbook_id, handbook, retrieval::varchar
from answers join handbooks using (handbook)
where question = $question and retrieval is not null and not coalesce(absent, false)
order by handbook
"""
SECTIONS = """
with wanted as (
    select distinct unnest($handbooks::smallint[]) as handbook, unnest($names::varchar[]) as section_id
)
select handbook::integer, section_id, heading, text, above, pages, url, page_starts, part
from sections semi join wanted using (handbook, section_id)
"""
TITLES = "select section_id, above, heading, part from sections where handbook = $handbook order by place"
FILE = """
select handbook_id, coalesce(title, center), url, digest, licence, may_be_downloaded, pages
from handbooks where handbook = $handbook
"""


@dataclass(frozen=True)
class Citation:
    """One thing that an answer cites.

    number      of the passage, as in the mark [1] of the answer
    page        on which it begins; None if the release does not state it
    start, end  the statement, in characters of the section's text; both 0: its heading; None where only the passage is known
    """

    number: int
    section_id: str
    title: str
    page: int | None
    start: int | None
    end: int | None


@dataclass(frozen=True)
class SourceFile:
    """The file that a handbook's text was taken from. `digest` is its sha256; None: not stated in the release."""

    handbook_id: str
    title: str
    url: str | None
    digest: str | None
    licence: str | None
    may_be_downloaded: bool
    pages: int | None


def citations(con: Connection, question_id: str) -> dict[str, tuple[Citation, ...]]:
    """Handbook id -> what its answer to a question cites, in the order of the answer; a handbook that cites nothing is left out.

    Raises NotInRunError when the run has no such question.
    """
    cited = rows(con, CITED, {"question": question_number(con, question_id)})
    records = {int(number): json.loads(record) for _, number, record in cited}
    by_handbook = _citations(con, {number: record for number, record in records.items() if isinstance(record, dict)})
    return {str(name): by_handbook[number] for name, number, _ in cited if by_handbook.get(number)}


def located(con: Connection, cited: Mapping[str, Sequence[Record]]) -> dict[str, tuple[Citation, ...]]:
    """Handbook id -> where its citations are in the texts of the run; `cited`: handbook id -> records as an answer has them.

    Citations of texts that the run does not have are left out. Raises NotInRunError when it has no such handbook.
    """
    numbers = {handbook_id: handbook_number(con, handbook_id) for handbook_id in cited}
    by_handbook = _citations(con, {number: {"citations": list(cited[name])} for name, number in numbers.items()})
    return {handbook_id: by_handbook[number] for handbook_id, number in numbers.items()}


def source_file(con: Connection, handbook_id: str) -> SourceFile:
    """The file of a handbook. Raises NotInRunError when the run has no such handbook."""
    (facts,) = rows(con, FILE, {"handbook": handbook_number(con, handbook_id)})
    return SourceFile(*facts)


def section_titles(con: Connection, handbook_id: str) -> dict[str, str]:
    """Section id -> title, of every section of a handbook whose text the run has, in reading order.

    Raises NotInRunError when the run has no such handbook.
    """
    sections = rows(con, TITLES, {"handbook": handbook_number(con, handbook_id)})
    return {
        section_id: Section(section_id, heading, "", tuple(above), part=tuple(part)).name or section_id
        for section_id, above, heading, part in sections
    }


def cited_section(con: Connection, handbook_id: str, section_id: str) -> Section:
    """A section of a handbook. Raises NotInRunError when the run does not have its text."""
    number = handbook_number(con, handbook_id)
    section = _sections(con, {(number, section_id)}).get((number, section_id))
    if section is None:
        raise NotInRunError(f"The run has no text of section '{section_id}' of {handbook_id}. Nothing can be marked.")
    return section


def _citations(con: Connection, records: Mapping[int, Record]) -> dict[int, tuple[Citation, ...]]:
    """Number of a handbook -> what its answer cites, from its record of retrieval."""
    places = {handbook: _places(record) for handbook, record in records.items()}
    # One statement for all handbooks: a hundred of them took 0.2 s.
    named = {(handbook, section_id) for handbook, cited in places.items() for _, section_id, *_ in cited if section_id}
    sections = _sections(con, named)
    return {
        handbook: tuple(
            _citation(position, section) for position in cited if (section := sections.get((handbook, position[1] or "")))
        )
        for handbook, cited in places.items()
    }


def _places(record: Record) -> list[Place]:
    passages = {int_or_none(passage.get("passage")): passage for passage in objects(record.get("passages"))}
    known = [citation for citation in objects(record.get("citations")) if citation.get("known") is not False]
    places = (_cited_place(citation, passages.get(int_or_none(citation.get("passage")), {})) for citation in known)
    return [position for position in dict.fromkeys(places) if position[0] is not None]


def _citation(position: Place, section: Section) -> Citation:
    number, _, start, end, passage_start = position
    assert number is not None  # `_places` omits citations without a position
    inside = start is not None and end is not None and (0 <= start < end <= len(section.text) or start == end == 0)
    page = _page(section, passage_start if not inside else start if start != end else None)
    title = section.name or section.section_id
    return Citation(number, section.section_id, title, page, start if inside else None, end if inside else None)


def _page(section: Section, position: int | None) -> int | None:
    """The page of a character; that of the heading if there is no character or the starts of pages are unknown."""
    page = section.page_at(position) if position is not None else None
    return page or (section.pages[0] if section.pages else None)


Place = tuple[int | None, str | None, int | None, int | None, int | None]
"""Number of the passage, section, first and last character of the statement, first character of the passage."""


def _cited_place(citation: Record, passage: Record) -> Place:
    section_id = text_or_none(citation.get("section_id")) or text_or_none(passage.get("section_id"))
    number, start, end = (int_or_none(citation.get(name)) for name in ("passage", "quote_start", "quote_end"))
    if start is None and citation.get("quote"):  # a heading has no position in the text below it
        start = end = 0
    return number, section_id, start, end, int_or_none(passage.get("start"))


def _sections(con: Connection, named: Set[tuple[int, str]]) -> Mapping[tuple[int, str], Section]:
    """(number of a handbook, section id) -> section, of those whose text the run has."""
    handbooks, names = [handbook for handbook, _ in sorted(named)], [section_id for _, section_id in sorted(named)]
    stored = rows(con, SECTIONS, {"handbooks": handbooks, "names": names}) if named else []
    return {
        (handbook, section_id): Section(
            section_id,
            heading,
            text,
            tuple(above),
            tuple(pages),
            url,
            tuple((page, start) for page, start in page_starts),
            tuple(part),
        )
        for handbook, section_id, heading, text, above, pages, url, page_starts, part in stored
    }
