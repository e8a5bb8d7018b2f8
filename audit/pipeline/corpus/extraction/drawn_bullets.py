"""Bullets that are pictures or drawings, as the leaflets of designers have them, put into the text as bullets."""

from __future__ import annotations

from collections.abc import Iterable

from audit.pipeline.corpus.extraction.layout import Area, PdfPage, TextRun

# In type sizes of the text behind it: the height and width of a bullet, and its distance
HEIGHT, WIDTH, DISTANCE = (0.2, 1.4), (0.15, 1.5), 2.0
# Points within which two bullets stand below each other; one alone is decoration
SAME_LEFT = 3.0
MIN_BULLETS = 2
MAX_ASPECT = 2.5
# Points: larger type is a title
MAX_SIZE = 16.0


def with_drawn_bullets(page: PdfPage) -> list[TextRun]:
    """The runs of the page, with a bullet before each text that a drawn one stands before."""
    bullets = [(area, run) for area in page.areas for run in [_text_behind(area, page.runs)] if run is not None]
    lefts = [area.x0 for area, _ in bullets]
    kept = {run: area for area, run in bullets if sum(abs(area.x0 - left) < SAME_LEFT for left in lefts) >= MIN_BULLETS}
    return [*page.runs, *(_bullet(area, run) for run, area in kept.items())]


def _text_behind(area: Area, runs: Iterable[TextRun]) -> TextRun | None:
    """The text that a small area is the bullet of: it is close behind it at its height, and nothing is before it."""
    on_line = [run for run in runs if run.text.strip() and _at_height(area, run)]
    behind = min((run for run in on_line if run.x0 >= area.x1 - 0.2 * run.size), key=lambda run: run.x0, default=None)
    if behind is None or behind.x0 - area.x1 > DISTANCE * behind.size or not _has_size(area, behind.size):
        return None
    touching = any(run.x1 > area.x0 - 0.3 * behind.size and run.x0 < behind.x0 for run in on_line)
    return None if touching or not any(map(str.isalnum, behind.text)) else behind


def _at_height(area: Area, run: TextRun) -> bool:
    return run.baseline - run.size < (area.top + area.bottom) / 2 < run.baseline + 0.25 * run.size


def _has_size(area: Area, size: float) -> bool:
    height, width = (area.bottom - area.top) / size, (area.x1 - area.x0) / size
    # A piece of a rule or an underline is longer than it is wide
    round_enough = 1 / MAX_ASPECT <= (area.x1 - area.x0) / max(area.bottom - area.top, 0.01) <= MAX_ASPECT
    return round_enough and size <= MAX_SIZE and HEIGHT[0] <= height <= HEIGHT[1] and WIDTH[0] <= width <= WIDTH[1]


def _bullet(area: Area, run: TextRun) -> TextRun:
    return TextRun("•", area.x0, min(area.x1, run.x0), run.baseline, run.size, False, space_after=True)
