"""Characters that mean the same in every format: raised and lowered text, fractions, degree signs, white space.

What only a PDF's fonts need is in `audit.pipeline.corpus.extraction.repair`.
"""

from __future__ import annotations

import re
import unicodedata

LOWERED_SIGNS = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
# Raised signs and endings that belong to the word before them
RAISED_SIGN = re.compile(r"[®™©℠*†‡°º˚’'⁰¹²³⁴-⁹]+|\(?(?:R|TM|SM|st|nd|rd|th)\)?", re.IGNORECASE)
UNIT_BEFORE = re.compile(r"(?:\d|\b[kcm]?m|\b(?:in|ft))$")
LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
# A fraction drawn of a raised and a lowered number, also behind a whole one: 2¹⁄₂
FRACTION = re.compile(r"(?<!\d)(?P<whole>\d*+)\s?(?P<top>[⁰¹²³⁴-⁹]{1,2})\s?[⁄/]\s?(?P<bottom>[\d₀-₉]{1,2})(?!\d)")
# A raised zero, an o or a ring above is how many handbooks write the sign of a degree
DEGREE = re.compile(r"(?<=\d)\s?[⁰ºo˚](?=\s?[CF]\b)")

# Invisible marks within words (soft hyphens, marks of direction and form, tags), and control characters that are not white space
NO_TEXT = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
LIGATURE = re.compile("[\ufb00-\ufb06]")
HYPHEN = re.compile("[\u2010\u2011]")
# Each ends a line, and the first two a paragraph
LINE_ENDS = str.maketrans({"\u2029": "\n\n", "\x1d": "\n\n", "\x0b": "\n", "\x85": "\n", "\u2028": "\n", "\x1e": "\n"})


def plain_text(text: str) -> str:
    """Text on one line: every white space and separator of Unicode is one space, fractions and degree signs are written alike.

    Invisible marks are left out, and ligatures are their letters. U+FFFD and the control characters of Latin-1 (but U+0085, which
    is white space) stay: they are text that could not be read (`audit.pipeline.corpus.quality`).
    """
    text = LIGATURE.sub(lambda ligature: unicodedata.normalize("NFKC", ligature[0]), HYPHEN.sub("-", text))
    return DEGREE.sub("°", " ".join(NO_TEXT.sub("", FRACTION.sub(_fraction, text)).split()))


def _fraction(match: re.Match[str]) -> str:
    whole = f"{match['whole']} " if match["whole"] else ""
    return whole + match["top"].translate(LOWERED) + "/" + match["bottom"].translate(LOWERED)


def raised(text: str, before: str) -> str:
    """Raised text as it is written behind `before`: 10³, m², Motrin®, 1st; a note's number is kept apart: heart [3]."""
    if text in ("0", "o", "O") and before[-1:].isdigit():
        # The sign of a degree: `plain_text` decides with what follows
        return "⁰"
    if RAISED_SIGN.fullmatch(text):
        return text
    if re.fullmatch(r"[0-9+−-]{1,3}", text) and UNIT_BEFORE.search(before):
        return text.translate(RAISED)
    return f" [{text}]" if re.fullmatch(r"[\d,–-]+", text) else f" {text}"


def lowered(text: str) -> str:
    """Lowered text as it is written: H₂O, SpO₂; letters stay as they are."""
    return text.translate(LOWERED_SIGNS)
