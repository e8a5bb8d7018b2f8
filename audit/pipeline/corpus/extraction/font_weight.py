"""Whether a font is bold by its letters: how much of the room that each takes is ink.

For fonts whose name says nothing, as those of some publishers. Over 420 fonts of known weight, regular ones fill less than 0.52
of it, bold ones but for a few serif ones more than 0.53. The weight that PDFium gives is the width of a stem that the file names,
which may be wrong: of the fonts of 98 documents that are heavy by it alone, regular ones (Times Roman) fill less than 0.43, bold
ones more than 0.54.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from statistics import median
from typing import Any

from audit.optional_imports import optional

PURPOSE = "Reading a PDF"
LETTERS = "aenorsuc"
# Letters whose shape the font has, at least; the share of ink from which they are bold, and without which a weight says nothing
MIN_LETTERS, DARK, LIGHT = 4, 0.53, 0.5
BOLD_WEIGHT = 600
# In which their shapes are asked for
SIZE = 1000.0
Point = tuple[float, float]


def is_bold(font: Any, weight: int) -> bool:
    """Whether a font of PDFium is bold by its small letters, and by its weight where it has too few; 0: it has none."""
    if 0 < weight < BOLD_WEIGHT:
        return False
    # What the font lacks has one shape
    shares = {share for letter in LETTERS for share in [_ink(font, letter)] if share}
    if len(shares) < MIN_LETTERS:
        return weight > 0
    return median(shares) >= (LIGHT if weight else DARK)


def _ink(font: Any, letter: str) -> float:
    """The share of the rectangle around a letter that is inside its outline; 0 where it has none."""
    area, points = 0.0, list[Point]()
    begin = end = (0.0, 0.0)
    for is_move, curve in _strokes(font, letter):
        points += curve
        if is_move:
            area, begin, end = area + _between(end, begin), curve[0], curve[0]
            continue
        area, end = area + (_below_curve(end, *curve) if len(curve) > 1 else _between(end, curve[0])), curve[-1]
    if not points:
        return 0.0
    lefts, heights = zip(*points, strict=True)
    around = (max(lefts) - min(lefts)) * (max(heights) - min(heights))
    return abs(area + _between(end, begin)) / 2 / around if around else 0.0


def _strokes(font: Any, letter: str) -> Iterator[tuple[bool, list[Point]]]:
    """Each stroke of a letter: whether it begins an outline, and its end, or the three points of its curve."""
    raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
    path = raw.FPDFFont_GetGlyphPath(font, ord(letter), SIZE)
    x, y, curve = ctypes.c_float(), ctypes.c_float(), list[Point]()
    for number in range(raw.FPDFGlyphPath_CountGlyphSegments(path) if path else 0):
        segment = raw.FPDFGlyphPath_GetGlyphPathSegment(path, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        kind = raw.FPDFPathSegment_GetType(segment)
        curve.append((x.value, y.value))
        if kind != raw.FPDF_SEGMENT_BEZIERTO or len(curve) == 3:
            yield kind == raw.FPDF_SEGMENT_MOVETO, curve
            curve = []


def _between(one: Point, other: Point) -> float:
    """Twice the area between a line and the origin."""
    return one[0] * other[1] - one[1] * other[0]


def _below_curve(start: Point, one: Point, other: Point, end: Point) -> float:
    """The same of a curve with two points that draw it."""
    outer = 6 * _between(start, one) + 3 * _between(start, other) + _between(start, end)
    return (outer + 3 * _between(one, other) + 3 * _between(one, end) + 6 * _between(other, end)) / 10
