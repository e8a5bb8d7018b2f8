"""How readable the text of a page is, and which of two libraries read it better.

PDF libraries differ in fonts without a map and in the spaces that they guess, so a page that one of them reads badly may be
read well by the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from audit.pipeline.corpus.extraction.repair import PRIVATE, UNKNOWN

# A page below this is read again, and the other reading is taken if it is better by the margin
MIN_QUALITY, MARGIN = 0.75, 0.05
# Letters; longer words are glued ones, addresses apart
MAX_WORD = 24
# Fewer words tell nothing
MIN_WORDS = 20
# A name or a term may well be on one page only; a page of nothing else is not read
NEW_WORD = 0.6
# Fewer words on several pages are too few to expect any other page's among them
MIN_KNOWN = 300
WORD = re.compile(r"[^\W\d_]{2,}")
TOKEN = re.compile(r"\S+")
ADDRESS = re.compile(r"https?:|www\.|@|/|\.\w{2,4}$", re.IGNORECASE)


def better_readings(texts: Sequence[str], read_again: Callable[[int], str]) -> list[int]:
    """The indices of the pages that read better when they are read again; only badly read ones are.

    texts       the text of each page
    read_again  the index of a page, from 0 -> its text as another library reads it
    """
    known = _words_on_several(texts)
    qualities = ((index, readable_share(text, known)) for index, text in enumerate(texts))
    bad = [(index, quality) for index, quality in qualities if quality < MIN_QUALITY]
    return [index for index, quality in bad if readable_share(read_again(index), known) > quality + MARGIN]


def readable_share(text: str, known: frozenset[str]) -> float:
    """The share of a page's letters in readable words: not over-long, without unknown glyphs, half weight where not known.

    known  words of other pages; without any, nothing is held against a word for being new. 1 where there are few words
    """
    tokens = TOKEN.findall(text)
    if len(tokens) < MIN_WORDS:
        return 1.0
    return sum(len(token) * _weight(token, known) for token in tokens) / sum(map(len, tokens))


def _weight(token: str, known: frozenset[str]) -> float:
    if UNKNOWN in token or PRIVATE.search(token):
        return 0.0
    words = WORD.findall(token)
    if any(len(word) > MAX_WORD for word in words) and not ADDRESS.search(token):
        return 0.0
    return NEW_WORD if known and words and not any(word.casefold() in known for word in words) else 1.0


def _words_on_several(texts: Iterable[str]) -> frozenset[str]:
    pages = Counter(word for text in texts for word in {word.casefold() for word in WORD.findall(text)})
    known = frozenset(word for word, count in pages.items() if count > 1)
    return known if len(known) >= MIN_KNOWN else frozenset()
