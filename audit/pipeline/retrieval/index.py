"""The index of one handbook: its sections cut into chunks, BM25 over chunks, bodies and headings, and the chunks' vectors."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from audit.atomic_io import atomic_file
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import Vectors, flat_index, no_progress
from audit.pipeline.retrieval.bm25 import ENGLISH, Bm25, stemmer_of, tokens
from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.pipeline.retrieval.settings import SENTENCES, RetrievalSettings
from audit.text.documents import Document, Section
from audit.text.statements import leads_at, statements
from audit.text.words import MARKS, PIECE, SPACELESS

# Increase it when indexing changes: cached indexes are then rebuilt.
FORMAT = 4
NAVIGATION_HEADING = re.compile(
    r"(table of )?contents|(subject |alphabetical )?index|glossary|references|bibliography|(useful |related )?links|"
    r"navigation|menu|site ?map|list of (figures|tables)|about this (handbook|guide|book)|acknowledge?ments?|notes",
    re.IGNORECASE,
)
# Dots that lead to a page number, or a line that ends in one.
PAGE_REFERENCE = re.compile(r"(\.\s?){4,}|…|\s\d{1,3}\s*$", re.MULTILINE)
MIN_LINES, MIN_SHARE_OF_REFERENCES = 4, 0.5


@dataclass(frozen=True, slots=True)
class Chunk:
    """Characters `start` to `end` of the text of section number `section`, counted from 0 in the document."""

    section: int
    start: int
    end: int


def split_into_chunks(document: Document, settings: RetrievalSettings) -> tuple[Chunk, ...]:
    """Overlapping parts of sections in reading order; a section without text is one empty chunk, so its heading can be found."""
    return tuple(
        chunk for number, section in enumerate(document.sections) for chunk in _section_chunks(number, section, settings)
    )


def _section_chunks(number: int, section: Section, settings: RetrievalSettings) -> Iterator[Chunk]:
    if settings.chunking == SENTENCES:
        spans = list(sentence_chunks(section.text, settings.hybrid)) or [(0, 0)]
        yield from (Chunk(number, start, end) for start, end in spans)
    else:
        yield from _word_windows(number, section, settings)


def _word_windows(number: int, section: Section, settings: RetrievalSettings) -> Iterator[Chunk]:
    words = [match.span() for match in PIECE.finditer(section.text)]
    if not words:
        yield Chunk(number, 0, 0)
        return
    step = settings.chunk_words - settings.overlap_words
    # It ends before a chunk that would consist of the overlap alone.
    for first in range(0, max(len(words) - settings.overlap_words, 1), step):
        last = min(first + settings.chunk_words, len(words))
        yield Chunk(number, words[first][0], words[last - 1][1])


def chunk_text(document: Document, chunk: Chunk, settings: RetrievalSettings) -> str:
    """The chunk as retrievers read it: behind the leads of a list that it cuts, and its section's title if the settings ask."""
    section = document.sections[chunk.section]
    body = " ".join((*leads_at(section.text, chunk.start), section.text[chunk.start : chunk.end]))
    return f"{section.title}. {body}" if settings.heading_prefix and section.title else body


def is_navigation(section: Section) -> bool:
    """Whether the section only points elsewhere (contents, index, links): it mentions every subject and answers nothing.

    Recognised by its heading, or by at least four lines, half of them with page numbers.
    """
    if NAVIGATION_HEADING.fullmatch(section.heading.strip(" .:")):
        return True
    lines = [line for line in section.text.splitlines() if line.strip()]
    references = sum(bool(PAGE_REFERENCE.search(line)) for line in lines)
    return len(lines) >= MIN_LINES and references >= MIN_SHARE_OF_REFERENCES * len(lines)


INDEXED_TEXTS: Mapping[str, Callable[[Document, tuple[Chunk, ...], RetrievalSettings], list[str]]] = {
    "chunks": lambda document, chunks, settings: [chunk_text(document, chunk, settings) for chunk in chunks],
    "bodies": lambda document, _chunks, _settings: [section.text for section in document.sections],
    "headings": lambda document, _chunks, _settings: [section.title for section in document.sections],
}


@dataclass(frozen=True)
class HandbookIndex:
    """One handbook, ready to be searched. `vectors` has one row per chunk; it is None where no encoder was given."""

    document: Document
    settings: RetrievalSettings
    chunks: tuple[Chunk, ...]
    bm25: Mapping[str, Bm25]
    vectors: Vectors | None
    encoder: Encoder | None

    @cached_property
    def rows_by_section(self) -> dict[str, range]:
        """Section id -> rows of its chunks."""
        counts = Counter(chunk.section for chunk in self.chunks)
        ends = accumulate(counts[number] for number in range(len(self.document.sections)))
        return {
            section.section_id: range(end - counts[number], end)
            for number, (section, end) in enumerate(zip(self.document.sections, ends, strict=True))
        }

    def text(self, row: int) -> str:
        """The chunk in this row as retrievers and rerankers read it."""
        return chunk_text(self.document, self.chunks[row], self.settings)

    @cached_property
    def title_tokens(self) -> tuple[frozenset[str], ...]:
        """The tokens of each section's title."""
        return tuple(frozenset(self.tokens(section.title)) for section in self.document.sections)

    def tokens(self, text: str) -> list[str]:
        """The stems of a text in the handbook's language."""
        return tokens(text, self.document.language)

    @cached_property
    def navigation_rows(self) -> frozenset[int]:
        """Rows of the chunks in navigation sections."""
        sections = filter(is_navigation, self.document.sections)
        return frozenset(row for section in sections for row in self.rows_by_section[section.section_id])

    @cached_property
    def faiss_index(self) -> Any:
        """FAISS's flat index of the vectors, for those of a large corpus. Raises MissingLibraryError without faiss-cpu."""
        assert self.vectors is not None
        return flat_index(self.vectors)


