"""A rule's replacement in a document: one span of a statement, and the words that make the statement false."""

from __future__ import annotations

import re
from typing import NamedTuple

AMOUNT, UNIT, NEGATION, DIRECTION, FREQUENCY = "amount", "unit", "negation", "direction", "frequency"
KINDS = (AMOUNT, UNIT, NEGATION, DIRECTION, FREQUENCY)
ARTICLE = re.compile(r"\b(an?)\s$", re.I)
# Words whose first letter is a vowel that is not spoken as one
SPOKEN_CONSONANT = re.compile(r"(?:one|uni(?!n)|use|usual|eu)", re.I)


class Replacement(NamedTuple):
    """Characters `start` to `end` of a document, their replacement by a rule of `kind`, and the noun that a question uses for
    them.
    """

    kind: str
    start: int
    end: int
    after: str
    noun: str


def replacement(kind: str, text: str, start: int, end: int, after: str, noun: str) -> Replacement:
    """A replacement that keeps the capital and adapts the article before it: "a decrease" becomes "an increase"."""
    after = after[:1].upper() + after[1:] if text[start].isupper() else after
    before = ARTICLE.search(text, 0, start)
    article = "an" if has_vowel_sound(after) else "a"
    if before and before[1].lower() != article:
        start = before.start()
        after = f"{article.capitalize() if text[start].isupper() else article} {after}"
    return Replacement(kind, start, end, after, noun)


def has_vowel_sound(word: str) -> bool:
    """Whether the article of a word is "an" and not "a"; numbers are treated as words."""
    if re.match(r"(?:8|11\b|18\b)", word):
        return True
    return word[:1].lower() in "aeiou" and not SPOKEN_CONSONANT.match(word)
