"""Which characters of a PDF page a reader sees: the page is drawn with and without them, and what changes nothing is not seen.

So it does not matter why: white on white, covered by an area or a picture, cut off, in a layer that is switched off, without any
ink, or off the page. Text without ink over a picture that shows something there is another matter: the text layer of a scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.drawings import painted_over, pictures
from audit.pipeline.corpus.extraction.glyphs import PURPOSE, Character, Display
from audit.pipeline.corpus.extraction.layout import Area

# Pixels to a point, fewer on a poster
SCALE, MAX_PIXELS = 1.0, 3000
# Of 255: a smaller change of colour is seen by nobody, and a larger one below a character without ink is something drawn there
VISIBLE, DRAWN = 12, 60
# Of 255: where two areas of one color touch, drawing leaves a faint seam, which is not a line
LINE = 40
# Pixels from a line to what is beside it, and the share of its length that shows at least
BESIDE, DASHED = 4, 0.3
# The text of this colour or a paler one, of 255, may be hidden below other text
PALE = 200
# Letters seen on a page that is a scan: a stamp, a page number
MAX_STAMP = 60
# Share of its page that the pictures of a scan cover
SCAN = 0.5
Pixels = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]


class Sight(Enum):
    """How a character is seen: drawn itself, as the picture that it is the text of, or not at all."""

    SEEN = "seen"
    PICTURED = "pictured"
    HIDDEN = "hidden"


class Sights(NamedTuple):
    """How each character of a page is seen, a space like the one before it; and the page without its text, in pixels."""

    kinds: list[Sight]
    paper: Pixels
    scale: float

    def shows_line(self, line: Area) -> bool:
        """Whether a horizontal or vertical line of the page as displayed differs from what is on both sides of it."""
        x0, y0, x1, y1 = (int(edge * self.scale) for edge in line)
        upright = line.bottom - line.top > line.x1 - line.x0
        paper, (first, last), middle = (
            (self.paper.transpose(1, 0, 2), (y0, y1), x0) if upright else (self.paper, (x0, x1), (y0 + y1) // 2)
        )
        band = paper[max(0, middle - 1) : middle + 2, max(0, first) : last + 1].astype(np.int16)
        beside = paper[[max(0, middle - BESIDE), min(len(paper) - 1, middle + BESIDE)], max(0, first) : last + 1].astype(np.int16)
        if not band.size:
            return False
        differences = np.abs(band[:, None] - beside[None]).max(axis=3).min(axis=1).max(axis=0)
        # A dashed line shows in parts
        return float((differences >= LINE).mean()) >= DASHED


def sights(page: Any, characters: Sequence[Character | None], owners: dict[int, Any], display: Display) -> Sights:
    """How each character is seen.

    owners  the text objects of the characters by their addresses; they are changed, so the page cannot be drawn again
    """
    drawn = [character for character in characters if character is not None]
    scale = min(SCALE, MAX_PIXELS / max(display.size))
    if not drawn:
        return Sights([Sight.SEEN] * len(characters), np.zeros((0, 0, 3), np.uint8), scale)
    boxes = _boxes(drawn, display, scale)
    seen, paper = _seen(page, drawn, owners, boxes, scale, display)
    seen = _by_word(characters, drawn, seen)
    hidden = ~seen
    pictured = np.zeros(len(drawn), bool)
    if hidden.any():
        pictured[hidden] = [_shows_something(paper, box) for box in boxes[hidden]]
        pictured = _by_word(characters, drawn, pictured) & hidden
        # Hidden text of which some happens to be over a rule is not a text layer
        pictured &= 2 * pictured.sum() >= hidden.sum()
        if _is_scan(page, drawn, seen, display):
            pictured = hidden & _is_on_page(boxes, paper)
    kinds = [Sight.SEEN if one else Sight.PICTURED if other else Sight.HIDDEN for one, other in zip(seen, pictured, strict=True)]
    return Sights(_with_spaces(characters, iter(kinds)), paper, scale)


def _with_spaces(characters: Iterable[Character | None], kinds: Iterator[Sight]) -> list[Sight]:
    result: list[Sight] = []
    for character in characters:
        result.append(next(kinds) if character is not None else result[-1] if result else Sight.SEEN)
    return result


def _boxes(drawn: Sequence[Character], display: Display, scale: float) -> npt.NDArray[np.int64]:
    """The first and last column and row of pixels of each character's ink, one row each: x0, y0, x1, y1, the ends exclusive."""
    areas = np.array([display.area(*character.ink) for character in drawn]) * scale
    return np.column_stack((np.floor(areas[:, :2]), np.ceil(areas[:, 2:]))).astype(np.int64)


