"""Repair of the characters that a PDF's fonts give: ligatures, symbol fonts, misread quotes.

Fonts give many glyphs no Unicode character, or one of the private use area that only the font can draw. The tables here map
what handbooks are set with; whatever stays private or unknown counts as unreadable (`audit.pipeline.corpus.quality`).
"""

from __future__ import annotations

import re

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
# Fonts whose ligatures are read as the marks at their places: su!cient, A"oje; a mark never stands before a small letter so
LOST_LIGATURE = re.compile(r"(?<=[^\W\d_])[!\"](?=[a-zà-ÿ])|(?<![^\s(“‘])!(?=[a-zà-ÿ]{2})")
# Quotes of the Macintosh read as letters: donít, ìeggnogî
QUOTES = {"í": "’", "ì": "“", "î": "”"}
MISREAD_QUOTE = re.compile(r"(?<=[a-z]n)í(?=t\b)|\bì(?=\w{2})|(?<=\w{2})î(?!\w)")


def clean_text(text: str) -> str:
    """Text without control characters, ligatures, private symbols and repeated spaces."""
    for ligature in LIGATURES:
        if ligature in text:
            text = text.replace(ligature, LIGATURES[ligature])
    for hyphen, plain in HYPHENS.items():
        text = text.replace(hyphen, plain)
    text = MISREAD_QUOTE.sub(lambda match: QUOTES[match[0]], text)
    text = LOST_LIGATURE.sub(lambda match: "fi" if match[0] == "!" else "fl", text)
    return plain_text(PRIVATE.sub(lambda match: _symbol(match[0]), text))


def _symbol(private: str) -> str:
    return SYMBOL.get(ord(private) - 0xF000, private)


def bullet_of(mark: str) -> str | None:
    """The bullet that a single symbol at the beginning of a line is drawn as: "•", "✓" or "✗"; None for other characters."""
    if len(mark) != 1 or not 0xF020 <= ord(mark) <= 0xF0FF:
        return None
    code = ord(mark) - 0xF000
    return "✓" if code in TICKS else "✗" if code in CROSSES else "•"


def from_font(character: str, font: str) -> str:
    """The character as its font draws it: a letter of a font of symbols is a symbol."""
    if DINGBATS.search(font) and 0x20 < ord(character) <= 0xFF:
        return chr(0xF000 + ord(character))
    return character
