"""Where a text cites passages by number, and which of its sentences rest on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

CITED = re.compile(r"\[\s*(\d{1,4}(?:\s*(?:[,;]|-|–|and)\s*\d{1,4})*)\s*\]")
BEFORE_MARK = re.compile(r"[ \t]*" + CITED.pattern)
PART = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+|\n+")
WIDEST = 20
"""A range of more passages than this is no citation of each."""


class Cited(NamedTuple):
    """A part of a text, mark included, and the numbers of the passages that it cites."""

    start: int
    end: int
    numbers: tuple[int, ...]


def cited(text: str) -> list[int]:
    """The numbers that a text cites, each once, in order: 1, 3, 4, 5 for `first [1], then [3-5]`."""
    return list(dict.fromkeys(number for mark in CITED.finditer(text) for number in _numbers(mark[1])))


def uncited(text: str) -> str:
    """The text without its marks and the spaces before them: what it says, and not what that rests on."""
    return BEFORE_MARK.sub("", text) if "[" in text else text


def cited_sentences(text: str) -> list[Cited]:
    """What each mark stands behind: the sentence up to it, or what came since the mark before it in the same sentence."""
    found: list[Cited] = []
    starts = [0, *(end.end() for end in SENTENCE_END.finditer(text))]
    for mark in CITED.finditer(text):
        told, done = text[: mark.start()].rstrip(), found[-1].end if found else 0
        numbers = tuple(dict.fromkeys(_numbers(mark[1])))
        if found and not told[done:].strip(" ,;"):  # a mark right behind another belongs to the same sentence
            last = found.pop()
            found.append(Cited(last.start, mark.end(), tuple(dict.fromkeys((*last.numbers, *numbers)))))
            continue
        start = max(done, *(start for start in starts if start <= max(len(told) - 1, 0)))
        found.append(Cited(start + _blank(text[start:]), mark.end(), numbers))
    return found


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip())


def _numbers(inside: str) -> Iterator[int]:
    for first, last in PART.findall(inside):
        low, high = int(first), int(last or first)
        yield from range(low, high + 1) if low <= high <= low + WIDEST else (low, high)
