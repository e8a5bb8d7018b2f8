"""The signs that begin the items of a list: those whose Unicode names say so, and those that a document shows. Their one home.

A sign that says something of its own, such as a tick, stays in the text of its item.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from audit.pipeline.corpus.extraction.repair import bullet_of

if TYPE_CHECKING:
    from audit.pipeline.corpus.extraction.layout import PdfPage, TextRun

PLAIN = "•"
_NAMED = re.compile(
    r"BULLET|MIDDLE DOT|DOT OPERATOR|NOTATION SPOT|RIGHT-POINTING|RIGHTWARDS .*ARROW|ARROWHEAD"
    r"|(?:SQUARE|CIRCLE|TRIANGLE|POINTER|LOZENGE|DIAMOND|STAR)$|DIAMOND MINUS"
)
_OTHER_WAY = re.compile(r"LEFT-|LEFTWARDS|UP-|UPWARDS|DOWN-|DOWNWARDS|WITH|CIRCLED|AND")
_KINDS = frozenset(("So", "Sm", "Po", "Pf"))
_LAST_SIGN = 0x3000


def _named_signs() -> Iterator[str]:
    for character in map(chr, range(0xA1, _LAST_SIGN)):
        name = unicodedata.name(character, "")
        if unicodedata.category(character) in _KINDS and _NAMED.search(name) and not _OTHER_WAY.search(name):
            yield character


# A tick or a cross says yes or no
MEANT = "✓✔✗✘"
SIGNS = "".join(_named_signs()) + MEANT
# What else begins items where a space follows
DASHES = "*–—-"
ONE_OF = f"[{re.escape(SIGNS + DASHES)}]"
"""The class of all these for a regular expression."""
# Letters that word processors set in a font of symbols: bullets where a wide gap follows
LETTERS = {"o": "◦", "§": PLAIN}
# In type sizes: how far the text of an item is behind its bullet at most, and behind a letter at least
GAP, LETTER_GAP = 5.0, 0.5
# A sign that begins as many lines of a page at one indent, and more lines than it is inside, is a bullet
MIN_LINES = 3
# Points within which lines begin at one indent
_SAME_INDENT = 2.0
_SAME_HEIGHT = 0.5
# They say how two things compare
_COMPARES = re.compile(r"\b(?:THAN|EQUAL|PLUS|MINUS|UP|DOWN|DOLLAR|POUND|EURO|YEN|CENT|TIMES|MULTIPLICATION)")
_LEARNED_KINDS = frozenset(("So", "Sm", "Sk", "Sc", "Po", "Pf", "Pi", "Co", "Ll", "Lu"))


def is_sign(mark: str) -> bool:
    """Whether a text is a single sign that stands for an item wherever text follows."""
    return len(mark) == 1 and (mark in SIGNS or bullet_of(mark) is not None)


def written(mark: str, gap: float) -> str | None:
    """How a first run is written as a bullet; `gap` is that to the text behind it, in type sizes. None for other texts."""
    return bullet_of(mark) or (LETTERS.get(mark) if gap > LETTER_GAP else None) or (mark if is_sign(mark) else None)


# -- what a document shows ---------------------------------------------------------------------------------------------


def with_learned(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """The pages, each sign that begins three lines or more at one indent and is not known otherwise written as a bullet."""
    begins, inside, first_runs = Counter[str](), Counter[str](), list[set[int]]()
    learned = set[str]()
    for page in pages:
        indents: defaultdict[tuple[str, int], int] = defaultdict(int)
        first = set[int]()
        for number, run, begins_line in _candidates(page.runs):
            (begins if begins_line else inside)[run.text] += 1
            if begins_line:
                first.add(number)
                indents[run.text, round(run.x0 / _SAME_INDENT)] += 1
        first_runs.append(first)
        learned |= {sign for (sign, _), count in indents.items() if count >= MIN_LINES}
    learned = {sign for sign in learned if begins[sign] > inside[sign]}
    return [_with_signs(page, first, learned) if learned else page for page, first in zip(pages, first_runs, strict=True)]


def _with_signs(page: PdfPage, first: set[int], learned: set[str]) -> PdfPage:
    runs = tuple(
        replace(run, text=PLAIN) if number in first and run.text in learned else run for number, run in enumerate(page.runs)
    )
    return replace(page, runs=runs)


def _candidates(runs: Sequence[TextRun]) -> Iterator[tuple[int, TextRun, bool]]:
    """The single signs among the runs that are no known bullets, each with its number and whether it begins a line."""
    signs = [(number, run) for number, run in enumerate(runs) if _may_be_learned(run.text)]
    if len(signs) < MIN_LINES:
        return
    for number, run in signs:
        beside = [other for other in runs if other is not run and abs(other.baseline - run.baseline) < _SAME_HEIGHT * run.size]
        behind = min((other.x0 for other in beside if other.x0 >= run.x1 - 1), default=None)
        before = any(0 < run.x0 - other.x1 < GAP * run.size or other.x0 < run.x0 < other.x1 for other in beside)
        least = LETTER_GAP if run.text.isalpha() else 0.0
        follows = behind is not None and least * run.size <= behind - run.x1 < GAP * run.size
        yield number, run, follows and not before


def _may_be_learned(text: str) -> bool:
    if len(text) != 1 or text in SIGNS or text in DASHES or text.isdigit() or text in LETTERS or bullet_of(text):
        return False
    return unicodedata.category(text) in _LEARNED_KINDS and not _COMPARES.search(unicodedata.name(text, ""))
