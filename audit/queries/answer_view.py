"""One answer and its evidence: how it was found, the passages it rests on, and the search layer by layer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from audit.queries.lookup import handbook_number, question_number
from audit.queries.loose_records import Record, float_or_none, int_or_none, objects, shown_part, text_or_none
from audit.queries.pair_view import PRESENT, Side, side
from audit.store.connection import Connection, rows
from audit.text.documents import Section
from audit.text.tokens import cited_spans

RETRIEVAL = "select retrieval::varchar from answers where question = $question and handbook = $handbook"
SECTIONS = """
select section_id, heading, above, text, pages, url, page_starts, part
from sections where handbook = $handbook and section_id in (select unnest($names))
"""
HAS_SECTIONS = "select count(*) > 0, coalesce(bool_or(handbook = $handbook), false) from sections"


@dataclass(frozen=True)
class AnswerSection:
    """A section of the release; `title` includes the headings above it, and which part of a long one it is."""

    section_id: str
    title: str
    text: str
    pages: tuple[int, ...]
    url: str | None
    page_starts: tuple[tuple[int, int], ...] = ()

    def page_at(self, position: int | None) -> int | None:
        """The page of a character of the text; that of the section where the position or its page is unknown."""
        section = Section(self.section_id, self.title, self.text, (), self.pages, self.url, self.page_starts)
        page = section.page_at(position) if position is not None else None
        return page or next(iter(self.pages), None)


@dataclass(frozen=True)
class ShownPassage:
    """A passage that the generator was given. `start`, `end` locate it in the section's text; None where unknown.

    `retrievers` lists who found it: name to (rank, score), each None where it is not reported.
    """

    number: int
    section_id: str
    section: AnswerSection | None
    start: int | None
    end: int | None
    origin: str | None
    score: float | None
    retrievers: Mapping[str, tuple[int | None, float | None]]


@dataclass(frozen=True)
class SupportedText:
    """A part of the answer's text, in characters, that cites passages by number; `unknown` are those that were not given."""

    start: int
    end: int
    numbers: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True)
class LayerResult:
    """One layer of the search: its best sections (id, title, score), how many it passed on, or why it was skipped."""

    name: str
    passed_on: int | None
    skipped: str | None
    top: tuple[tuple[str, str | None, float | None], ...]


@dataclass(frozen=True)
class Answer:
    """An answer with everything that is known about how it was made.

    `recorded` is False where the release has no retrieval record. `texts`: whose sections the release has, "handbook",
    "others" (of other handbooks only) or "none". `cites` are the passages that it cites by number, `unknown` those of them
    that it was not given.
    """

    side: Side
    recorded: bool
    texts: str
    strategy: str | None
    reason: str | None
    queries: tuple[str, ...]
    seconds: float | None
    passages: tuple[ShownPassage, ...]
    supported: tuple[SupportedText, ...]
    cites: tuple[int, ...]
    unknown: tuple[int, ...]
    layers: tuple[LayerResult, ...]


def answer(con: Connection, question_id: str, handbook_id: str) -> Answer:
    """A handbook's answer to a question, and the evidence behind it.

    The retrieval record may have any shape: what cannot be used is left out.
    Raises NotInRunError when the question or the handbook is not in the run.
    """
    numbers = {"question": question_number(con, question_id), "handbook": handbook_number(con, handbook_id)}
    answered = side(con, numbers["question"], numbers["handbook"])
    record = _retrieval_record(con, numbers)
    passage_records, layers = objects(record.get("passages")), objects(record.get("layers"))
    sources = (*passage_records, *(top for layer in layers for top in objects(layer.get("top"))))
    section_ids = {text_or_none(source.get("section_id")) for source in sources}
    sections = _sections(con, numbers["handbook"], sorted(section_id for section_id in section_ids if section_id))
    passages = tuple(_passage(passage, number, sections) for number, passage in enumerate(passage_records, 1))
    supported, cites = _supported(answered, record, {passage.number for passage in passages})
    return Answer(
        side=answered,
        recorded=bool(record),
        texts=_texts(con, numbers["handbook"]),
        strategy=text_or_none(record.get("strategy")),
        reason=text_or_none(record.get("reason")),
        queries=tuple(query for entry in shown_part(record.get("queries")) if (query := text_or_none(entry))),
        seconds=float_or_none(record.get("seconds")),
        passages=passages,
        supported=supported,
        cites=tuple(sorted(cites)),
        unknown=tuple(number for number, known in sorted(cites.items()) if not known),
        layers=tuple(_layer(layer, sections) for layer in layers),
    )


