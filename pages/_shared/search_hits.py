"""The words of the search in the address, and their places in what a page shows. Every character is escaped before a tag."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from audit.text.search_hits import Hit, find_hits

PARAM = "words"
MAX_WORDS = 8
HIT = '<mark class="hit">{}</mark>'


def searched_words() -> tuple[str, ...]:
    """The words in the address, without repeats; () where nothing is searched for."""
    return words_of(st.query_params.get(PARAM, ""))


def words_of(typed: str) -> tuple[str, ...]:
    """The words of a search, as the filters of pairs take them."""
    return tuple(dict.fromkeys(typed.split()))[:MAX_WORDS]


def hits_html(text: str, words: Sequence[str]) -> str:
    """The escaped text with the words in `<mark>`."""
    return hits_in(text, words)(0, len(text))


def hits_in(text: str, words: Sequence[str]) -> Callable[[int, int], str]:
    """The same for characters `start` to `end` of the text, so that other marks can surround hits and end inside them."""
    hits = find_hits(text, words) if words else ()
    return lambda start, end: "".join(_fragments(text, hits, start, end))


def _fragments(text: str, hits: Sequence[Hit], start: int, end: int) -> list[str]:
    fragments, done = [], start
    for hit in hits:
        first, last = max(hit.start, start), min(hit.end, end)
        if first < last:
            fragments += [escape(text[done:first]), HIT.format(escape(text[first:last]))]
            done = last
    return [*fragments, escape(text[done:end])]
