"""From rows of chunks to passages: as they were found, with the section around them, or the whole handbook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from audit.retrieval.chunks import WORD
from audit.retrieval.index import Index
from audit.retrieval.model import Found, Passage
from audit.retrieval.ranking import Ranking, one_a_section

DERIVED = ("fused", "reranked")
"""Layers that rank what others found."""


def hits(index: Index, ranking: Ranking, rankings: Mapping[str, Ranking]) -> tuple[Passage, ...]:
    """The chunks of `ranking` as passages, each with where the retrievers among `rankings` had it."""
    places = {
        name: {row: Found(rank, score) for rank, (row, score) in enumerate(by.items(), start=1)}
        for name, by in rankings.items()
        if name not in DERIVED
    }
    return tuple(
        _hit(index, row, score, rank, {name: by[row] for name, by in places.items() if row in by})
        for rank, (row, score) in enumerate(ranking.items(), start=1)
    )


def _hit(index: Index, row: int, score: float, rank: int, found: Mapping[str, Found]) -> Passage:
    chunk = index.chunks[row]
    section = index.document.sections[chunk.section]
    text = section.text[chunk.start : chunk.end]
    return Passage(section.section_id, chunk.start, chunk.end, text, float(score), rank, "hit", found)


def with_parents(index: Index, passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Each hit as its whole section where that is short, else with the chunks before and after it."""
    return tuple(_parent(index, passage) for passage in passages)


def _parent(index: Index, passage: Passage) -> Passage:
    section = index.document.by_id[passage.section_id]
    if len(WORD.findall(section.text)) <= index.options.parent_words:
        return replace(passage, start=0, end=len(section.text), text=section.text, origin="parent")
    around = [index.chunks[row] for row in _around(index, passage)]
    start, end = around[0].start, around[-1].end
    return replace(passage, start=start, end=end, text=section.text[start:end], origin="neighbour")


def _around(index: Index, passage: Passage) -> range:
    rows = index.rows_of[passage.section_id]
    row = next(row for row in rows if index.chunks[row].start == passage.start)
    wide = index.options.neighbours
    return range(max(row - wide, rows.start), min(row + wide + 1, rows.stop))


def whole(index: Index, ranking: Ranking, rankings: Mapping[str, Ranking]) -> tuple[Passage, ...]:
    """Every section that has text, whole and in reading order; the rank tells their order by `ranking`, then as they stand."""
    first = one_a_section(index, [*ranking, *(rows.start for rows in index.rows_of.values())])
    found = hits(index, {row: ranking.get(row, 0.0) for row in first}, rankings)
    place = {section.section_id: number for number, section in enumerate(index.document.sections)}
    given = [_whole(index, passage) for passage in sorted(found, key=lambda passage: place[passage.section_id])]
    return tuple(passage for passage in given if passage.text.strip())


def _whole(index: Index, passage: Passage) -> Passage:
    text = index.document.by_id[passage.section_id].text
    return replace(passage, start=0, end=len(text), text=text, origin="document")


def titles(index: Index, passages: Iterable[Passage]) -> dict[str, str]:
    """Section id -> title, of the sections of the passages."""
    return {passage.section_id: index.document.by_id[passage.section_id].title for passage in passages}