def _seen(
    page: Any, drawn: Sequence[Character], owners: dict[int, Any], boxes: npt.NDArray[np.int64], scale: float, display: Display
) -> tuple[Bools, Pixels]:
    """Whether each character changes its pixels, and the page without any text."""
    raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
    pale = {character.owner for character in drawn if min(character.style.color, default=0) >= PALE}
    apart = (pale | painted_over(page, display)) & owners.keys() - {0}
    is_apart = np.array([character.owner in apart for character in drawn])
    before = _picture(page, scale)
    seen = np.zeros(len(drawn), bool)
    # First those that may be hidden below others, so that these do not show in their place
    for group, chosen in ((apart, is_apart), (owners.keys() - apart - {0}, ~is_apart)):
        if group:
            for owner in group:
                raw.FPDFTextObj_SetTextRenderMode(owners[owner], raw.FPDF_TEXTRENDERMODE_INVISIBLE)
            after = _picture(page, scale)
            seen |= chosen & _changed(_differ(before, after), boxes)
            before = after
    # Of a character without an owner or without ink nothing is known
    unknown = np.array([not character.owner for character in drawn]) | (boxes[:, 2:] <= boxes[:, :2]).any(axis=1)
    return seen | unknown, before


def _picture(page: Any, scale: float) -> Pixels:
    image = page.render(scale=scale, draw_annots=False, may_draw_forms=False, rev_byteorder=False)
    pixels: Pixels = image.to_numpy()[:, :, :3].copy()
    image.close()
    return pixels


def _differ(before: Pixels, after: Pixels) -> Bools:
    """Whether each pixel has changed; color by color, which is faster than over the three together."""
    changed = np.zeros(before.shape[:2], bool)
    for color in range(3):
        one, other = before[:, :, color], after[:, :, color]
        changed |= np.maximum(one, other) - np.minimum(one, other) >= VISIBLE
    return changed


def _changed(mask: Bools, boxes: npt.NDArray[np.int64]) -> Bools:
    """Whether any pixel of each box is set, by sums over all pixels above and to the left."""
    sums = np.zeros((mask.shape[0] + 1, mask.shape[1] + 1), np.int32)
    sums[1:, 1:] = mask.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)
    x0, x1 = (np.clip(boxes[:, column], 0, mask.shape[1]) for column in (0, 2))
    y0, y1 = (np.clip(boxes[:, column], 0, mask.shape[0]) for column in (1, 3))
    changed: Bools = sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0] > 0
    return changed


def _shows_something(paper: Pixels, box: Iterable[int]) -> bool:
    x0, y0, x1, y1 = (max(0, edge) for edge in box)
    pixels = paper[y0:y1, x0:x1].reshape(-1, 3)
    return len(pixels) > 0 and int(np.ptp(pixels.astype(np.int16), axis=0).max()) >= DRAWN


def _is_on_page(boxes: npt.NDArray[np.int64], paper: Pixels) -> Bools:
    height, width = paper.shape[:2]
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    inside: Bools = (x >= 0) & (y >= 0) & (x < width) & (y < height)
    return inside


def _by_word(characters: Sequence[Character | None], drawn: Sequence[Character], flags: Bools) -> Bools:
    """What is so of most letters of each word, within one text object: a full stop alone may show hardly any ink."""
    result, number = flags.copy(), 0
    for _, group in groupby(characters, key=lambda character: None if character is None else character.owner):
        word = [character for character in group if character is not None]
        places = range(number, number + len(word))
        number += len(word)
        letters = [place for place in places if chr(drawn[place].code).isalnum()] or places
        if len(places):
            result[number - len(word) : number] = 2 * sum(flags[place] for place in letters) >= len(letters)
    return result


def _is_scan(page: Any, drawn: Sequence[Character], seen: Bools, display: Display) -> bool:
    """Whether a page is a picture with hardly any text of its own: whatever its text layer says stands for the picture."""
    are_letters = np.array([chr(character.code).isalpha() for character in drawn])
    letters, hidden = int((are_letters & seen).sum()), int((are_letters & ~seen).sum())
    width, height = display.size
    covered = sum((area.x1 - area.x0) * (area.bottom - area.top) for area in pictures(page, display))
    return letters <= min(MAX_STAMP, hidden) and covered >= SCAN * width * height
