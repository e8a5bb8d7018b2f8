"""The words of a text in a form in which two texts can be compared: lower case, without stop words, stemmed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-") | {"’": "'", "\u2215": "/", "\u2044": "/"})
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_STOP = """
a about above after again all also although am an and any are as at be because been before being below between both
but by can could did do does doing down during each either else etc even ever every few for from further get had has
have having he her here hers him his how however i if in into is it its itself just later may me might more most much
must my near of off often on once only onto or other others our out over own per rather s same shall she should since
so some such t than that the their them then there these they this those though through thus to too under until up
upon us very via was we were what when where whether which while who whom whose why will with within would yes yet you
your yours
"""
STOP_WORDS = frozenset(_STOP.split())


class Word(NamedTuple):
    """One word: characters `start` to `end` of the text, and the stem by which it is compared ("pills" becomes "pill")."""

    start: int
    end: int
    stem: str


def plain_text(text: str) -> str:
    """`text` in lower case with plain hyphens and apostrophes, character by character: positions stay the same."""
    lower = text.lower()
    if len(lower) != len(text):  # the lower case of a few capitals, such as "İ", has two characters
        lower = "".join(low if len(low := character.lower()) == 1 else character for character in text)
    return lower.translate(DASHES)


@lru_cache(maxsize=4096)  # each answer is compared with all other answers to its question
def content_words(text: str) -> tuple[Word, ...]:
    """Every word of `text` that is not a stop word, in order."""
    matches = ((match.span(), match.group()) for match in WORD.finditer(plain_text(text)))
    return tuple(Word(*span, stem(word)) for span, word in matches if word not in STOP_WORDS)


def stems(text: str) -> tuple[str, ...]:
    """The stems of the content words of `text`, in order."""
    return tuple(word.stem for word in content_words(text))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """`word` without the endings that do not change its meaning: plural, possessive, -ed and -ing.

    Two different words may share a stem. That is the safe side here: a difference in the ending alone is never worth a mark.
    """
    base = word.removesuffix("'s")
    for ending, replacement in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if base.endswith(ending) and len(base) - len(ending) >= 3 and not base.endswith("ss"):
            base = base.removesuffix(ending) + replacement
            break
    return base[:-1] if base.endswith("e") and len(base) > 4 else base
