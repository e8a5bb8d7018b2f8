"""Citations of numbered passages in a text, such as `[2]` or `[3-5]`, and the parts of the text that they support."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MARK = re.compile(r"\[\s*(\d{1,4}(?:\s*(?:[,;]|-|–|and)\s*\d{1,4})*)\s*\]")
MARK_AND_SPACE_BEFORE = re.compile(r"[ \t]*" + MARK.pattern)
NUMBER_OR_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+|\n+")
MAX_RANGE = 20
"""In a wider range than this only the two ends count as cited: no answer cites 200 passages."""


class CitedSpan(NamedTuple):
    """Characters `start` to `end` of a text, the mark included, and the numbers of the passages cited there."""

    start: int
    end: int
    numbers: tuple[int, ...]


def cited_numbers(text: str) -> list[int]:
    """The numbers that a text cites, each once and in order: 1, 3, 4, 5 for `first [1], then [3-5]`."""
    return list(dict.fromkeys(number for mark in MARK.finditer(text) for number in _numbers(mark[1])))


def without_citations(text: str) -> str:
    """The text without its marks and the spaces before them."""
    return MARK_AND_SPACE_BEFORE.sub("", text) if "[" in text else text


def cited_spans(text: str) -> list[CitedSpan]:
    """What each mark supports: its sentence up to the mark, or the part since the previous mark in the same sentence."""
    spans: list[CitedSpan] = []
    sentence_starts = [0, *(end.end() for end in SENTENCE_END.finditer(text))]
    for mark in MARK.finditer(text):
        before, covered = text[: mark.start()].rstrip(), spans[-1].end if spans else 0
        numbers = tuple(dict.fromkeys(_numbers(mark[1])))
        if spans and not before[covered:].strip(" ,;"):  # a mark right after another supports the same sentence
            previous = spans.pop()
            spans.append(CitedSpan(previous.start, mark.end(), tuple(dict.fromkeys((*previous.numbers, *numbers)))))
            continue
        start = max(covered, *(start for start in sentence_starts if start <= max(len(before) - 1, 0)))
        start += len(text[start:]) - len(text[start:].lstrip())
        spans.append(CitedSpan(start, mark.end(), numbers))
    return spans


def _numbers(inside_brackets: str) -> Iterator[int]:
    for first, last in NUMBER_OR_RANGE.findall(inside_brackets):
        low, high = int(first), int(last or first)
        yield from range(low, high + 1) if low <= high <= low + MAX_RANGE else (low, high)
