"""Cuts a text into overlapping chunks that end where a sentence, list item or table row ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.text.statements import statements

TOKEN = re.compile(r"\w+|[^\w\s]")


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
