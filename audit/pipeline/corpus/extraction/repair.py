"""Repair of the characters that a PDF's fonts give: ligatures, symbol fonts, misread quotes.

Fonts give many glyphs no Unicode character, or one of the private use area that only the font can draw. The tables here map
what handbooks are set with; whatever stays private or unknown counts as unreadable (`audit.pipeline.corpus.quality`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from audit.pipeline.corpus.extraction.characters import plain_text

# TeX's two encodings have the ligatures at these control codes; the others are Unicode's, Adobe's private ones and Calibri's
LIGATURES = {
    "\x0b": "ff", "\x0c": "fi", "\x0d": "fl", "\x0e": "ffi", "\x0f": "ffl",
    "\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl",
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
    "\uf001": "fi", "\uf002": "fl", "\uf003": "ffi", "\uf004": "ffl", "\uf000": "ff",
    "Ɵ": "ti", "Ʃ": "tt",
}  # fmt: skip
CONTROL_LIGATURES = frozenset(map(ord, "\x0b\x0c\x0d\x0e\x0f\x1b\x1c\x1d\x1e\x1f"))
HYPHENS = {"\xad": "-", "\u2010": "-", "\u2011": "-"}
# The private use area from F020 on holds the codes of symbol fonts. Within text they are Adobe's Symbol
SYMBOL = {
    0x61: "α", 0x62: "β", 0x67: "γ", 0x64: "δ", 0x6D: "µ", 0x6C: "λ", 0xA2: "′", 0xA3: "≤", 0xB2: "″", 0xB3: "≥", 0xB0: "°",
    0xB1: "±", 0xB4: "×", 0xB8: "÷", 0xB9: "≠", 0xBB: "≈", 0xAE: "→", 0xAD: "↑", 0xAF: "↓", 0xD2: "®", 0xD3: "©", 0xD4: "™",
    0xE2: "®", 0xE3: "©", 0xE4: "™",
}  # fmt: skip
# At the beginning of a line they are bullets; a mark that says yes or no must stay
TICKS, CROSSES = {0xFC, 0xFE, 0x50, 0x52}, {0xFB, 0xFD, 0x4F, 0x51, 0x53, 0x54}
DINGBATS = re.compile(r"wingdings|webdings|dingbats", re.IGNORECASE)
PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
UNKNOWN = "�"
# A glyph that is read as a mark but drawn as letters: from the baseline up, and broader than a share of its height
LOST_LIGATURE = '!"'
LOWEST, HIGHEST, BREADTH = 0.1, 0.6, 0.45
# What is so drawn gets a private character of its font until the whole document shows what it is (`resolved`)
LOST = re.compile("[\U000f0000-\U000fffff]")
LOST_FROM, LOST_COUNT = 0xF0000, 0xFFFE
LOST_LETTERS = ("fi", "fl", "ff", "ffi", "ffl", "Th", "ft", "tt", "ti")
LETTERS = re.compile("(?:[^\\W\\d_]|[\U000f0000-\U000fffff])+")
# Quotes of the Macintosh read as letters: donít, ìeggnogî
QUOTES = {"í": "’", "ì": "“", "î": "”"}
MISREAD = re.compile(r"(?<=[^\W\d_])í(?=[^\W\d_])|\bì(?=\w{2})|(?<=\w{2})î(?!\w)")
OTHER_ACCENTS = re.compile("['’áéóúñàèòùâêôûÁÉÓÚÑ]")


class Ink(NamedTuple):
    """Where a glyph is drawn, in type sizes: how wide, and how far above the baseline it begins and ends."""

    width: float
    bottom: float
    top: float


def clean_text(text: str) -> str:
    """Text without control characters, ligatures, private symbols and repeated spaces."""
    for ligature in LIGATURES:
        if ligature in text:
            text = text.replace(ligature, LIGATURES[ligature])
    for hyphen, plain in HYPHENS.items():
        text = text.replace(hyphen, plain)
    return plain_text(PRIVATE.sub(lambda match: _symbol(match[0]), text))


def _symbol(private: str) -> str:
    return SYMBOL.get(ord(private) - 0xF000, private)


def bullet_of(mark: str) -> str | None:
    """The bullet that a single symbol at the beginning of a line is drawn as: "•", "✓" or "✗"; None for other characters."""
    if len(mark) != 1 or not 0xF020 <= ord(mark) <= 0xF0FF:
        return None
    code = ord(mark) - 0xF000
    return "✓" if code in TICKS else "✗" if code in CROSSES else "•"


def from_font(character: str, font: str, ink: Ink | None = None) -> str:
    """The character as its font draws it: a letter of a font of symbols is a symbol, and a mark that is drawn as letters is
    a private character of this font, which `resolved` replaces.
    """
    if DINGBATS.search(font) and 0x20 < ord(character) <= 0xFF:
        return chr(0xF000 + ord(character))
    if character in LOST_LIGATURE and ink is not None and _is_ligature(ink):
        return chr(LOST_FROM + crc32(f"{font} {character} {ink.width:.2f}".encode()) % LOST_COUNT)
    return character


def _is_ligature(ink: Ink) -> bool:
    return ink.bottom <= LOWEST and ink.top >= HIGHEST and ink.width >= BREADTH * (ink.top - ink.bottom)


# -- what the whole document shows -------------------------------------------------------------------------------------


def resolved(texts: Sequence[str]) -> list[str]:
    """A document's texts with the ligatures and quotes that its own words show; what they do not show is an unknown character."""
    ligatures = _ligatures(texts)
    texts = [LOST.sub(lambda match: ligatures.get(match[0], UNKNOWN), text) for text in texts]
    return [_with_quotes(text) for text in texts] if _has_misread_quotes(texts) else texts


def _ligatures(texts: Iterable[str]) -> dict[str, str]:
    """Private character -> the letters with which most of its words are words that the document has elsewhere."""
    words = Counter(word for text in texts for word in LETTERS.findall(text))
    whole = {word.casefold() for word in words if not LOST.search(word)}
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word in words:
        marks = set(LOST.findall(word))
        # Of a word with two of them, neither can be told
        for mark in marks if len(marks) == 1 else ():
            votes[mark].update(letters for letters in LOST_LETTERS if LOST.sub(letters, word).casefold() in whole)
    best = {mark: [*counts.most_common(2), ("", 0), ("", 0)] for mark, counts in votes.items()}
    return {mark: first for mark, ((first, most), (_, second), *_) in best.items() if most > second}


def _has_misread_quotes(texts: Sequence[str]) -> bool:
    """Whether í stands where an apostrophe would: the document has neither an apostrophe nor another letter with this accent."""
    text = "".join(texts)
    return MISREAD.search(text) is not None and not OTHER_ACCENTS.search(text)


def _with_quotes(text: str) -> str:
    return MISREAD.sub(lambda match: QUOTES[match[0]], text)
