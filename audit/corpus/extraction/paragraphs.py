"""Lines into paragraphs: words hyphenated at a line's end are joined, and so are paragraphs across columns and pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median

from audit.corpus.extraction.headings import BULLET
from audit.corpus.extraction.layout import Block, Line
from audit.corpus.extraction.tables import split_tables, table_rows

PARAGRAPH_GAP = 1.25
"""A new paragraph is farther below the last line than lines usually are, by this factor."""
DEFAULT_PITCH = 1.2
LIST_ITEM = re.compile(rf"{BULLET.pattern}|\(?\d{{1,2}}[.)]\s")
HYPHENATED = re.compile(r"(\w+)-$")
WORD = re.compile(r"\w+(?:-\w+)*")
SENTENCE_END = re.compile(r"[.?!:;][\"'”’)]*$")


def words_inside_lines(lines: Iterable[Line]) -> frozenset[str]:
    """Every word but the last of each line; they tell a line-end hyphen from one that belongs to the word."""
    return frozenset(word.casefold() for line in lines for word in WORD.findall(line.text)[:-1])


def line_pitch(lines: list[Line]) -> float:
    """The usual distance between lines, in type sizes."""
    steps = [
        (line.baseline - before.baseline) / line.size
        for before, line in pairwise(lines)
        if line.size and line.page == before.page
    ]
    usual = [step for step in steps if 0.8 < step < 2.2]
    return median(usual) if usual else DEFAULT_PITCH


def body_blocks(lines: list[Line], pitch: float, words: frozenset[str]) -> Iterator[Block]:
    """The paragraphs and table rows of a stretch of lines without headings.

    pitch, words  of the whole document, by `line_pitch` and `words_inside_lines`
    """
    text: list[Line] = []
    for stretch in split_tables(lines):
        if len(stretch) == 1 and len(stretch[0].cells) == 1:
            text += stretch
            continue
        yield from _paragraphs(text, pitch, words)
        text = []
        yield from (Block("row", row, stretch[0].page, stretch[-1].page) for row in table_rows(stretch))
    yield from _paragraphs(text, pitch, words)


def _paragraphs(lines: list[Line], pitch: float, words: frozenset[str]) -> Iterator[Block]:
    paragraph: list[Line] = []
    for line in lines:
        if paragraph and _begins_paragraph(paragraph[-1], line, pitch):
            yield _paragraph_block(paragraph, words)
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield _paragraph_block(paragraph, words)


def _begins_paragraph(before: Line, line: Line, pitch: float) -> bool:
    if LIST_ITEM.match(line.text):
        return True
    step = line.baseline - before.baseline
    # At the top of a column or page the distance tells nothing, so only a finished sentence ends the paragraph before.
    if line.page != before.page or step <= 0:
        return SENTENCE_END.search(before.text) is not None
    return step > PARAGRAPH_GAP * pitch * max(line.size, before.size)


def _paragraph_block(lines: list[Line], words: frozenset[str]) -> Block:
    text = lines[0].text
    for line in lines[1:]:
        text = _join_lines(text, line.text, words)
    return Block("text", text, lines[0].page, lines[-1].page)


def _join_lines(text: str, following: str, words: frozenset[str]) -> str:
    """Two lines as one; a hyphen at the end stays if the document writes the word with it elsewhere."""
    hyphenated = HYPHENATED.search(text)
    if not hyphenated or not following[:1].islower():
        return f"{text} {following}"
    second_half = re.match(r"\w+", following)
    with_hyphen = f"{hyphenated[1]}-{second_half[0] if second_half else ''}".casefold()
    without_hyphen = with_hyphen.replace("-", "")
    keep_hyphen = with_hyphen in words and without_hyphen not in words
    return text + following if keep_hyphen else text[:-1] + following
