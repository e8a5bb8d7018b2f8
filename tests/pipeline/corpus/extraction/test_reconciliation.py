"""Letters in, letters out: what of a page is neither in the document nor known to be left out is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.layout import Block, LeftOut
from audit.pipeline.corpus.extraction.losses import letters_of
from audit.pipeline.corpus.extraction.reconciliation import PageSource, losses_of
from audit.text.documents import FRAME, STRUCK, UNREAD, Loss
from tests.support.pdfs import at, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")


def lost(text: str, *blocks: str, left_out: tuple[LeftOut, ...] = (), frames: tuple[LeftOut, ...] = ()) -> list[Loss]:
    kept = [Block("text", block, 3, 3) for block in blocks]
    return list(losses_of([PageSource(3, text, left_out, False)], kept, {3: frames}))


def test_a_sentence_that_is_in_no_block_is_named_with_its_page():
    assert lost("Rest today. Walk tomorrow.", "Rest today.") == [Loss(UNREAD, 12, 3, "Walk tomorrow.")]


def test_what_is_known_to_be_left_out_is_named_once_with_its_reason():
    found = lost(
        "Rest today. Alder Centre", "Rest today.", left_out=(LeftOut(STRUCK, "Run."),), frames=(LeftOut(FRAME, "Alder Centre"),)
    )
    assert found == [Loss(STRUCK, 3, 3, "Run."), Loss(FRAME, 11, 3, "Alder Centre")]


@pytest.mark.parametrize("kept", ["Rest to-\nday.", "Today: rest", "• Rest\n• today"])
def test_the_same_letters_in_another_form_are_no_loss(kept):
    assert lost("Rest today", kept) == []


def test_a_paragraph_over_two_pages_counts_for_each(tmp_path):
    block = Block("text", "Rest until noon.", 1, 2, later_pages=((2, 11),))
    pages = [PageSource(1, "Rest until", (), False), PageSource(2, "noon. Then walk.", (), False)]
    assert list(losses_of(pages, [block], {})) == [Loss(UNREAD, 8, 2, "Then walk.")]


WORDS = st.lists(
    st.sampled_from(["fever", "38.5", "call", "us", "at", "night", "20", "mg", "1/2", "cup", "°C", "no"]), min_size=1, max_size=5
)


@settings(max_examples=30, deadline=None)
@given(lines=st.lists(WORDS, min_size=1, max_size=12), gaps=st.lists(st.sampled_from([12, 14, 30, 60]), min_size=12, max_size=12))
def test_every_letter_of_a_page_is_in_the_document_or_named(tmp_path_factory, lines, gaps):
    heights = [140 + sum(gaps[:number]) for number in range(len(lines))]
    texts = [at(" ".join(words), 60, height) for words, height in zip(lines, heights, strict=True)]
    document = extract(
        write_pdf(Path(tmp_path_factory.mktemp("page")) / "book.pdf", [[*texts, at("Ask the nurse.", 60, 800)]]), IDENTITY
    )
    there = letters_of(" ".join(words for words, *_ in texts) + "Ask the nurse.")
    missing = there - letters_of(document.full_text)
    assert sum(missing.values()) <= sum(loss.letters for loss in document.lost)
