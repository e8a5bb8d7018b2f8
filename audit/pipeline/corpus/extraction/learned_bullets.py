"""Bullets that a document shows: a sign that begins three lines at one indent, and numbers of steps, which need no full stop."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.layout import PdfPage, TextRun
from audit.pipeline.corpus.extraction.repair import bullet_of

# A sign that begins as many lines of a page at one indent, and more lines than it is inside, is a bullet
MIN_LINES = 3
# Points within which lines begin at one indent
_SAME_INDENT = 2.0
_SAME_HEIGHT = 0.5
# In type sizes of a step's number: how far its text is behind it at least, in its own type, and at most
_STEP_GAP = (0.5, 2.5)
# Points within which the middles of the numbers of steps are
_SAME_MIDDLE = 3.0
# In a column of its own it is between labels and their values; in type sizes, how far behind most labels at least
COLON, _LABEL_GAP = ":", 0.5
# They say how two things compare
_COMPARES = re.compile(r"\b(?:THAN|EQUAL|PLUS|MINUS|UP|DOWN|DOLLAR|POUND|EURO|YEN|CENT|TIMES|MULTIPLICATION)")
_LEARNED_KINDS = frozenset(("So", "Sm", "Sk", "Sc", "Po", "Pf", "Pi", "Co", "Cn", "Ll", "Lu"))


def with_learned(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """The pages, each sign that begins three lines or more at one indent and is not known otherwise written as a bullet."""
    pages = [replace(page, runs=tuple(_with_values(tuple(_with_numbers(page.runs))))) for page in pages]
    begins, inside, first_runs = Counter[str](), Counter[str](), list[set[int]]()
    learned = set[str]()
    for page in pages:
        indents: defaultdict[tuple[str, int], int] = defaultdict(int)
        first = set[int]()
        others: list[tuple[int, TextRun]] = []
        for number, run, begins_line in _candidates(page.runs):
            (begins if begins_line else inside)[run.text] += 1
            if begins_line:
                first.add(number)
                indents[_indent(run)] += 1
            else:
                others.append((number, run))
        # A text near it may be in a cell beside it
        first |= {number for number, run in others if indents.get(_indent(run), 0) >= MIN_LINES}
        first_runs.append(first)
        learned |= {sign for (sign, _), count in indents.items() if count >= MIN_LINES}
    learned = {sign for sign in learned if begins[sign] > inside[sign]}
    return [_with_signs(page, first, learned) if learned else page for page, first in zip(pages, first_runs, strict=True)]


def _indent(run: TextRun) -> tuple[str, int]:
    return run.text, round(run.x0 / _SAME_INDENT)


def _with_signs(page: PdfPage, first: set[int], learned: set[str]) -> PdfPage:
    runs = tuple(
        replace(run, text=bullets.LETTERS.get(run.text, bullets.PLAIN)) if number in first and run.text in learned else run
        for number, run in enumerate(page.runs)
    )
    return replace(page, runs=runs)


def _candidates(runs: Sequence[TextRun]) -> Iterator[tuple[int, TextRun, bool]]:
    """The single signs among the runs that are no known bullets, each with its number and whether it begins a line."""
    signs = [(number, run) for number, run in enumerate(runs) if may_be_learned(run.text)]
    if len(signs) < MIN_LINES:
        return
    for number, run in signs:
        beside = [other for other in runs if other is not run and abs(other.baseline - run.baseline) < _SAME_HEIGHT * run.size]
        behind = min((other.x0 for other in beside if other.x0 >= run.x1 - 1), default=None)
        before = any(0 < run.x0 - other.x1 < bullets.GAP * run.size or other.x0 < run.x0 < other.x1 for other in beside)
        least = bullets.LETTER_GAP if run.text.isalpha() and run.text not in bullets.LETTERS else 0.0
        follows = behind is not None and least * run.size <= behind - run.x1 < bullets.GAP * run.size
        yield number, run, follows and not before


def may_be_learned(text: str) -> bool:
    """Whether a text is a single sign that is no known bullet, no figure and no sign of comparison."""
    if len(text) != 1 or text in (*bullets.SIGNS, COLON) or text in bullets.DASHES or text.isdigit() or bullet_of(text):
        return False
    return unicodedata.category(text) in _LEARNED_KINDS and not _COMPARES.search(unicodedata.name(text, ""))


def _with_numbers(runs: Sequence[TextRun]) -> Iterator[TextRun]:
    """The runs, the bare numbers of steps from 1 with a full stop, each at the height of the first line of its text."""
    digits = sorted((run for run in runs if run.text.isdecimal()), key=lambda run: run.baseline)
    steps: dict[TextRun, TextRun] = {}
    while len(digits) >= MIN_LINES:
        column = [run for run in digits if abs(run.x0 + run.x1 - digits[0].x0 - digits[0].x1) <= 2 * _SAME_MIDDLE]
        digits = [run for run in digits if run not in column]
        values = [int(run.text) for run in column]
        # Some figures of a table go up by chance, but not all of a column
        counts_up = values[0] == 1 and all(value in (1, before + 1) for before, value in pairwise(values))
        if counts_up and max(values) >= MIN_LINES and 2 * values.count(1) <= len(values):
            steps |= {run: text for run in column if (text := _text_behind(run, runs))}
    for run in runs:
        text = steps.get(run)
        yield replace(run, text=f"{run.text}.", baseline=text.baseline, size=text.size, space_after=True) if text else run


def _with_values(runs: Sequence[TextRun]) -> Iterator[TextRun]:
    """The runs, the colons of a column between labels and their values each at the beginning of its value."""
    columns = Counter[tuple[str, int]]()
    joined: dict[TextRun, TextRun] = {}
    for colon in (run for run in runs if run.text == COLON):
        beside = [run for run in runs if abs(run.baseline - colon.baseline) < 1 and run.text.strip() and run is not colon]
        label = max((run.x1 for run in beside if run.x0 < colon.x0), default=colon.x0)
        value = min((run for run in beside if run.x0 >= colon.x1), key=lambda run: run.x0, default=None)
        columns[_indent(colon)] += colon.x0 - label >= _LABEL_GAP * colon.size
        if value and label < colon.x0 and value.x0 - colon.x1 < bullets.GAP * colon.size:
            joined[colon] = value
    joined = {colon: value for colon, value in joined.items() if columns[_indent(colon)] >= MIN_LINES}
    values = set(joined.values())
    yield from (replace(run, text=f"{COLON} {run.text}") if run in values else run for run in runs if run not in joined)


def _text_behind(number: TextRun, runs: Sequence[TextRun]) -> TextRun | None:
    """The first run of the text beside a number that begins its line; None for a number in a text."""
    top, bottom, (least, most) = number.baseline - number.size, number.baseline + 0.3 * number.size, _STEP_GAP
    near = [run for run in runs if top < run.baseline < bottom and run.text.strip()]
    behind = [run for run in near if 0 <= run.x0 - number.x1 <= most * number.size]
    first = min(behind, key=lambda run: (run.baseline, run.x0), default=number)
    if first is number or any(run.x0 < number.x0 and number.x0 - run.x1 < most * number.size for run in near):
        return None
    own_type = (first.bold, first.color, first.size) != (number.bold, number.color, number.size)
    is_apart = own_type or first.x0 - number.x1 >= least * number.size
    return first if is_apart and first.text[:1].isupper() else None