def _retrieval_record(con: Connection, numbers: Mapping[str, int]) -> Record:
    stored = rows(con, RETRIEVAL, numbers)
    record = json.loads(stored[0][0]) if stored and stored[0][0] else {}
    return record if isinstance(record, dict) else {}


def _texts(con: Connection, handbook: int) -> str:
    ((has_any, has_own),) = rows(con, HAS_SECTIONS, {"handbook": handbook})
    return "handbook" if has_own else "others" if has_any else "none"


def _sections(con: Connection, handbook: int, names: list[str]) -> dict[str, AnswerSection]:
    stored = rows(con, SECTIONS, {"handbook": handbook, "names": names}) if names else []
    return {
        name: AnswerSection(
            name,
            Section(name, heading or "", "", tuple(above), part=tuple(part)).name or name,
            text,
            tuple(pages),
            url,
            tuple((page, start) for page, start in page_starts),
        )
        for name, heading, above, text, pages, url, page_starts, part in stored
    }


def _passage(record: Record, number: int, sections: Mapping[str, AnswerSection]) -> ShownPassage:
    section_id = text_or_none(record.get("section_id")) or ""
    section, start, end = sections.get(section_id), record.get("start"), record.get("end")
    # The passage may have been cut from another version of the text, so positions are used only where they fit.
    inside = section is not None and isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(section.text)
    by = record.get("retrievers")
    retrievers = {
        str(name): (int_or_none(hit.get("rank")), float_or_none(hit.get("score")))
        for name, hit in (by.items() if isinstance(by, dict) else ())
        if isinstance(hit, dict)
    }
    return ShownPassage(
        int_or_none(record.get("passage")) or number, section_id, section, start if inside else None, end if inside else None,
        text_or_none(record.get("origin")), float_or_none(record.get("score")), retrievers,
    )  # fmt: skip


def _supported(answered: Side, record: Record, numbers: set[int]) -> tuple[tuple[SupportedText, ...], dict[int, bool]]:
    """The parts of the answer that cite passages, and every number that it cites with whether that passage was given.

    A citation may state which part of the answer it supports; otherwise the marks in the text do.
    """
    text = answered.answer or ""
    cites: dict[int, bool] = {}
    parts: list[tuple[int, int, tuple[int, ...]]] = []
    for citation in objects(record.get("citations")):
        number, start, end = (int_or_none(citation.get(name)) for name in ("passage", "start", "end"))
        if number is not None:
            cites[number] = number in numbers and citation.get("known") is not False
            if start is not None and end is not None and 0 <= start < end <= len(text):
                parts.append((start, end, (number,)))
    if answered.state == PRESENT and numbers:
        marks = cited_spans(text)
        # A citation in the record takes precedence over a mark in the text.
        cites = {number: number in numbers for mark in marks for number in mark.numbers} | cites
        parts = parts or [(mark.start, mark.end, mark.numbers) for mark in marks]
    # Where two citations overlap, the text is marked once: by the one that begins first.
    parts.sort()
    ordered = [part for index, part in enumerate(parts) if not any(part[0] < end for _, end, _ in parts[:index])]
    return tuple(SupportedText(*part, tuple(n for n in part[2] if not cites.get(n))) for part in ordered), cites


def _layer(record: Record, sections: Mapping[str, AnswerSection]) -> LayerResult:
    top = [(text_or_none(hit.get("section_id")) or "", float_or_none(hit.get("score"))) for hit in objects(record.get("top"))]
    return LayerResult(
        text_or_none(record.get("layer")) or "",
        int_or_none(record.get("kept")),
        text_or_none(record.get("skipped")),
        tuple((name, sections[name].title if name in sections else None, score) for name, score in top),
    )


def passages_by_section(answered: Answer) -> Iterator[tuple[AnswerSection | None, str, list[ShownPassage]]]:
    """(section, its id, its passages) in the order of the passages: passages of one section are shown in one text."""
    for section_id in dict.fromkeys(passage.section_id for passage in answered.passages):
        in_section = [passage for passage in answered.passages if passage.section_id == section_id]
        yield in_section[0].section, section_id, in_section
