"""Whether the words of a quote stand in a text, and where. White space, case and typography do not matter; every word does."""

from __future__ import annotations

import re
import unicodedata

# A letter with its accents is one word's, whether they are characters of their own or not; 0.5 is one word, and no 5
WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f]|(?<=[0-9])[.,](?=[0-9]))*")


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where the words of a quote first stand in a text, one after the other: start and end in characters; None if nowhere.

    Signs between words do not matter; behind the last word the span takes those that the quote has there too. A quote without
    a word is in no text. The view `quoted_pairs` (audit.store.tables) counts by the same rule.
    """
    wanted = _joined([match[0] for match in WORD.finditer(quote)])
    words = list(WORD.finditer(text))
    place = _joined([match[0] for match in words]).find(wanted) if wanted.strip() else -1
    if place < 0:
        return None
    before = _joined([match[0] for match in words])[:place].count(" ")
    end = words[before + wanted.count(" ") - 2].end()
    signs = quote[list(WORD.finditer(quote))[-1].end() :].strip()
    while signs and text.startswith(signs[0], end):
        signs, end = signs[1:], end + 1
    return words[before].start(), end


def _joined(words: list[str]) -> str:
    return f" {' '.join(unicodedata.normalize('NFC', word).lower().replace(',', '.') for word in words)} "
