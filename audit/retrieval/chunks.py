"""Child chunks of parent sections: overlapping windows of words, each a place in its section's text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.corpus.documents import Document, Section
from audit.retrieval.options import Options

WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Characters `start` to `end` of the text of section `section`, counted from 0 in the document."""

    section: int
    start: int
    end: int


def chunks(document: Document, options: Options) -> tuple[Chunk, ...]:
    """Every section's chunks in reading order; a section without text is one empty chunk, so that its heading is found."""
    return tuple(chunk for place, section in enumerate(document.sections) for chunk in _of(place, section, options))


def _of(place: int, section: Section, options: Options) -> Iterator[Chunk]:
    words = [match.span() for match in WORD.finditer(section.text)]
    step = options.chunk_words - options.overlap_words
    starts = range(0, max(len(words) - options.overlap_words, 1), step)
    for first in starts if words else ():
        last = min(first + options.chunk_words, len(words))
        yield Chunk(place, words[first][0], words[last - 1][1])
    if not words:
        yield Chunk(place, 0, 0)


def text_of(document: Document, chunk: Chunk, options: Options) -> str:
    """The chunk as retrievers read it: after its section's title, where that is asked for."""
    section = document.sections[chunk.section]
    body = section.text[chunk.start : chunk.end]
    return f"{section.title}. {body}" if options.heading_prefix and section.title else body
