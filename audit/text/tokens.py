"""Words of a text in a form in which two texts can be compared, and citation marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from audit.text.words import WORD

# Signs of degrees that PDF files have: a superscript zero, a ring, a composition circle
DEGREES = "\u2070\u02da\u2218"
# Of the signs of other scripts those in numbers: the decimal and thousands signs of Arabic, and wide signs
NUMBER_SIGNS = {"\u066b": ".", "\u066c": ",", "\u066a": "%", "\uff05": "%", "\uff0e": ".", "\uff0c": ","}
PLAIN_SIGNS = str.maketrans(
    dict.fromkeys("‐‑‒–—―−", "-") | {"’": "'", "\u2215": "/", "\u2044": "/"} | dict.fromkeys(DEGREES, "°") | NUMBER_SIGNS
)
# Digits of other scripts, and lowered ones in a name: SpO₂ is also written SpO2
OTHER_DIGIT = re.compile(r"[^\D0-9]|(?<=[^\W\d_])[₀-₉]")
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
MARK = re.compile(r"\[\s*(\d{1,4}(?:\s*(?:[,;]|-|–|and)\s*\d{1,4})*)\s*\]")
MARK_AND_SPACE_BEFORE = re.compile(r"(?<![ \t])[ \t]*+" + MARK.pattern)
NUMBER_OR_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+|\n+")
# In a wider range than this only the two ends count as cited: no answer cites 200 passages
MAX_RANGE = 20


class Word(NamedTuple):
    """One word: characters `start` to `end` of the text, and the stem by which it is compared ("pills" becomes "pill")."""

    start: int
    end: int
    stem: str


def plain_text(text: str) -> str:
    """`text` in lower case with plain hyphens, apostrophes and digits, character by character: positions stay the same."""
    lower = text.lower()
    if len(lower) != len(text):  # the lower case of a few capitals, such as "İ", has two characters
        lower = "".join(low if len(low := character.lower()) == 1 else character for character in text)
    plain = lower.translate(PLAIN_SIGNS)
    return plain if plain.isascii() else OTHER_DIGIT.sub(lambda digit: str(unicodedata.digit(digit[0])), plain)


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
    """`word` without the endings that do not change its meaning: plural, possessive, -ed and -ing."""
    # Two different words may share a stem. That is acceptable: a difference in the ending alone is never worth marking.
    base = word.removesuffix("'s")
    for ending, replacement in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        # At least three letters stay: "sing" and "bed" are no forms of shorter words
        if base.endswith(ending) and len(base) - len(ending) >= 3 and not base.endswith("ss"):
            base = base.removesuffix(ending) + replacement
            break
    return base[:-1] if base.endswith("e") and len(base) > 4 else base


# -- citations of numbered passages ------------------------------------------------------------------------------------


class CitedSpan(NamedTuple):
    """Characters `start` to `end` of a text, the mark included, and the numbers of the passages cited there."""

    start: int
    end: int
    numbers: tuple[int, ...]


def cited_numbers(text: str) -> list[int]:
    """The numbers that a text cites, each once and in order: 1, 3, 4, 5 for `first [1], then [3-5]`."""
    return list(dict.fromkeys(number for mark in MARK.finditer(text) for number in _numbers(mark[1])))


def without_citations(text: str) -> str:
    """The text without its marks and the spaces before them."""
    # Most texts have no mark, and looking for a bracket is faster than the pattern
    return MARK_AND_SPACE_BEFORE.sub("", text) if "[" in text else text


def cited_spans(text: str) -> list[CitedSpan]:
    """The text that each mark supports: its sentence up to the mark, or the part since the previous mark in the same sentence."""
    spans: list[CitedSpan] = []
    sentence_starts = [0, *(end.end() for end in SENTENCE_END.finditer(text))]
    for mark in MARK.finditer(text):
        before, covered = text[: mark.start()].rstrip(), spans[-1].end if spans else 0
        numbers = tuple(dict.fromkeys(_numbers(mark[1])))
        if spans and not before[covered:].strip(" ,;"):  # a mark right after another supports the same sentence
            previous = spans.pop()
            spans.append(CitedSpan(previous.start, mark.end(), tuple(dict.fromkeys((*previous.numbers, *numbers)))))
            continue
        start = max(covered, *(start for start in sentence_starts if start <= max(len(before) - 1, 0)))
        start += len(text[start:]) - len(text[start:].lstrip())
        spans.append(CitedSpan(start, mark.end(), numbers))
    return spans


def _numbers(inside_brackets: str) -> Iterator[int]:
    for first, last in NUMBER_OR_RANGE.findall(inside_brackets):
        low, high = int(first), int(last or first)
        yield from range(low, high + 1) if low <= high <= low + MAX_RANGE else (low, high)
