"""The passages of a handbook with their word counts, stored so that a run is ready for questions seconds after a restart."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from audit.atomic_io import atomic_file
from audit.pipeline.retrieval.bm25 import Bm25
from audit.pipeline.retrieval.closest import ClosestPassages, PassagePlace
from audit.pipeline.stages.build_cache import code_digest, digest_of
from audit.text.documents import Document

CODE = ("pipeline/retrieval/closest.py", "pipeline/retrieval/bm25.py", "pipeline/retrieval/index.py", "text")


@cache
def _code() -> str:
    return code_digest(*CODE)


def passages_of(document: Document, folder: Path | None) -> ClosestPassages:
    """The passages of a handbook, ready to be compared by words; read from `folder`, or computed and stored there.

    So are their static vectors, in a file that `ClosestPassages` names.
    """
    if folder is None:
        return _counted(document, None)
    sections = [[section.heading, section.text] for section in document.sections]
    path = folder / f"passages-{digest_of([sections, _code()])[:24]}.npz"
    stored = _read(document, path, folder)
    if stored is not None:
        return stored
    book = _counted(document, folder)
    folder.mkdir(parents=True, exist_ok=True)
    lead_lists = json.dumps([place.leads for place in book.places], ensure_ascii=False).encode()
    with atomic_file(path) as draft, draft.open("wb") as file:
        np.savez(
            file,
            allow_pickle=False,
            places=np.array([[place.section, place.start, place.end, len(place.statements)] for place in book.places], np.int64),
            statements=np.array([span for place in book.places for span in place.statements], dtype=np.int64),
            leads=np.frombuffer(lead_lists, dtype=np.uint8),
            **{f"bm25_{name}": array for name, array in book.word_counts.to_arrays().items()},
        )
    return book


def _counted(document: Document, folder: Path | None) -> ClosestPassages:
    book = ClosestPassages(document, folder=folder)
    assert book.word_counts, "counted now and not with the first question"
    return book


def _read(document: Document, path: Path, folder: Path) -> ClosestPassages | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
    except (OSError, ValueError, zipfile.BadZipFile):
        # Not there yet, or damaged: it can be computed again
        return None
    leads = json.loads(arrays["leads"].tobytes())
    places = tuple(_places(arrays["places"].tolist(), arrays["statements"].tolist(), leads))
    book = ClosestPassages(document, folder=folder, places=places)
    book.word_counts = Bm25.from_arrays({name[5:]: array for name, array in arrays.items() if name.startswith("bm25_")})
    return book


def _places(places: list[list[int]], statements: list[list[int]], leads: list[list[str]]) -> Iterator[PassagePlace]:
    first = 0
    for (section, start, end, count), own in zip(places, leads, strict=True):
        spans = tuple((begin, stop) for begin, stop in statements[first : first + count])
        yield PassagePlace(section, start, end, tuple(own), spans)
        first += count
