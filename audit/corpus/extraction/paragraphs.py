"""Lines into paragraphs: words broken at a line's end put together, and paragraphs across columns and pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median

from audit.corpus.extraction.headings import BULLET
from audit.corpus.extraction.layout import Block, Line
from audit.corpus.extraction.tables import rows_of, tables

WIDER = 1.25
"""A new paragraph stands farther below than lines usually do, by this factor."""
ITEM = re.compile(rf"{BULLET.pattern}|\(?\d{{1,2}}[.)]\s")
BROKEN = re.compile(r"(\w+)-$")
WORD = re.compile(r"\w+(?:-\w+)*")
ENDED = re.compile(r"[.?!:;][\"'”’)]*$")


def words_of(lines: Iterable[Line]) -> frozenset[str]:
    """Every word inside a line, so that a hyphen at a line's end can be told from one that belongs to the word."""
    return frozenset(word.casefold() for line in lines for word in WORD.findall(line.text)[:-1])


def pitch_of(lines: list[Line]) -> float:
    """How far lines usually stand below each other, in type sizes; 1.2 without lines."""
    steps = [
        (line.baseline - before.baseline) / line.size
        for before, line in pairwise(lines)
        if line.size and line.page == before.page
    ]
    near = [step for step in steps if 0.8 < step < 2.2]
    return median(near) if near else 1.2


def body_blocks(lines: list[Line], pitch: float, words: frozenset[str]) -> Iterator[Block]:
    """The paragraphs and table rows of a stretch of lines without headings."""
    text: list[Line] = []
    for part in tables(lines):
        if len(part) == 1 and len(part[0].cells) == 1:
            text += part
            continue
        yield from _paragraphs(text, pitch, words)
        text = []
        yield from (Block("row", row, part[0].page, part[-1].page) for row in rows_of(part))
    yield from _paragraphs(text, pitch, words)


def _paragraphs(lines: list[Line], pitch: float, words: frozenset[str]) -> Iterator[Block]:
    paragraph: list[Line] = []
    for line in lines:
        if paragraph and _begins(paragraph[-1], line, pitch):
            yield _block(paragraph, words)
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield _block(paragraph, words)


def _begins(before: Line, line: Line, pitch: float) -> bool:
    """Whether a paragraph begins: a list item, room above, or after a full stop at the top of a column or page."""
    step = line.baseline - before.baseline
    if ITEM.match(line.text):
        return True
    if line.page != before.page or step <= 0:
        return ENDED.search(before.text) is not None
    return step > WIDER * pitch * max(line.size, before.size)


def _block(lines: list[Line], words: frozenset[str]) -> Block:
    text = lines[0].text
    for line in lines[1:]:
        text = _joined(text, line.text, words)
    return Block("text", text, lines[0].page, lines[-1].page)


def _joined(text: str, following: str, words: frozenset[str]) -> str:
    """Two lines as one: a hyphen at the end stays where the document writes the word with one elsewhere."""
    broken = BROKEN.search(text)
    if not broken or not following[:1].islower():
        return f"{text} {following}"
    rest = re.match(r"\w+", following)
    kept = f"{broken[1]}-{rest[0] if rest else ''}".casefold()
    whole = kept.replace("-", "")
    return text + following if kept in words and whole not in words else text[:-1] + following
