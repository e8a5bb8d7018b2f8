"""What one handbook's strategies look things up in: BM25 over chunks, bodies and headings, and the chunks' vectors."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from audit.atomic_io import whole
from audit.corpus.documents import Document
from audit.embedding.basis import Progress, Vectors, silent
from audit.embedding.encoders import Encoder
from audit.optional_imports import optional
from audit.retrieval.bm25 import Bm25
from audit.retrieval.chunks import Chunk, chunks, text_of
from audit.retrieval.navigation import navigates
from audit.retrieval.options import Options
from audit.retrieval.tokens import tokens

FORMAT = 1
"""To be raised when the same texts are to be looked up otherwise: what was cached before is made anew."""
PARTS: Mapping[str, Callable[[Document, tuple[Chunk, ...], Options], list[str]]] = {
    "chunks": lambda document, pieces, options: [text_of(document, chunk, options) for chunk in pieces],
    "bodies": lambda document, _pieces, _options: [section.text for section in document.sections],
    "headings": lambda document, _pieces, _options: [section.title for section in document.sections],
}


@dataclass(frozen=True)
class Index:
    """One handbook, ready to be asked. `vectors` is None where no encoder was given; else one row per chunk."""

    document: Document
    options: Options
    chunks: tuple[Chunk, ...]
    words: Mapping[str, Bm25]
    vectors: Vectors | None
    encoder: Encoder | None

    @cached_property
    def rows_of(self) -> dict[str, range]:
        """Section id -> rows of its chunks."""
        counts = Counter(chunk.section for chunk in self.chunks)
        ends = accumulate(counts[place] for place in range(len(self.document.sections)))
        return {
            section.section_id: range(end - counts[place], end)
            for place, (section, end) in enumerate(zip(self.document.sections, ends, strict=True))
        }

    def text(self, row: int) -> str:
        """A chunk as retrievers and rerankers read it."""
        return text_of(self.document, self.chunks[row], self.options)

    @cached_property
    def title_words(self) -> tuple[frozenset[str], ...]:
        """The words of each section's title, as BM25 counts them."""
        return tuple(frozenset(tokens(section.title)) for section in self.document.sections)

    @cached_property
    def navigation(self) -> frozenset[int]:
        """Rows of chunks in sections that only lead elsewhere."""
        return frozenset(row for s in self.document.sections if navigates(s) for row in self.rows_of[s.section_id])

    @cached_property
    def faiss(self) -> Any:
        """FAISS's flat index of the vectors: exact cosines."""
        assert self.vectors is not None
        flat = optional("faiss", "Looking for passages by meaning", "retrieval").IndexFlatIP(self.vectors.shape[1])
        flat.add(np.ascontiguousarray(self.vectors))
        return flat


def build_index(
    document: Document, options: Options, encoder: Encoder | None = None, folder: Path | None = None, progress: Progress = silent
) -> Index:
    """The handbook's index, read from `folder` where the same texts, options and encoder left it there, else made and kept there.

    It appears in the folder complete or not at all. Raises MissingLibraryError without bm25s, EmbeddingError from the encoder.
    """
    pieces = chunks(document, options)
    path = folder / f"{digest(document, options, encoder)[:24]}.npz" if folder else None
    if path and path.is_file():
        with np.load(path) as kept:
            return _read(document, options, pieces, encoder, dict(kept))
    words = {part: Bm25.of([tokens(text) for text in texts(document, pieces, options)]) for part, texts in PARTS.items()}
    vectors = encoder.encode(PARTS["chunks"](document, pieces, options), progress) if encoder else None
    index = Index(document, options, pieces, words, vectors, encoder)
    if path:
        _keep(index, path)
    return index


def digest(document: Document, options: Options, encoder: Encoder | None) -> str:
    """sha256 of everything that an index depends on."""
    texts = [[section.section_id, section.title, section.text] for section in document.sections]
    how = [options.chunk_words, options.overlap_words, options.heading_prefix, encoder.digest if encoder else None]
    return hashlib.sha256(json.dumps([FORMAT, document.handbook_id, texts, how], ensure_ascii=False).encode()).hexdigest()


def _keep(index: Index, path: Path) -> None:
    arrays = {f"{part}.{name}": array for part, bm25 in index.words.items() for name, array in bm25.saved().items()}
    if index.vectors is not None:
        arrays["vectors"] = index.vectors
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as draft, draft.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _read(
    document: Document, options: Options, pieces: tuple[Chunk, ...], encoder: Encoder | None, kept: Mapping[str, Any]
) -> Index:
    def part(name: str) -> dict[str, Any]:
        return {key.partition(".")[2]: array for key, array in kept.items() if key.startswith(f"{name}.")}

    words = {name: Bm25.read(part(name)) for name in PARTS}
    return Index(document, options, pieces, words, kept.get("vectors"), encoder)
