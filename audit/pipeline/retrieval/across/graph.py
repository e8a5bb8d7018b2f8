"""The alignment graph: chunks of all sources and the entities that they name, an edge where a chunk names an entity.

Source: S1, Algorithm 2. The entities of a handbook's chunks are cached next to its index, one file per handbook, named by
everything that determines them: a stopped run resumes with the next handbook.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from audit.atomic_io import write_atomic
from audit.pipeline.embedding.vectors import Progress, no_progress
from audit.pipeline.retrieval.across.entities import Entity, EntityRecogniser
from audit.pipeline.retrieval.across.library import ChunkHit, Library
from audit.pipeline.retrieval.index import HandbookIndex, index_digest

Mask = NDArray[np.bool_]
ChunkEntities = Sequence[Sequence[Entity]]
"""The entities of each chunk of a handbook, by row."""
# Raise it when the files of cached entities get another form
FORMAT = 1


@dataclass(frozen=True, eq=False)
class EntityGraph:
    """Chunks by entities. Chunks are numbered through all handbooks, in the order of `handbook_ids`.

    incidence  chunks x entities, 1 where the chunk names the entity
    """

    handbook_ids: tuple[str, ...]
    first_rows: tuple[int, ...]
    entities: tuple[Entity, ...]
    incidence: csr_array

    @cached_property
    def column_of(self) -> dict[Entity, int]:
        """Entity -> its column."""
        return {entity: column for column, entity in enumerate(self.entities)}

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of chunks that name each entity."""
        return np.bincount(self.incidence.indices, minlength=len(self.entities))

    @cached_property
    def _chunks_by_entity(self) -> csr_array:
        return self.incidence.T.tocsr()

    @cached_property
    def _first_row_of(self) -> dict[str, int]:
        return dict(zip(self.handbook_ids, self.first_rows, strict=True))

    def number_of(self, hit: ChunkHit) -> int:
        """The number of a chunk of the library."""
        return self._first_row_of[hit.chunk_id.handbook_id] + hit.row

    def place_of(self, number: int) -> tuple[str, int]:
        """The handbook of a chunk and its row there."""
        handbook = bisect_right(self.first_rows, number) - 1
        # A handbook without chunks has the first row of the next one, which bisect_right passes over
        return self.handbook_ids[handbook], number - self.first_rows[handbook]

    def columns(self, number: int) -> NDArray[np.int32]:
        """The columns of the entities that a chunk names."""
        columns: NDArray[np.int32] = self.incidence.indices[self.incidence.indptr[number] : self.incidence.indptr[number + 1]]
        return columns

    def linking(self, most_chunks: int) -> Mask:
        """The entities that link chunks: named by at most so many. An entity that every chunk names ("patient") links nothing."""
        mask: Mask = self.degrees <= most_chunks
        return mask

    def hops_from(self, seeds: Collection[int], linking: Mask, hops: int) -> NDArray[np.int64]:
        """How many hops each chunk is from the seed entities, 0 where it is not within `hops`.

        One hop: the chunk names a seed. Two: it shares a linking entity with a chunk of the first hop; and so on. Seeds that do
        not link are passed over.
        """
        distance = np.zeros(self.incidence.shape[0], dtype=np.int64)
        reached = np.zeros(len(self.entities), dtype=bool)
        reached[list(seeds)] = True
        frontier = reached = reached & linking
        for hop in range(1, hops + 1):
            chunks = (self.incidence @ frontier.astype(np.float32) > 0) & (distance == 0)
            if not chunks.any():
                break
            distance[chunks] = hop
            frontier = (self._chunks_by_entity @ chunks.astype(np.float32) > 0) & linking & ~reached
            reached = reached | frontier
        return distance


def build_graph(library: Library, recogniser: EntityRecogniser, progress: Progress = no_progress) -> EntityGraph:
    """The graph of all chunks of a library; entities come from the library's folder where they are cached there."""
    names: dict[Entity, int] = {}
    columns: list[int] = []
    ends, first_rows = [0], []
    for done, index in enumerate(library.indexes.values()):
        progress("entities", done, len(library.indexes))
        first_rows.append(len(ends) - 1)
        for entities in chunk_entities(index, recogniser, library.folder):
            columns += [names.setdefault(entity, len(names)) for entity in entities]
            ends.append(len(columns))
    ones = np.ones(len(columns), dtype=np.float32)
    incidence = csr_array((ones, np.array(columns, dtype=np.int32), ends), shape=(len(ends) - 1, len(names)))
    return EntityGraph(tuple(library.indexes), tuple(first_rows), tuple(names), incidence)


_GRAPHS: WeakKeyDictionary[Library, dict[str, EntityGraph]] = WeakKeyDictionary()
_BUILDING = Lock()


def graph_of(library: Library, recogniser: EntityRecogniser) -> EntityGraph:
    """The graph of a library, built at the first question and kept as long as the library."""
    # Concurrent sessions must not each build it
    with _BUILDING:
        graphs = _GRAPHS.setdefault(library, {})
        if recogniser.digest not in graphs:
            graphs[recogniser.digest] = build_graph(library, recogniser)
        return graphs[recogniser.digest]


# -- the entities of a handbook's chunks -------------------------------------------------------------------------------


def chunk_entities(index: HandbookIndex, recogniser: EntityRecogniser, folder: Path | None) -> ChunkEntities:
    """The entities of a handbook's chunks, read from `folder` where they are stored, else found and stored."""
    if folder is None:
        return recogniser.recognise(_texts(index))
    path = folder / f"{_digest(index, recogniser)[:24]}.entities.json"
    if path.is_file():
        return _from_json(json.loads(path.read_text(encoding="utf-8")))
    entities = recogniser.recognise(_texts(index))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, json.dumps(_as_json(entities), ensure_ascii=False, separators=(",", ":")))
    return entities


def _texts(index: HandbookIndex) -> list[str]:
    return [index.text(row) for row in range(len(index.chunks))]


def _digest(index: HandbookIndex, recogniser: EntityRecogniser) -> str:
    # Entities do not depend on the encoder
    content = f"{FORMAT} {recogniser.digest} {index_digest(index.document, index.settings, None)}"
    return hashlib.sha256(content.encode()).hexdigest()


def _as_json(entities: ChunkEntities) -> dict[str, object]:
    names: dict[Entity, int] = {}
    chunks = [[names.setdefault(entity, len(names)) for entity in of_chunk] for of_chunk in entities]
    return {"entities": [list(entity) for entity in names], "chunks": chunks}


def _from_json(stored: dict[str, Any]) -> ChunkEntities:
    entities = [Entity(*pair) for pair in stored["entities"]]
    return [tuple(entities[number] for number in of_chunk) for of_chunk in stored["chunks"]]


def named_in(graph: EntityGraph, entities: Iterable[Entity]) -> list[int]:
    """The columns of those entities that a chunk of the library names."""
    return [graph.column_of[entity] for entity in entities if entity in graph.column_of]
