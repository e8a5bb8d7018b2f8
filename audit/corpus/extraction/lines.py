"""From runs of glyphs to pieces of lines: what stands on one baseline without a wide gap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from audit.corpus.extraction.layout import Cell, Line, Run, Sheet

SAME_BASELINE = 0.35
"""Two runs share a baseline when theirs are no farther apart than this share of the type size (so indices stay in)."""
WIDE_GAP = 1.0
"""A gap as wide as the type is high parts columns and cells; the spaces of justified text stay below."""
SPACE = 0.12
"""A gap wider than this share of the type size is a space, even where the PDF has none."""
ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
LIGATURES = str.maketrans({"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl", "\xa0": " ", "\xad": "-", "\u2011": "-"})


def pieces(sheet: Sheet) -> list[Line]:
    """The lines of a page, each with one cell, from top to bottom and left to right."""
    return [_line(sheet.number, _baseline(row), runs) for row in _rows(sheet.runs) for runs in _parted(row)]


def plain(text: str) -> str:
    """Text without control characters, ligatures and doubled spaces."""
    return " ".join(ODD.sub("", text).translate(LIGATURES).split())


def _rows(runs: Iterable[Run]) -> Iterator[list[Run]]:
    row: list[Run] = []
    for run in sorted((run for run in runs if run.text.strip()), key=lambda run: (run.baseline, run.x0)):
        if row and run.baseline - row[0].baseline > SAME_BASELINE * max(run.size, row[0].size):
            yield row
            row = []
        row.append(run)
    if row:
        yield row


def _parted(row: list[Run]) -> Iterator[list[Run]]:
    row = sorted(row, key=lambda run: run.x0)
    together, end = [row[0]], row[0].x1
    for run in row[1:]:
        if run.x0 - end > WIDE_GAP * max(run.size, together[-1].size):
            yield together
            together = []
        together.append(run)
        end = max(end, run.x1)
    yield together


def _baseline(row: list[Run]) -> float:
    """That of its longest run: an index stands lower, and may come first."""
    return round(max(row, key=lambda run: len(run.text)).baseline, 1)


def _line(page: int, baseline: float, runs: list[Run]) -> Line:
    largest = max(runs, key=lambda run: len(run.text))
    letters = sum(len(run.text) for run in runs)
    bold = sum(len(run.text) for run in runs if run.bold) > 0.9 * letters
    cell = Cell(plain(_joined(runs)), runs[0].x0, max(run.x1 for run in runs))
    return Line(page, baseline, round(2 * largest.size) / 2, bold, (cell,))


def _joined(runs: list[Run]) -> str:
    parts = [runs[0].text]
    for before, run in pairwise(runs):
        parts.append(" " + run.text if run.x0 - before.x1 > SPACE * run.size else run.text)
    return "".join(parts)
