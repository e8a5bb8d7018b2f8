"""What is computed of a handbook before it can be asked, stored so that a run is ready for questions soon after a restart."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from audit.atomic_io import atomic_file
from audit.pipeline.retrieval.bm25 import Bm25
from audit.pipeline.retrieval.closest import ClosestPassages
from audit.pipeline.retrieval.places import PassagePlaces
from audit.pipeline.stages.build_cache import code_digest, digest_of
from audit.text.documents import Document
from audit.text.language import language_of

CODE = ("pipeline/asking/stored_passages.py", "pipeline/retrieval", "text")
LANGUAGE_SAMPLE = 20_000  # characters


@cache
def _code() -> str:
    return code_digest(*CODE)


def passages_of(document: Document, folder: Path | None) -> ClosestPassages:
    """The passages of a handbook in its language, ready to be compared by words; from `folder`, or computed and stored there.

    So are their static vectors, in a file that `ClosestPassages` names.
    """
    if folder is None:
        return _counted(document, None)
    sections = [[section.heading, section.text] for section in document.sections]
    path = folder / f"passages-{digest_of([sections, document.language, _code()])[:24]}.npz"
    stored = _read(document, path, folder)
    if stored is not None:
        return stored
    book = _counted(document, folder)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as draft, draft.open("wb") as file:
        np.savez(
            file,
            allow_pickle=False,
            facts=np.frombuffer(json.dumps([book.document.language, book.texts_digest]).encode(), dtype=np.uint8),
            **book.places.to_arrays(),
            **{f"bm25_{name}": array for name, array in book.word_counts.to_arrays().items()},
        )
    return book


def _counted(document: Document, folder: Path | None) -> ClosestPassages:
    # Detected once: detecting it for every question would take most of the time
    language = document.language or language_of(document.full_text[:LANGUAGE_SAMPLE])
    book = ClosestPassages(replace(document, language=language), folder=folder)
    assert book.word_counts, "counted now and not with the first question"
    return book


def _read(document: Document, path: Path, folder: Path) -> ClosestPassages | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
    except (OSError, ValueError, zipfile.BadZipFile):
        # Not there yet, or damaged: it can be computed again
        return None
    language, texts_digest = json.loads(arrays["facts"].tobytes())
    book = ClosestPassages(
        replace(document, language=language), folder=folder, places=PassagePlaces(arrays), texts_digest=texts_digest
    )
    book.word_counts = Bm25.from_arrays({name[5:]: array for name, array in arrays.items() if name.startswith("bm25_")})
    return book
