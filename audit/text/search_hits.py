"""Where the words of a search occur in a text, and the part of it to show in a list of results.

A word is found anywhere in another one, whatever its case and accents, as the filters of pairs find it.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

EXCERPT = 110
"""About how many characters of a text a list of results shows."""
BEFORE = 40  # characters before the first hit
ELLIPSIS = "…"
ACCENT = "Mn"  # the Unicode category of marks over and under letters


class SearchHit(NamedTuple):
    """Characters `start` to `end` of a text."""

    start: int
    end: int


class TextPart(NamedTuple):
    """A piece of a text, and whether it is what was searched for."""

    text: str
    is_hit: bool


def find_hits(text: str, words: Iterable[str]) -> tuple[SearchHit, ...]:
    """Every place of every word, in order; those that touch or overlap are one."""
    folded, origins = _folded(text)
    hits = sorted(
        SearchHit(origins[start], _with_accents(text, origins[start + len(word) - 1] + 1))
        for word in {_folded(word)[0] for word in words}
        for start in _places(folded, word)
    )
    merged: list[SearchHit] = []
    for hit in hits:
        if merged and hit.start <= merged[-1].end:
            merged[-1] = SearchHit(merged[-1].start, max(merged[-1].end, hit.end))
        else:
            merged.append(hit)
    return tuple(merged)


def parts(text: str, hits: Sequence[SearchHit]) -> tuple[TextPart, ...]:
    """The full text in pieces: hits and the text between them."""
    edges = [0, *(edge for hit in hits for edge in hit), len(text)]
    pieces = (TextPart(text[start:end], index % 2 == 1) for index, (start, end) in enumerate(itertools.pairwise(edges)))
    return tuple(piece for piece in pieces if piece.text)


def excerpt(text: str, words: Iterable[str]) -> tuple[TextPart, ...]:
    """One line of the text around the first hit, in pieces; () where nothing is found. It begins and ends at a space."""
    line = " ".join(text.split())
    hits = find_hits(line, words)
    if not hits:
        return ()
    start = _after_space(line, hits[0].start - BEFORE, hits[0].start)
    stop = max(_before_space(line, start + EXCERPT, hits[0].end), hits[0].end)
    shown = parts(line[start:stop], [SearchHit(hit.start - start, hit.end - start) for hit in hits if hit.end <= stop])
    opening = (TextPart(ELLIPSIS, False),) if start else ()
    return (*opening, *shown, *((TextPart(ELLIPSIS, False),) if stop < len(line) else ()))


def _after_space(line: str, start: int, latest: int) -> int:
    """The beginning of a word from `start` on, at most `latest`."""
    if start <= 0:
        return 0
    space = line.find(" ", start - 1, latest)
    return space + 1 if space >= 0 else latest


def _before_space(line: str, stop: int, earliest: int) -> int:
    if stop >= len(line):
        return len(line)
    space = line.rfind(" ", earliest, stop + 1)
    return space if space >= 0 else stop


def _with_accents(text: str, end: int) -> int:
    """The end of a letter whose accents may be characters of their own."""
    while end < len(text) and unicodedata.category(text[end]) == ACCENT:
        end += 1
    return end


def _places(folded: str, word: str) -> Iterable[int]:
    start = folded.find(word) if word else -1
    while start >= 0:
        yield start
        start = folded.find(word, start + 1)


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """The text in lower case without accents, and where each of its characters was."""
    if text.isascii():
        return text.lower(), range(len(text))
    characters: list[str] = []
    origins: list[int] = []
    for index, character in enumerate(text):
        for letter in unicodedata.normalize("NFD", character.lower()):
            if unicodedata.category(letter) != ACCENT:
                characters.append(letter)
                origins.append(index)
    return "".join(characters), origins
