"""The ordinary words of a text, without those that carry no meaning of their own."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from audit.text.grammar import plain_text

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
    """One word of a text: where it stands, and the stem by which it is compared ("pills" is "pill")."""

    start: int
    end: int
    stem: str


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[Word, ...]:
    """Every word of `text` but stop words, in order."""
    found = ((match.span(), match.group()) for match in WORD.finditer(plain_text(text)))
    return tuple(Word(*span, stem(word)) for span, word in found if word not in STOP_WORDS)


def stems(text: str) -> tuple[str, ...]:
    """The stems of the words of `text`, in order."""
    return tuple(word.stem for word in words(text))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without the endings that change no meaning: plural, possessive, -ed and -ing.

    Two different words may share a stem; a difference in the ending alone is never worth a mark.
    """
    base = word.removesuffix("'s")
    for ending, rest in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if base.endswith(ending) and len(base) - len(ending) >= 3 and not base.endswith("ss"):
            base = base.removesuffix(ending) + rest
            break
    return base[:-1] if base.endswith("e") and len(base) > 4 else base
