"""One answer and what stands behind it: how it was found, the passages it rests on, and the search layer by layer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.metrics.known import question_number
from audit.metrics.pair import PRESENT, Side, side
from audit.metrics.steps import handbook_number
from audit.store.connection import Connection, rows
from audit.text.citations import cited_spans

RETRIEVAL = "select retrieval::varchar from answers where question = $question and handbook = $handbook"
SECTIONS = """
select section_id, heading, above, text, pages, url
from sections where handbook = $handbook and section_id in (select unnest($names))
"""
HAS_SECTIONS = "select count(*) > 0, coalesce(bool_or(handbook = $handbook), false) from sections"
MOST = 50
"""Passages, layers and entries of a layer that are shown; what a broken release has beyond that is left out."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """A section as the release brings it; `title` holds the headings above it too."""

    section_id: str
    title: str
    text: str
    pages: tuple[int, ...]
    url: str | None


@dataclass(frozen=True)
class Passage:
    """A passage that the generator was given. `start`, `end` are its place in the section's text, None where it points nowhere.

    `retrievers` is who found it: name to (rank, score), each None where it is not told.
    """

    number: int
    section_id: str
    section: Section | None
    start: int | None
    end: int | None
    origin: str | None
    score: float | None
    retrievers: Mapping[str, tuple[int | None, float | None]]


@dataclass(frozen=True)
class Rest:
    """A part of the answer's text, in characters, that rests on passages by number; `unknown` are those that were not given."""

    start: int
    end: int
    numbers: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """One layer of the search: its best sections (id, title, score), how many it kept, or why it was skipped."""

    name: str
    kept: int | None
    skipped: str | None
    top: tuple[tuple[str, str | None, float | None], ...]


@dataclass(frozen=True)
class Answer:
    """An answer with all that is known of how it came about.

    `recorded` is False where the release has no retrieval record. `texts` says whose text there is: "handbook", "others" (of
    other handbooks only) or "none". `cites` are the numbers that it cites, `unknown` those of them that it was not given.
    """

    side: Side
    recorded: bool
    texts: str
    strategy: str | None
    reason: str | None
    queries: tuple[str, ...]
    seconds: float | None
    passages: tuple[Passage, ...]
    rests: tuple[Rest, ...]
    cites: tuple[int, ...]
    unknown: tuple[int, ...]
    layers: tuple[Layer, ...]


def answer(con: Connection, question_id: str, handbook_id: str) -> Answer:
    """What a handbook answers to a question, and what stands behind that.

    The retrieval record may have any shape: what cannot be used is left out.
    Raises NotInRunError when the question or the handbook is not in the run.
    """
    place = {"question": question_number(con, question_id), "handbook": handbook_number(con, handbook_id)}
    told = side(con, place["question"], place["handbook"])
    record = _record(con, place)
    listed, layers = _objects(record.get("passages")), _objects(record.get("layers"))
    named = (*listed, *(top for layer in layers for top in _objects(layer.get("top"))))
    names = {_text(each.get("section_id")) for each in named}
    found = _sections(con, place["handbook"], sorted(name for name in names if name))
    passages = tuple(_passage(each, number, found) for number, each in enumerate(listed, 1))
    rests, cites = _rests(told, record, {passage.number for passage in passages})
    return Answer(
        side=told, recorded=bool(record), texts=_texts(con, place["handbook"]), strategy=_text(record.get("strategy")),
        reason=_text(record.get("reason")), seconds=_number(record.get("seconds")), passages=passages, rests=rests,
        queries=tuple(query for each in _listed(record.get("queries")) if (query := _text(each))), cites=tuple(sorted(cites)),
        unknown=tuple(number for number, known in sorted(cites.items()) if not known),
        layers=tuple(_layer(each, found) for each in layers),
    )  # fmt: skip


def _record(con: Connection, place: Mapping[str, int]) -> Record:
    found = rows(con, RETRIEVAL, place)
    told = json.loads(found[0][0]) if found and found[0][0] else {}
    return told if isinstance(told, dict) else {}


def _texts(con: Connection, handbook: int) -> str:
    ((some, own),) = rows(con, HAS_SECTIONS, {"handbook": handbook})
    return "handbook" if own else "others" if some else "none"


def _sections(con: Connection, handbook: int, names: list[str]) -> dict[str, Section]:
    found = rows(con, SECTIONS, {"handbook": handbook, "names": names}) if names else []
    return {
        name: Section(name, " > ".join(part for part in (*above, heading or "") if part) or name, text, tuple(pages), url)
        for name, heading, above, text, pages, url in found
    }


def _passage(told: Record, number: int, sections: Mapping[str, Section]) -> Passage:
    section_id = _text(told.get("section_id")) or ""
    section, start, end = sections.get(section_id), told.get("start"), told.get("end")
    inside = section is not None and isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(section.text)
    by = told.get("retrievers")
    retrievers = {
        str(name): (_whole(each.get("rank")), _number(each.get("score")))
        for name, each in (by.items() if isinstance(by, dict) else ())
        if isinstance(each, dict)
    }
    return Passage(
        _whole(told.get("passage")) or number, section_id, section, start if inside else None, end if inside else None,
        _text(told.get("origin")), _number(told.get("score")), retrievers,
    )  # fmt: skip


def _rests(told: Side, record: Record, given: set[int]) -> tuple[tuple[Rest, ...], dict[int, bool]]:
    """The parts of the answer that rest on passages, and every number that it cites with whether that passage was given.

    A citation may say itself which part of the answer it supports; else the marks in the text do.
    """
    text = told.answer or ""
    cites: dict[int, bool] = {}
    parts: list[tuple[int, int, tuple[int, ...]]] = []
    for each in _objects(record.get("citations")):
        number, start, end = _whole(each.get("passage")), _whole(each.get("start")), _whole(each.get("end"))
        if number is not None:
            cites[number] = number in given and each.get("known") is not False
            if start is not None and end is not None and 0 <= start < end <= len(text):
                parts.append((start, end, (number,)))
    if told.state == PRESENT and given:
        marks = cited_spans(text)
        cites = {number: number in given for mark in marks for number in mark.numbers} | cites
        parts = parts or [(mark.start, mark.end, mark.numbers) for mark in marks]
    ordered = [part for place, part in enumerate(sorted(parts)) if not any(part[0] < end for _, end, _ in sorted(parts)[:place])]
    return tuple(Rest(*part, tuple(n for n in part[2] if not cites.get(n))) for part in ordered), cites


def _layer(told: Record, sections: Mapping[str, Section]) -> Layer:
    top = [(_text(each.get("section_id")) or "", _number(each.get("score"))) for each in _objects(told.get("top"))]
    return Layer(
        _text(told.get("layer")) or "", _whole(told.get("kept")), _text(told.get("skipped")),
        tuple((name, sections[name].title if name in sections else None, score) for name, score in top),
    )  # fmt: skip


def _listed(value: Any) -> list[Any]:
    return value[:MOST] if isinstance(value, list) else []


def _objects(value: Any) -> list[Record]:
    return [each for each in _listed(value) if isinstance(each, dict)]


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, (dict, list)) else str(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def unfold(found: Answer) -> Iterator[tuple[Section | None, str, list[Passage]]]:
    """(section, its id, its passages) in the order of the passages: passages of one section are shown in one text."""
    for section_id in dict.fromkeys(passage.section_id for passage in found.passages):
        mine = [passage for passage in found.passages if passage.section_id == section_id]
        yield mine[0].section, section_id, mine
