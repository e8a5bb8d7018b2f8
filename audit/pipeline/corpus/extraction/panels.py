"""Boxes: drawn frames and filled panels with text of their own, which is read whole and belongs to nothing around it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from audit.pipeline.corpus.extraction.headings import Heading
from audit.pipeline.corpus.extraction.layout import Area, Line, PdfPage, TextRun
from audit.pipeline.corpus.extraction.line_breaks import SENTENCE_END
from audit.pipeline.corpus.extraction.reading_order import OPAQUE, in_reading_order
from audit.pipeline.corpus.extraction.row_rules import ladders

# A box has at least so many lines, and with fewer than so many they stand alone at their height: else it shades a table's row
MIN_LINES, MIN_LINES_BESIDE = 2, 4
# As a share of the page: a larger one is its background or frame; of a text line: what is in the way of a box
MAX_SHARE, MIN_OVERLAP = 0.7, 0.3
# Areas of a page with more are those of a drawing; sides of a frame, of a page with fewer lines than this
MAX_AREAS, MAX_SIDES = 150, 120
# Points: sides of a frame, or a bar and the panel below it, that are so near touch
TOUCH = 3.0
# In type sizes: words so near to each other are of one line
WORD_GAP = 0.6
# In type sizes: lines so near to each other are of one paragraph
LINE_GAP = 1.5
# In bold alone so few lines are the bar of a heading
MAX_BAR_LINES = 3
# The part of the lines of a panel, where the order of those around it is found
NOWHERE = -1


class Panel(NamedTuple):
    """A box of a page, or a table beside text, which has no columns of text.

    `parent` is the number of the box around it, 0 for none. Numbers count from 1.
    """

    area: Area
    parent: int
    is_table: bool = False


def panels_of(page: PdfPage) -> list[Panel]:
    """The boxes of a page, the smallest first."""
    tables = set(_between_rules(page))
    areas = [
        area for area in {*page.boxes, *_frames(page.rulings), *tables} if _size(area) <= MAX_SHARE * page.width * page.height
    ]
    if not areas or len(areas) > MAX_AREAS:
        return []
    runs = [run for run in page.runs if run.text.strip()]
    kept = dict[tuple[int, ...], Area]()
    for area in sorted(_with_bars(areas, runs), key=_size):
        inside = tuple(number for number, run in enumerate(runs) if is_in(area, run))
        if inside not in kept and _is_panel(area, [runs[number] for number in inside], runs):
            kept[inside] = area
    found = list(kept.values())
    return [Panel(area, _parent(number, found), area in tables) for number, area in enumerate(found)]


def is_in(area: Area, run: TextRun) -> bool:
    """Whether the middle of a word is in an area."""
    x, y = (run.x0 + run.x1) / 2, run.baseline - 0.3 * run.size
    return area.x0 <= x <= area.x1 and area.top <= y <= area.bottom


def panel_of(run: TextRun, panels: Sequence[Panel]) -> int:
    """The number of the innermost box that a word is in; 0 outside."""
    return next((number for number, box in enumerate(panels, start=1) if is_in(box.area, run)), 0)


def _size(area: Area) -> float:
    return (area.x1 - area.x0) * (area.bottom - area.top)


def _parent(number: int, areas: Sequence[Area]) -> int:
    x, y = (areas[number].x0 + areas[number].x1) / 2, (areas[number].top + areas[number].bottom) / 2
    around = (
        other + 1
        for other in range(number + 1, len(areas))
        if areas[other].x0 <= x <= areas[other].x1 and areas[other].top <= y <= areas[other].bottom
    )
    return next(around, 0)


def _frames(rulings: Sequence[Area]) -> Iterator[Area]:
    """The rectangles that four strokes draw."""
    across = [area for area in rulings if area.bottom - area.top <= TOUCH < area.x1 - area.x0]
    upright = [area for area in rulings if area.x1 - area.x0 <= TOUCH < area.bottom - area.top]
    if len(across) > MAX_SIDES or len(upright) > MAX_SIDES:
        return
    for number, upper in enumerate(across):
        for lower in across[number + 1 :]:
            top, bottom = sorted((upper.top, lower.top))
            as_wide = abs(upper.x0 - lower.x0) <= TOUCH and abs(upper.x1 - lower.x1) <= TOUCH
            if as_wide and bottom - top > TOUCH and all(_has_side(upright, x, top, bottom) for x in (upper.x0, upper.x1)):
                yield Area(upper.x0, top, upper.x1, bottom)


def _has_side(upright: Iterable[Area], x: float, top: float, bottom: float) -> bool:
    return any(abs(side.x0 - x) <= TOUCH and side.top <= top + TOUCH and side.bottom >= bottom - TOUCH for side in upright)


def _between_rules(page: PdfPage) -> Iterator[Area]:
    """The tables beside text, such as a caption: what stands between level rules of one width, in cells between any two."""
    words = [run for run in page.runs if run.text.strip()]
    for box, heights in ladders(page.rulings):
        area = Area(box.x0, heights[0], box.x1, heights[-1])
        inside = [
            [run for run in words if is_in(area._replace(top=top, bottom=bottom), run)] for top, bottom in pairwise(heights)
        ]
        beside = any(area.top < run.baseline < area.bottom and not is_in(area, run) for run in words)
        if beside and all(map(_has_gaps, inside)):
            yield area


def _with_bars(areas: Sequence[Area], runs: Sequence[TextRun]) -> Iterator[Area]:
    """The areas, each with the bar of its heading that touches its upper side."""
    for area in areas:
        bars = [
            bar
            for bar in areas
            if abs(bar.bottom - area.top) <= TOUCH and abs(bar.x0 - area.x0) <= TOUCH and abs(bar.x1 - area.x1) <= TOUCH
        ]
        bar = next((bar for bar in bars if _is_bar([run for run in runs if is_in(bar, run)])), None)
        yield area._replace(top=bar.top) if bar else area


def _heights(runs: Iterable[TextRun]) -> list[float]:
    """The different baselines."""
    heights: list[float] = []
    for run in sorted(runs, key=lambda run: run.baseline):
        if not heights or run.baseline - heights[-1] > 0.5 * run.size:
            heights.append(run.baseline)
    return heights


def _is_bar(runs: Sequence[TextRun]) -> bool:
    """Whether words are those of a heading alone."""
    lines = len(_heights(runs))
    return lines == 1 or (1 < lines <= MAX_BAR_LINES and all(run.bold for run in runs))


def _is_panel(area: Area, inside: Sequence[TextRun], runs: Sequence[TextRun]) -> bool:
    heights = _heights(inside)
    if len(heights) < MIN_LINES:
        return False
    if _is_bar(inside) or (len(heights) < MIN_LINES_BESIDE and _has_gaps(inside)):
        return False
    outside = [run for run in runs if not is_in(area, run)]
    # What crosses its sides is not written into it
    crossed = any(run.x0 < area.x0 - 2 or run.x1 > area.x1 + 2 for run in inside)
    edges = [run for run in inside if run.baseline <= heights[0] + 1 or run.baseline >= heights[-1] - 1]
    if crossed or any(_are_lines_of_one(run, other) for run in edges for other in outside):
        return False
    at_height: defaultdict[int, list[TextRun]] = defaultdict(list)
    for other in outside:
        at_height[round(other.baseline)].append(other)
    near = ((run, other) for run in inside for height in (-1, 0, 1) for other in at_height[round(run.baseline) + height])
    return not any(_touches(run, other) for run, other in near)


def _are_lines_of_one(run: TextRun, other: TextRun) -> bool:
    """Whether words of one type stand below each other as in a paragraph."""
    alike = (run.size, run.bold, run.color) == (other.size, other.bold, other.color)
    return alike and 1 < abs(run.baseline - other.baseline) <= LINE_GAP * run.size and run.x0 < other.x1 and other.x0 < run.x1


def _has_gaps(runs: Sequence[TextRun]) -> bool:
    """Whether words of a line are as far apart as cells are."""
    ordered = sorted(runs, key=lambda run: (round(run.baseline), run.x0))
    pairs = pairwise(ordered)
    return any(abs(one.baseline - other.baseline) < 1 and other.x0 - one.x1 > 2 * one.size for one, other in pairs)


def _touches(run: TextRun, other: TextRun) -> bool:
    same = abs(run.baseline - other.baseline) < 1
    return same and (-1 <= other.x0 - run.x1 < WORD_GAP * run.size or -1 <= run.x0 - other.x1 < WORD_GAP * run.size)


# -- reading order -----------------------------------------------------------------------------------------------------


def in_order(lines: Sequence[Line], panels: Sequence[Panel], separators: Sequence[Area], around: int = 0) -> list[Line]:
    """The lines in reading order, those of each box together.

    lines   of a page or of a box; `part` is the number of the box that a line is in
    around  the number of the box that all lines are in; 0: the page
    """
    own = {number for number, box in enumerate(panels, start=1) if box.parent == around}
    members = {number: [line for line in lines if number in _chain(line.part, panels)] for number in own}
    rest = [line for line in lines if line.part == around]
    full = [(panels[number - 1].area, members[number], number) for number in sorted(own) if members[number]]
    # For the columns of the page the text of its panels counts, but it is joined with nothing
    opaque = [replace(line, table=line.table or OPAQUE, part=NOWHERE) for _, inside, _ in full for line in inside]
    in_rows = around > 0 and panels[around - 1].is_table
    ordered = [line for line in in_reading_order([*rest, *opaque], separators, in_rows=in_rows) if line.part != NOWHERE]
    # From the last to the first, so that the places of the others stay
    for area, inside, number in sorted(full, key=lambda box: (_row(box[0], full), box[0].x0), reverse=True):
        place = _place(area, ordered, around)
        ordered[place:place] = in_order(inside, panels, separators, number)
    return ordered


def _chain(number: int, panels: Sequence[Panel]) -> Iterator[int]:
    while number:
        yield number
        number = panels[number - 1].parent


def _row(area: Area, full: Sequence[tuple[Area, list[Line], int]]) -> float:
    """The top of the boxes beside an area, so that they are read from left to right."""
    middle = (area.top + area.bottom) / 2
    return min(other.top for other, _, _ in full if other.top <= middle <= other.bottom)


def _place(area: Area, ordered: Sequence[Line], around: int) -> int:
    """Where a box is read among the lines outside: below what is above it, but not within a sentence."""
    own = [(number, line) for number, line in enumerate(ordered) if line.part == around]
    beside = _is_beside(area, [line for _, line in own])
    over = [(number, line) for number, line in own if not beside or _overlaps(area, line)]
    above = [number for number, line in over if line.baseline <= area.top + 1]
    if above:
        place = above[-1] + 1
    elif over:
        place = over[0][0]
    else:
        place = 0 if all(line.x0 >= area.x1 for _, line in own) else len(ordered)
    while 0 < place < len(ordered) and _goes_on(ordered[place - 1], ordered[place]):
        place += 1
    return place


def _is_beside(area: Area, lines: Iterable[Line]) -> bool:
    return any(area.top < line.baseline < area.bottom for line in lines)


def _overlaps(area: Area, line: Line) -> bool:
    shared = min(area.x1, line.x1) - max(area.x0, line.x0)
    return shared >= MIN_OVERLAP * min(area.x1 - area.x0, line.x1 - line.x0)


def _goes_on(before: Line, line: Line) -> bool:
    alike = (before.part, before.size, before.bold) == (line.part, line.size, line.bold)
    return alike and line.text[:1].islower() and not SENTENCE_END.search(before.text)


# -- sections ----------------------------------------------------------------------------------------------------------


def in_sections(lines: list[Line], headings: Sequence[Heading], outer: Mapping[int, int]) -> tuple[list[Line], list[Heading]]:
    """The lines and headings, each panel with a heading of its own behind the section that it stands in, whose text may go on
    below it; its headings are marked with its number.

    outer  part of the lines that is a panel -> the part around it
    """
    nodes = _nodes(lines, headings, outer)
    of_line = {number: heading for heading in headings for number in range(heading.start, heading.end)}
    ordered, waiting = list[int](), list[int]()
    begun = set[int]()
    for number, line in enumerate(lines):
        root, heading = _root(line.part, outer), of_line.get(number)
        if root in nodes:
            begun |= {root} if heading else set()
            # What a panel says above its heading is text of the section around it
            (waiting if root in begun else ordered).append(number)
            continue
        if heading:
            ordered += waiting
            waiting = []
        ordered.append(number)
    ordered += waiting
    places = {number: place for place, number in enumerate(ordered)}
    moved = [
        replace(heading, start=places[heading.start], end=places[heading.end - 1] + 1, panel=root if root in nodes else 0)
        for heading in headings
        for root in [_root(lines[heading.start].part, outer)]
    ]
    return [lines[number] for number in ordered], sorted(moved, key=lambda heading: heading.start)


def _root(part: int, outer: Mapping[int, int]) -> int:
    """The outermost panel that a part is in; 0 for none."""
    root = 0
    while part in outer:
        root, part = part, outer[part]
    return root


def _nodes(lines: Sequence[Line], headings: Sequence[Heading], outer: Mapping[int, int]) -> set[int]:
    """The panels with a heading and text below it; not the bar of a heading, nor that of the title of the document."""
    roots = [_root(line.part, outer) for line in lines]
    within = {number for heading in headings for number in range(heading.start, heading.end)}
    # From the last to the first, so that the first heading of each counts
    headed = {roots[heading.start]: heading.end for heading in reversed(headings)}
    nodes = {
        root for number, root in enumerate(roots) if root and number not in within and number >= headed.get(root, len(lines))
    }
    # The title of the document may be in a panel
    outermost = [heading for heading in headings if heading.level == min(heading.level for heading in headings)]
    return nodes - {roots[outermost[0].start]} if len(outermost) == 1 else nodes
