"""The words of the search in the address, and their places in what a page shows. Every character is escaped before a tag."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from markupsafe import Markup

from audit.text.search_hits import SearchHit, find_hits

PARAM = "words"
MAX_WORDS = 8
HIT = Markup('<mark class="hit">{}</mark>')


def searched_words() -> tuple[str, ...]:
    """The words in the address, without repeats; () where nothing is searched for."""
    return words_of(st.query_params.get(PARAM, ""))


def words_of(typed: str) -> tuple[str, ...]:
    """The words of a search, as the filters of pairs take them."""
    return tuple(dict.fromkeys(typed.split()))[:MAX_WORDS]


def hits_html(text: str, words: Sequence[str]) -> Markup:
    """The escaped text with the words in `<mark>`."""
    return hits_in(text, words)(0, len(text))


def hits_in(text: str, words: Sequence[str]) -> Callable[[int, int], Markup]:
    """The same for characters `start` to `end` of the text, so that other marks can surround hits and end inside them."""
    hits = find_hits(text, words) if words else ()
    return lambda start, end: Markup().join(_fragments(text, hits, start, end))


def _fragments(text: str, hits: Sequence[SearchHit], start: int, end: int) -> list[str]:
    fragments, done = list[str](), start
    for hit in hits:
        first, last = max(hit.start, start), min(hit.end, end)
        if first < last:
            fragments += [text[done:first], HIT.format(text[first:last])]
            done = last
    return [*fragments, text[done:end]]
