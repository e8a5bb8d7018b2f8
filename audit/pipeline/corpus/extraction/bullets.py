"""The signs that begin the items of a list, by their Unicode names; `learned_bullets` finds those that a document shows.

A sign that says something of its own, such as a tick, stays in the text of its item.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from audit.pipeline.corpus.extraction.repair import bullet_of

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
DASHES = "*–—−-"
ONE_OF = f"[{re.escape(SIGNS + DASHES)}]"
"""The class of all these for a regular expression."""
# Letters that word processors set in a font of symbols: bullets where a wide gap follows
LETTERS = {"o": "◦", "§": PLAIN}
# In type sizes: how far the text of an item is behind its bullet at most, and behind a letter at least
GAP, LETTER_GAP = 5.0, 0.5


def is_sign(mark: str) -> bool:
    """Whether a text is a single sign that stands for an item wherever text follows."""
    return len(mark) == 1 and (mark in SIGNS or bullet_of(mark) is not None)


def written(mark: str, gap: float) -> str | None:
    """How a first run is written as a bullet; `gap` is that to the text behind it, in type sizes. None for other texts."""
    return bullet_of(mark) or (LETTERS.get(mark) if gap > LETTER_GAP else None) or (mark if is_sign(mark) else None)
