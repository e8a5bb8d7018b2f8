"""The glyphs of a PDF page as PDFium gives them, and the words that they make up."""

from __future__ import annotations

import ctypes
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.font_weight import is_bold
from audit.pipeline.corpus.extraction.layout import NO_TAG, Area, Color, Tag, TextRun
from audit.pipeline.corpus.extraction.repair import CONTROL_LIGATURES, UNKNOWN, Ink, from_font

PURPOSE = "Reading a PDF"
BOLD = re.compile(r"bold|black|heavy|semi-?bold|demi", re.IGNORECASE)
# A gap wider than this share of the type size, beyond the font's usual distance between letters, ends a word
WORD_GAP = 0.12
# Letters farther apart than this share of the type size are words
MAX_LETTER_GAP = 0.3
# Of a line whose letters are set apart, in type sizes: how far at most, how much that differs, and how much farther words are;
# how many pairs of letters are, and which share
MAX_SPACED, EVEN, MIN_WORD = 0.6, 0.1, 0.25
MIN_SPACED, MIN_EVEN = 4, 0.6
# Degrees; text in another direction is a watermark or a stamp, and text that slants less is level
MAX_SLANT, MIN_SLANT = 8, 0.5
# The codes that PDFium returns for a hyphen at the end of a line
LINE_END_HYPHENS = (2, 0xFFFE)
SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class Display:
    """The page as displayed, turned by `rotation` quarters clockwise; `box` is its left, bottom, right and top end."""

    box: tuple[float, float, float, float]
    rotation: int

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        """A position from the upper left corner of the page as it is displayed."""
        left, bottom, right, top = self.box
        if self.rotation == 0:
            return x - left, top - y
        return ((x - left, top - y), (y - bottom, x - left), (right - x, y - bottom), (top - y, right - x))[self.rotation]

    def area(self, left: float, bottom: float, right: float, top: float) -> Area:
        """A rectangle of the page as displayed."""
        if self.rotation == 0:
            (x0, y0), (x1, y1) = (left - self.box[0], self.box[3] - bottom), (right - self.box[0], self.box[3] - top)
        else:
            (x0, y0), (x1, y1) = self(left, bottom), self(right, top)
        if x0 <= x1 and y1 <= y0:
            return Area(x0, y1, x1, y0)
        return Area(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def back(self, area: Area) -> tuple[float, float, float, float]:
        """Left, bottom, right and top end, in the PDF's own axes, of a rectangle of the page as displayed."""
        left, bottom, right, top = self.box
        x0, y0, x1, y1 = area
        return (
            (left + x0, top - y1, left + x1, top - y0),
            (left + y0, bottom + x0, left + y1, bottom + x1),
            (right - x1, bottom + y0, right - x0, bottom + y1),
            (right - y1, top - x1, right - y0, top - x0),
        )[self.rotation]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in points."""
        left, bottom, right, top = self.box
        return (right - left, top - bottom) if self.rotation % 2 == 0 else (top - bottom, right - left)

    def turned(self, quarters: int) -> Display:
        """The page turned further, so that text in this direction is upright."""
        return Display(self.box, (self.rotation + quarters) % 4)


class TextStyle(NamedTuple):
    """The style of a text object; `turn` is its direction on the page as displayed, in quarter turns, None where slanted more
    than a little; `slant` is what remains, in degrees, 0 where its lines are level.
    """

    size: float
    bold: bool
    turn: int | None
    font: str
    color: Color
    tag: Tag
    slant: float = 0.0


class Character(NamedTuple):
    """One character of a page that is not white space.

    number  in PDFium's text of the page
    owner   the address of its text object, 0 where unknown
    ink     where it is drawn, in points of the PDF's own axes: left, bottom, right, top
    """

    number: int
    code: int
    style: TextStyle
    owner: int
    ink: tuple[float, float, float, float]


class Glyph(NamedTuple):
    """A character of upright text."""

    character: str
    x0: float
    x1: float
    baseline: float
    style: TextStyle

    def is_followed_by(self, other: Glyph, letter_gap: float) -> bool:
        """Whether the other glyph continues the same word in the same font; `letter_gap` is usual there, in type sizes."""
        size = self.style.size
        # Kerning lets glyphs overlap, so the distance may be negative
        close = -size < other.x0 - self.x1 < (WORD_GAP + letter_gap) * size
        same_line = abs(other.baseline - self.baseline) <= 0.1 * size
        return close and same_line and (other.style.size, other.style.bold) == (size, self.style.bold)


class GlyphReader:
    """The characters of one page. Spaces are None, and only those of the file: PDFium adds some of its own, also wrong ones."""

    def __init__(self, text: Any, display: Display, tags: Mapping[int, Tag], bold: dict[tuple[str, int], bool]) -> None:
        """`tags` are those of the page's marked contents; `bold` is filled with which fonts of the document are."""
        self.bold = bold
        self.tags = tags
        self.raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
        self.text = text.raw
        self.rotation = display.rotation
        # Type and weight are looked up once per text object: each call into the C library costs.
        self.styles: dict[int, TextStyle] = {}
        self.owners: dict[int, Any] = {}

    def characters(self) -> list[Character | None]:
        """Each character; None for a space."""
        return list(self._characters())

    def _characters(self) -> Iterator[Character | None]:
        raw, text = self.raw, self.text
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        for index in range(raw.FPDFText_CountChars(text)):
            code = raw.FPDFText_GetUnicode(text, index)
            if self._is_space(index, code):
                if not raw.FPDFText_IsGenerated(text, index):
                    yield None
                continue
            owner = self._owner(index)
            raw.FPDFText_GetCharBox(text, index, left, right, bottom, top)
            yield Character(index, code, self._style(index, owner), owner, (left.value, bottom.value, right.value, top.value))

    def _is_space(self, index: int, code: int) -> bool:
        if code in CONTROL_LIGATURES and not self.raw.FPDFText_IsGenerated(self.text, index):
            return False
        return (code <= 32 and code not in LINE_END_HYPHENS) or code == 0xA0

    def _owner(self, index: int) -> int:
        text_object = self.raw.FPDFText_GetTextObject(self.text, index)
        address = ctypes.addressof(text_object.contents) if text_object else 0
        self.owners.setdefault(address, text_object)
        return address

    def _style(self, index: int, owner: int) -> TextStyle:
        if owner not in self.styles:
            raw, text = self.raw, self.text
            matrix, flags, name = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(128)
            raw.FPDFText_GetMatrix(text, index, matrix)
            raw.FPDFText_GetFontInfo(text, index, name, 128, flags)
            font = name.value.decode("latin-1")
            size = raw.FPDFText_GetFontSize(text, index) * math.hypot(matrix.c, matrix.d)
            bold = self._is_bold(owner, font, raw.FPDFText_GetFontWeight(text, index))
            turn, slant = self._turn(matrix.a, matrix.b)
            self.styles[owner] = TextStyle(round(size, 1) or 1.0, bold, turn, font, self._color(index), self._tag(owner), slant)
        return self.styles[owner]

    def _is_bold(self, owner: int, font: str, weight: int) -> bool:
        """Whether a font is bold: some are only by their name, and their weight is not set."""
        if (font, weight) not in self.bold:
            named = BOLD.search(font) is not None
            by_ink = not named and bool(owner) and is_bold(self.raw.FPDFTextObj_GetFont(self.owners[owner]), weight)
            self.bold[font, weight] = named or by_ink
        return self.bold[font, weight]

    def _tag(self, owner: int) -> Tag:
        content = self.raw.FPDFPageObj_GetMarkedContentID(self.owners[owner]) if self.tags and owner else -1
        return self.tags.get(content, NO_TAG)

    def _color(self, index: int) -> Color:
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        self.raw.FPDFText_GetFillColor(self.text, index, red, green, blue, alpha)
        return red.value, green.value, blue.value

    def _turn(self, a: float, b: float) -> tuple[int | None, float]:
        angle = math.degrees(math.atan2(b, a)) % 360
        quarter = round(angle / 90)
        slant = angle - 90 * quarter
        # A page's own rotation is clockwise, a text's angle is not
        turn = (quarter - self.rotation) % 4 if abs(slant) <= MAX_SLANT else None
        return turn, round(slant, 1) if turn is not None and abs(slant) >= MIN_SLANT else 0.0

    def glyphs(self, characters: Sequence[Character | None], display: Display) -> Iterator[Glyph | None]:
        """The characters as glyphs on the page so displayed, those of a box that slants made level; None for a space."""
        level = {slant: _MadeLevel.of(slant, own, display) for slant, own in _by_slant(characters).items()}
        for character, glyph in zip(characters, self._glyphs(characters, display), strict=True):
            yield level[character.style.slant](glyph) if glyph and character and character.style.slant else glyph

    def _glyphs(self, characters: Iterable[Character | None], display: Display) -> Iterator[Glyph | None]:
        raw, text = self.raw, self.text
        box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        is_upright, left, top = display.rotation == 0, display.box[0], display.box[3]
        for character in characters:
            if character is None:
                yield None
                continue
            raw.FPDFText_GetLooseCharBox(text, character.number, box)  # as wide as the glyph's advance, not as its ink
            raw.FPDFText_GetCharOrigin(text, character.number, x, y)
            if is_upright:
                x0, x1, baseline = box.left - left, box.right - left, top - y.value
            else:
                area = display.area(box.left, box.bottom, box.right, box.top)
                x0, x1, baseline = area.x0, area.x1, display(x.value, y.value)[1]
            yield Glyph(self.written(character, display, baseline), min(x0, x1), max(x0, x1), baseline, character.style)

    def written(self, character: Character, display: Display, baseline: float) -> str:
        """The character as its font draws it."""
        if character.code in LINE_END_HYPHENS:
            return "-"
        if character.code in SURROGATES:
            return UNKNOWN
        return from_font(chr(character.code), character.style.font, lambda: self._ink(character, display, baseline))

    def _ink(self, character: Character, display: Display, baseline: float) -> Ink:
        ink, size = display.area(*character.ink), character.style.size
        return Ink((ink.x1 - ink.x0) / size, (baseline - ink.bottom) / size, (baseline - ink.top) / size)


def _by_slant(characters: Iterable[Character | None]) -> dict[float, list[Character]]:
    slanted = defaultdict[float, list[Character]](list)
    for character in characters:
        if character and character.style.slant:
            slanted[character.style.slant].append(character)
    return slanted


class _MadeLevel(NamedTuple):
    """Turns what slants so that its lines are level, around the middle of all that slants alike.

    sine, cosine  of the slant
    """

    x: float
    y: float
    sine: float
    cosine: float

    @classmethod
    def of(cls, slant: float, own: Sequence[Character], display: Display) -> _MadeLevel:
        areas, angle = [display.area(*character.ink) for character in own], math.radians(slant)
        x, y = min(area.x0 for area in areas), min(area.top for area in areas)
        middle = ((x + max(area.x1 for area in areas)) / 2, (y + max(area.bottom for area in areas)) / 2)
        return cls(*middle, math.sin(angle), math.cos(angle))

    def __call__(self, glyph: Glyph) -> Glyph:
        right, down = glyph.x0 - self.x, glyph.baseline - self.y
        x0 = self.x + right * self.cosine - down * self.sine
        # The box of a letter that slants is wider by its height
        width = glyph.x1 - glyph.x0 - glyph.style.size * abs(self.sine)
        return glyph._replace(x0=x0, x1=x0 + width, baseline=self.y + right * self.sine + down * self.cosine)


def words(glyphs: Sequence[Glyph | None]) -> Iterator[TextRun]:
    """The glyphs put together as words."""
    gaps, spaced = _letter_gaps(glyphs), _spaced_lines(glyphs)
    word: list[Glyph] = []
    for glyph in [*glyphs, None]:
        gap = spaced.get(_line_of(glyph), gaps[glyph.style.size, glyph.style.bold]) if glyph else 0.0
        if word and (glyph is None or not word[-1].is_followed_by(glyph, gap)):
            yield _run_of(word, space_after=glyph is None)
            word = []
        if glyph is not None:
            word.append(glyph)


def _letter_gaps(glyphs: Sequence[Glyph | None]) -> dict[tuple[float, bool], float]:
    """The usual distance between the letters of a word, in type sizes, for each size and weight: widely set text has more."""
    gaps: dict[tuple[float, bool], list[float]] = {}
    for before, glyph in pairwise(glyphs):
        if before and glyph and before.style == glyph.style and abs(glyph.baseline - before.baseline) < 0.1 * glyph.style.size:
            gaps.setdefault((glyph.style.size, glyph.style.bold), []).append((glyph.x0 - before.x1) / glyph.style.size)
    usual = {style: max(0.0, min(median(distances), MAX_LETTER_GAP)) for style, distances in gaps.items()}
    return defaultdict(float, usual)


def _line_of(glyph: Glyph) -> tuple[float, bool, int]:
    return glyph.style.size, glyph.style.bold, round(glyph.baseline)


def _spaced_lines(glyphs: Sequence[Glyph | None]) -> dict[tuple[float, bool, int], float]:
    """The distance between the letters of each line whose letters are all set apart, in type sizes, as titles may be.

    The cells of a row may be single letters too, but are farther apart.
    """
    gaps: defaultdict[tuple[float, bool, int], list[float]] = defaultdict(list)
    for before, glyph in pairwise(glyphs):
        if before and glyph and _line_of(before) == _line_of(glyph):
            letters = before.character.isalpha() and glyph.character.isalpha()
            gaps[_line_of(glyph)].append((glyph.x0 - before.x1) / glyph.style.size if letters else 0.0)
    return {
        line: usual + EVEN
        for line, distances in gaps.items()
        for usual in [median(distances)]
        if _are_set_apart(distances, usual)
    }


def _are_set_apart(distances: Sequence[float], usual: float) -> bool:
    """Whether distances between letters are wide and even, but for those between words."""
    even = sum(abs(distance - usual) <= EVEN for distance in distances)
    words = sum(distance > usual + MIN_WORD for distance in distances)
    enough = even >= max(MIN_SPACED, MIN_EVEN * len(distances)) and even + words == len(distances)
    return enough and min(distances) > WORD_GAP and usual <= MAX_SPACED


def _run_of(word: list[Glyph], *, space_after: bool) -> TextRun:
    first = word[0]
    text = "".join(glyph.character for glyph in word)
    end = max(glyph.x1 for glyph in word)
    style = first.style
    return TextRun(text, first.x0, end, first.baseline, style.size, style.bold, space_after, color=style.color, tag=style.tag)
