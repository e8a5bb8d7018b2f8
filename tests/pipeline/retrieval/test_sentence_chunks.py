"""Chunks end where sentences end, overlap by whole sentences, and keep to their sizes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.pipeline.retrieval.index import TOKEN, sentence_chunks, split_into_chunks
from audit.pipeline.retrieval.settings import RetrievalSettings
from tests.pipeline.retrieval.handbooks import ALDER

SIX = HybridSettings(chunk_tokens=12, overlap_tokens=6, min_chunk_tokens=4, max_chunk_tokens=16)


def chunks(text: str, settings: HybridSettings) -> list[str]:
    return [text[start:end] for start, end in sentence_chunks(text, settings)]


def test_a_chunk_repeats_the_last_sentences_of_the_one_before() -> None:
    # Four tokens with the full stop, and then two sentences of six
    text = "Wait three months. Then you may fly again. Carry all of your tablets."
    assert chunks(text, SIX) == [
        "Wait three months. Then you may fly again.",
        "Then you may fly again. Carry all of your tablets.",
    ]
    assert chunks(text, replace(SIX, overlap_tokens=0)) == [
        "Wait three months. Then you may fly again.",
        "Carry all of your tablets.",
    ]


def test_what_is_left_over_goes_into_the_last_chunk_where_it_is_too_short_for_one() -> None:
    assert chunks("Wait three months. Then you may fly again. Not now.", SIX) == [
        "Wait three months. Then you may fly again. Not now."
    ]


def test_a_sentence_longer_than_the_longest_chunk_is_cut() -> None:
    text = " ".join(f"word{number}" for number in range(40)) + "."
    assert [len(TOKEN.findall(chunk)) for chunk in chunks(text, replace(SIX, overlap_tokens=0))] == [16, 16, 9]


def test_a_text_without_a_word_has_no_chunk() -> None:
    assert chunks(" \n\n ", SIX) == []


@given(st.lists(st.integers(1, 40), min_size=1, max_size=25), st.integers(0, 11))
def test_chunks_cover_the_text_in_order_and_are_never_too_long(lengths: list[int], overlap: int) -> None:
    text = " ".join("A" + " b" * (length - 1) + "." for length in lengths)
    settings = replace(SIX, overlap_tokens=overlap)
    spans = list(sentence_chunks(text, settings))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    for (start, end), (following, last) in pairwise(spans):
        assert start < following <= end + 1 < last + 1, "each begins inside the one before or right behind it"
        assert len(TOKEN.findall(text[following:end])) <= overlap
    assert max(len(TOKEN.findall(text[start:end])) for start, end in spans) <= settings.max_chunk_tokens


def test_a_section_without_text_is_one_empty_chunk() -> None:
    parts = split_into_chunks(ALDER, RetrievalSettings(chunking="sentences"))
    assert [(chunk.section, chunk.start, chunk.end) for chunk in parts][-1] == (6, 0, 0)
    assert len(parts) == len(ALDER.sections)


def test_sizes_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="must be at least 1 and rise, not 100, 300 and 200"):
        HybridSettings(max_chunk_tokens=200)
    with pytest.raises(ValueError, match="cannot share 300 tokens"):
        HybridSettings(overlap_tokens=300)
    with pytest.raises(ValueError, match="chunking cannot be 'pages'; allowed: words, sentences"):
        RetrievalSettings(chunking="pages")
