"""Lists of hits over one index: rows of chunks with scores, and the layers, passages and sections they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from audit.retrieval.index import Index
from audit.retrieval.model import Hit, Layer

Ranking = Mapping[int, float]
"""Row of a chunk -> score, best first."""


def layer(index: Index, name: str, ranking: Ranking) -> Layer:
    """The ranking as the trace keeps it."""
    return Layer(name, tuple(hit(index, row, score) for row, score in ranking.items()))


def hit(index: Index, row: int, score: float) -> Hit:
    """A chunk as a place in its section."""
    chunk = index.chunks[row]
    return Hit(index.document.sections[chunk.section].section_id, chunk.start, chunk.end, float(score))


def ranks(ranking: Ranking) -> dict[int, int]:
    """Row -> rank from 1."""
    return {row: rank for rank, row in enumerate(ranking, start=1)}


def ranks_of_sections(index: Index, ranking: Ranking) -> dict[int, int]:
    """Row -> rank of its section, from 1: chunks of one section share it."""
    place = {index.chunks[row].section: rank for rank, row in enumerate(one_a_section(index, ranking), start=1)}
    return {row: place[index.chunks[row].section] for row in ranking}


def one_a_section(index: Index, rows: Iterable[int]) -> list[int]:
    """The first row of each section, in the order given."""
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(index.chunks[row].section, row)
    return list(first.values())


def section_ids(index: Index, rows: Iterable[int]) -> tuple[str, ...]:
    """The sections of the rows, each once, in the order given."""
    return tuple(dict.fromkeys(index.document.sections[index.chunks[row].section].section_id for row in rows))
