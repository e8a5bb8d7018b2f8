"""What the lines of a document show of its paragraphs: how far apart lines of one paragraph are, and which lines end early.

Both are relative: to the page that a line is on, and to the lines around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import median

from audit.pipeline.corpus.extraction.layout import Line

Table = tuple[tuple[tuple[Line, ...], ...], ...]
DEFAULT_PITCH = 1.2
SENTENCE_END = re.compile(r"[.?!:;][\"'”’)\]]*$")
# In type sizes: steps that may be those between lines of a paragraph, double-spaced ones included
STEPS = (0.8, 3.5)
# Steps from which a page's own distance is known, and by which factor it differs from that of the document
MIN_STEPS, DIFFERENT = 3, 1.25
# A line's room is measured by so many lines above and below it
AROUND = 10
# In type sizes: how much more room than its first word the next line would need
SLACK = 0.6
# In type sizes: how far the beginnings of lines of one column are apart at most
NEAR = 4.0


def line_pitch(lines: Sequence[Line]) -> float:
    """The usual distance between lines, in type sizes."""
    # Smaller steps are cells side by side, larger ones the gaps between paragraphs
    steps = [step for step in (_step(before, line) for before, line in pairwise(lines)) if STEPS[0] < step < 2.2]
    if steps:
        return median(steps)
    return _paragraph_step(lines) or DEFAULT_PITCH


def with_breaks(lines: Sequence[Line]) -> list[Line]:
    """The lines, each with the distance of its page, where that is another than the document's, and whether it ends early."""
    usual = line_pitch(lines)
    known = list[Line]()
    for _, group in groupby(lines, key=lambda line: line.page):
        page = list(group)
        own = _paragraph_step(page)
        differs = own and not 1 / DIFFERENT < own / usual < DIFFERENT
        early = [early for stretch in _stretches(page) for early in _end_early(stretch)]
        known += [replace(line, pitch=own if differs else 0.0, ends_early=ends) for line, ends in zip(page, early, strict=True)]
    return known


def _step(before: Line, line: Line) -> float:
    return (line.baseline - before.baseline) / line.size if line.size and line.page == before.page else 0.0


def _paragraph_step(lines: Sequence[Line]) -> float:
    """The distance between lines of which the second goes on with the sentence of the first; 0 where too few do."""
    steps = [
        _step(before, line)
        for before, line in pairwise(lines)
        if line.text[:1].islower() and not SENTENCE_END.search(before.text) and abs(line.x0 - before.x0) < line.size
    ]
    steps = [step for step in steps if STEPS[0] < step < STEPS[1]]
    return median(steps) if len(steps) >= MIN_STEPS else 0.0


def _stretches(page: Sequence[Line]) -> Iterator[list[Line]]:
    """The lines of each column of a page, with the boxes in it."""
    stretch: list[Line] = []
    for line in page:
        if stretch and line.baseline <= stretch[-1].baseline:
            yield stretch
            stretch = []
        stretch.append(line)
    if stretch:
        yield stretch


def _end_early(stretch: Sequence[Line]) -> Iterator[bool]:
    """Of each line, whether the next one's first word would have fitted behind it: its end is meant."""
    for number, line in enumerate(stretch):
        below = stretch[number + 1] if number + 1 < len(stretch) else None
        around = stretch[max(0, number - AROUND) : number + AROUND + 1]
        right = max((other.x1 for other in around if _is_beside(other, line)), default=line.x1)
        if below is None or line.table or below.table or line.part != below.part:
            yield True
            continue
        word = below.text.split(" ", 1)[0]
        needed = (below.x1 - below.x0) * len(word) / max(len(below.text), 1)
        yield right - line.x1 > needed + SLACK * line.size


def _is_beside(other: Line, line: Line) -> bool:
    """Whether a line shows how wide the column of another is: it is of its size and begins near the same place.

    Text in a box fits into the column that the box is in.
    """
    inside = other.part == line.part or (line.part == 0 and abs(other.x0 - line.x0) <= 1)
    near = inside and abs(other.x0 - line.x0) <= NEAR * line.size
    return near and abs(other.size - line.size) < 1 and not other.table and len(other.cells) == 1
