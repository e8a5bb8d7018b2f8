"""Where on a page a statement is printed: by letters and digits only, so line breaks, hyphens and bullets do not matter."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from audit.source_pages.reader import Box, SourcePage
from audit.text.statements import CELL_SEPARATOR

# Fewer letters than this must be words of their own: "no" is not the beginning of "not"
MIN_LETTERS_INSIDE_WORDS = 12
# Characters of the text before and after a statement that tell apart places with the same words
CONTEXT = 80
# Where the words differ from the text's, this share of the statement's letters must be found together
MIN_FOUND = 0.6
# A piece of fewer letters is a coincidence
MIN_PIECE = 8
# Pieces farther from the longest one than this share of the page's height belong to other text
NEAR = 0.15
FAR = 9.0  # the height of what is not printed
# Boxes of one line overlap by this share of the lower one's height
SAME_LINE = 0.4
# A gap of this many line heights is one between columns
COLUMN_GAP = 2.5
# Rectangles reach this share of their height beyond the letters
PADDING = 0.12
CLOSING = re.compile(r"[.,;:!?%)\]\"'”’]+")


class Letters(NamedTuple):
    """The letters and digits of a text in a form in which two texts can be compared, and the character each comes from."""

    text: str
    positions: tuple[int, ...]


def statement_boxes(page: SourcePage, statement: str, before: str = "", after: str = "") -> list[Box]:
    """The rectangles of a statement on a page, one per line; [] where it is not found.

    statement      as it is in the text of its section; of one that goes on overleaf, the part on this page
    before, after  the text around it, by which one of several equal places is chosen
    """
    letters = letters_of(page.text)
    characters = _exact(page, letters, statement, before, after)
    if not characters and CELL_SEPARATOR in statement:
        characters = _row(page, letters, statement, before)
    return list(_merged(page, characters or _nearly(page, letters, statement)))


def letters_of(text: str) -> Letters:
    """The letters and digits of a text without case, accents, ligatures, spaces and hyphens."""
    pairs = [
        (letter, position)
        for position, character in enumerate(text)
        for letter in unicodedata.normalize("NFKD", character).casefold()
        if letter.isalnum()
    ]
    return Letters("".join(letter for letter, _ in pairs), tuple(position for _, position in pairs))


def _exact(page: SourcePage, letters: Letters, statement: str, before: str, after: str) -> list[int]:
    """The characters of the place that has all letters of the statement and most of the text around it."""
    wanted = letters_of(statement).text
    context = letters_of(before[-CONTEXT:]).text, letters_of(after[:CONTEXT]).text
    starts = list(_matches(page.text, letters, wanted))
    if not starts:
        return []
    best = max(starts, key=lambda start: _agreement(letters.text, start, start + len(wanted), *context))
    return _with_marks(page.text, letters.positions[best : best + len(wanted)])


def _with_marks(text: str, positions: Sequence[int]) -> list[int]:
    """These characters, and the full stop or bracket that closes them."""
    closing = CLOSING.match(text, positions[-1] + 1)
    return [*positions, *(range(*closing.span()) if closing else ())]


def _matches(text: str, letters: Letters, wanted: str) -> Iterator[int]:
    start = letters.text.find(wanted) if wanted else -1
    while start >= 0:
        first, last = letters.positions[start], letters.positions[start + len(wanted) - 1]
        if len(wanted) >= MIN_LETTERS_INSIDE_WORDS or not (
            text[first - 1 : first].isalnum() or text[last + 1 : last + 2].isalnum()
        ):
            yield start
        start = letters.text.find(wanted, start + 1)


def _agreement(text: str, start: int, end: int, before: str, after: str) -> int:
    """How many letters before and after a place are those of the text around the statement."""
    return _common_prefix(text[:start][::-1], before[::-1]) + _common_prefix(text[end:], after)


def _common_prefix(a: str, b: str) -> int:
    return next((number for number, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _row(page: SourcePage, letters: Letters, row: str, before: str) -> list[int]:
    """The cells of a table's row, each on the height of the first; the head that a cell begins with is not in the row."""
    first, *others = row.split(CELL_SEPARATOR)
    label = _exact(page, letters, first, before, others[0])
    height = _middle(page, label)
    if height is None:
        return []
    return [*label, *(character for cell in others for character in _cell(page, letters, cell, height))]


