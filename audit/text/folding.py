"""A text as a reader sees it: one form for all spellings of a letter, with the way back to the characters of the original."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# Letters that look like Latin ones, and Latin ones that Unicode does not take apart into a base letter and a mark
LOOK_ALIKES = dict(
    zip(
        "АВЕЅІЈКМНОРСТУХаеіјкморсухԁѕԛԝһвнтΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυøłđıȷɡØŁĐ",
        "ABESIJKMHOPCTYXaeijkmopcyxdsqwhBHTABEZHIKMNOPTYXaeikvoptuoldijgOLD",
        strict=True,
    )
)
SEVERAL_LETTERS = {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"}
QUOTES, DASHES = "‘’‚‛′ʼʹ`´", "‐‑‒–—―−"
PUNCTUATION = dict.fromkeys(QUOTES, "'") | dict.fromkeys(DASHES, "-") | {"⁄": "/", "∕": "/"}
# Control and format characters (zero width, soft hyphens, marks of direction) and the marks over letters
UNSEEN = frozenset({"Cc", "Cf", "Mn", "Cs"})


class FoldedText(NamedTuple):
    """`text` with plain letters, quotes, hyphens and single spaces; `origins` gives the place of each character before."""

    text: str
    origins: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the original that characters `start` to `end` of `text` (at least one) stand for."""
        return self.origins[start], self.origins[end - 1] + 1


def fold(text: str) -> FoldedText:
    """Fold NFC and NFD, full width, look-alike letters, quotes, hyphens and white space; drop invisible characters.

    Upper and lower case stay. White space becomes one space, or one line break if it has any.
    """
    characters: list[str] = []
    origins: list[int] = []
    for index, character in enumerate(text):
        for folded in _fold_character(character):
            if folded.isspace() and characters and characters[-1].isspace():
                characters[-1] = "\n" if "\n" in (folded, characters[-1]) else " "
            else:
                characters.append(folded)
                origins.append(index)
    return FoldedText("".join(characters), tuple(origins))


def fold_word(text: str) -> str:
    """The letters and digits of a text, folded and in lower case: the form in which names are compared."""
    return re.sub(r"[\W_]+", "", fold(text).text).casefold()


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    if character in "\n\r\x0b\x0c\x85\u2028\u2029":
        return "\n"
    if character.isspace():
        return " "
    parts = unicodedata.normalize("NFKD", SEVERAL_LETTERS.get(character, character))
    seen = (part for part in parts if unicodedata.category(part) not in UNSEEN)
    return "".join(PUNCTUATION.get(part, LOOK_ALIKES.get(part, part)) for part in seen)