def build_index(
    document: Document, settings: RetrievalSettings, encoder: Encoder | None = None, folder: Path | None = None
) -> HandbookIndex:
    """The handbook's index: read from `folder` if it was built there from the same input, else built and stored there.

    The file appears complete or not at all. Raises EmbeddingError from the encoder.
    """
    chunks = split_into_chunks(document, settings)
    # Named by everything it depends on, so a stale index is never read.
    path = folder / f"{index_digest(document, settings, encoder)[:24]}.npz" if folder else None
    if path and path.is_file():
        with np.load(path) as arrays:
            return _index_from_arrays(document, settings, chunks, encoder, dict(arrays))
    texts = {part: texts_of(document, chunks, settings) for part, texts_of in INDEXED_TEXTS.items()}
    # Three indexes, because one word weighs differently in a heading, a section and a chunk.
    bm25 = {part: Bm25.build([tokens(text, document.language) for text in part_texts]) for part, part_texts in texts.items()}
    vectors = encoder.encode(texts["chunks"], no_progress) if encoder else None
    index = HandbookIndex(document, settings, chunks, bm25, vectors, encoder)
    if path:
        _write_index(index, path)
    return index


def index_digest(document: Document, settings: RetrievalSettings, encoder: Encoder | None) -> str:
    """sha256 of everything that an index depends on."""
    texts = [[section.section_id, section.title, section.text] for section in document.sections]
    sizes = settings.hybrid.chunk_sizes if settings.chunking == SENTENCES else (settings.chunk_words, settings.overlap_words)
    chunking = [*sizes, settings.heading_prefix, encoder.digest if encoder else None]
    # Snowball changes its rules between versions, and stems of one version do not match an index of another.
    content = [FORMAT, version("snowballstemmer"), document.handbook_id, texts, chunking]
    content += [stemmer] if (stemmer := stemmer_of(document.language)) != ENGLISH else []
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def _write_index(index: HandbookIndex, path: Path) -> None:
    arrays = {f"{part}.{name}": array for part, bm25 in index.bm25.items() for name, array in bm25.to_arrays().items()}
    if index.vectors is not None:
        arrays["vectors"] = index.vectors
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as draft, draft.open("wb") as file:
        # Without pickle: reading a cache must not be able to run code.
        np.savez(file, allow_pickle=False, **arrays)


def _index_from_arrays(
    document: Document, settings: RetrievalSettings, chunks: tuple[Chunk, ...], encoder: Encoder | None, arrays: Mapping[str, Any]
) -> HandbookIndex:
    def arrays_of(part: str) -> dict[str, Any]:
        return {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{part}.")}

    bm25 = {part: Bm25.from_arrays(arrays_of(part)) for part in INDEXED_TEXTS}
    return HandbookIndex(document, settings, chunks, bm25, arrays.get("vectors"), encoder)


# -- cuts a text into overlapping chunks that end where a sentence, list item or table row ends --------------

TOKEN = re.compile(rf"[^\W{SPACELESS}]+|[{SPACELESS}][{MARKS}]*|[^\w\s]")


def sentence_chunks(text: str, settings: HybridSettings) -> Iterator[tuple[int, int]]:
    """(start, end) of each chunk in characters, in reading order; none for a text without a word.

    A chunk takes whole sentences up to `chunk_tokens`, and more where it or what is left would be shorter than
    `min_chunk_tokens`. It repeats the last sentences of the one before, up to `overlap_tokens`. A token is a word or a
    punctuation mark, so a text is cut alike for every model; a model's own word pieces are some 10 % more.
    """
    tokens = [match.span() for match in TOKEN.finditer(text)]
    ends = _sentence_ends(text, tokens, settings.max_chunk_tokens)
    start, end = 0, 0
    while end < len(tokens):
        start = _overlap_start(start, end, ends, settings)
        end = _chunk_end(start, end, ends, settings)
        yield tokens[start][0], tokens[end - 1][1]


def _sentence_ends(text: str, tokens: Sequence[tuple[int, int]], longest: int) -> list[int]:
    """The number of tokens up to the end of each sentence; a sentence of more than `longest` tokens is cut."""
    token_ends = [end for _, end in tokens]
    ends = [0]
    for sentence_end in [*(bisect_right(token_ends, statement.end) for statement in statements(text)), len(tokens)]:
        ends += range(ends[-1] + longest, sentence_end, longest)
        if sentence_end > ends[-1]:
            ends.append(sentence_end)
    return ends


def _overlap_start(start: int, end: int, ends: Sequence[int], settings: HybridSettings) -> int:
    """Where the chunk after one of the tokens `start` to `end` begins: at the earliest sentence that may be repeated."""
    following = next(known for known in ends if known > end)
    # A long sentence needs the room that the repeated ones would take
    return next(
        known
        for known in ends
        if known == end
        or (start < known < end and end - known <= settings.overlap_tokens and following - known <= settings.max_chunk_tokens)
    )


def _chunk_end(start: int, previous: int, ends: Sequence[int], settings: HybridSettings) -> int:
    """Where the chunk that begins with token `start` ends; it goes beyond `previous`, the end of the one before."""
    possible = [end for end in ends if end > previous and end - start <= settings.max_chunk_tokens]
    fitting = [end for end in possible if end - start <= settings.chunk_tokens]
    end = fitting[-1] if fitting else possible[0]
    if end - start < settings.min_chunk_tokens:
        end = next((later for later in possible if later > end), end)
    left = ends[-1] - end
    return ends[-1] if 0 < left < settings.min_chunk_tokens and ends[-1] in possible else end