def _cell(page: SourcePage, letters: Letters, cell: str, height: float) -> list[int]:
    for words in (cell, cell.partition(": ")[2]):
        wanted = letters_of(words).text
        starts = _matches(page.text, letters, wanted)
        places = [_with_marks(page.text, letters.positions[start : start + len(wanted)]) for start in starts]
        if places:
            return min(places, key=lambda position: abs((_middle(page, position) or FAR) - height))
    return []


def _middle(page: SourcePage, characters: Iterable[int]) -> float | None:
    heights = [(box[1] + box[3]) / 2 for character in characters if (box := page.boxes[character])]
    return sum(heights) / len(heights) if heights else None


def _nearly(page: SourcePage, letters: Letters, statement: str) -> list[int]:
    """The pieces of a statement that are printed close to its longest one, in any order, where they are most of it."""
    # A page may have its lines in another order, or a word that the text repaired
    wanted = letters_of(statement).text
    pieces = list(_closest_pieces(page, letters, wanted))
    longest: list[int] = max(pieces, key=len, default=[])
    height = _middle(page, longest)
    near = [piece for piece in pieces if height is not None and abs((_middle(page, piece) or FAR) - height) < NEAR]
    letters_found = sum(map(len, near))
    return (
        [character for piece in near for character in piece] if letters_found >= max(MIN_FOUND * len(wanted), MIN_PIECE) else []
    )


def _closest_pieces(page: SourcePage, letters: Letters, wanted: str) -> Iterator[list[int]]:
    """The longest stretches that the page has, from the first letter on; of equal places the one closest to the piece before."""
    start, height = 0, None
    while start + MIN_PIECE <= len(wanted):
        length = _longest_prefix(letters.text, wanted[start:])
        if length < MIN_PIECE:
            start += 1
            continue
        places = _all_places(letters, wanted[start : start + length])
        piece = min(places, key=lambda position: abs((_middle(page, position) or FAR) - (height or 0.0)))
        height = _middle(page, piece)
        yield piece
        start += length


def _longest_prefix(text: str, wanted: str) -> int:
    """How many letters of the beginning of `wanted` the text has somewhere."""
    # By halving: where a beginning is in the text, every shorter one is too
    return bisect_left(range(1, len(wanted) + 1), True, key=lambda length: wanted[:length] not in text)


def _all_places(letters: Letters, wanted: str) -> list[list[int]]:
    starts = [match.start() for match in re.finditer(f"(?={re.escape(wanted)})", letters.text)]
    return [list(letters.positions[start : start + len(wanted)]) for start in starts]


def _merged(page: SourcePage, characters: list[int]) -> Iterator[Box]:
    """The boxes of consecutive characters put together line by line."""
    boxes = [box for character in characters if (box := page.boxes[character])]
    if not boxes:
        return
    shape = page.height / page.width
    line = boxes[0]
    for before, box in pairwise(boxes):
        if _continues(before, line, box, shape):
            line = min(line[0], box[0]), min(line[1], box[1]), max(line[2], box[2]), max(line[3], box[3])
        else:
            yield _padded(line, shape)
            line = box
    yield _padded(line, shape)


def _continues(before: Box, line: Box, box: Box, shape: float) -> bool:
    overlap = min(line[3], box[3]) - max(line[1], box[1])
    height = line[3] - line[1]
    gap = COLUMN_GAP * height * shape  # heights are shares of the page's height, gaps of its width
    return overlap > SAME_LINE * min(height, box[3] - box[1]) and -gap < box[0] - before[2] < gap


def _padded(box: Box, shape: float) -> Box:
    margin = PADDING * (box[3] - box[1])
    return box[0] - margin * shape, box[1] - margin, box[2] + margin * shape, box[3] + margin
