"""What an answer may rest on: numbered passages, or the whole handbook, and what happens where it is too long."""

from __future__ import annotations

import re

import pytest

from audit.corpus.documents import Document, Section
from audit.generation.evidence import evidence_of
from audit.generation.relevance import Relevance
from tests.generation.leaflets import ALDER, SECTIONS, asked


def test_a_passage_stands_under_its_number_and_all_headings_over_it():
    evidence = evidence_of(asked("May I travel?", "s1"), Relevance(ALDER))
    assert evidence.shown.startswith("[1] Life at home > When you travel\nYou may travel")
    assert (evidence.whole, evidence.cut) == (False, None)


def test_a_reference_in_the_text_cannot_be_taken_for_the_number_of_a_passage():
    evidence = evidence_of(asked("What is a fever?", "s2"), Relevance(ALDER))
    assert re.findall(r"\[\d+\]", evidence.shown) == ["[1]"]
    assert "emergency (12)" in evidence.shown


@pytest.mark.parametrize("mode", ["full_document", "full_document_fallback"])
def test_a_whole_handbook_is_its_sections_in_reading_order_whatever_was_found_first(mode):
    evidence = evidence_of(asked("May I travel?", "s3", mode=mode), Relevance(ALDER))
    assert [passage.section_id for passage in evidence.passages] == ["s1", "s2", "s3"]
    assert evidence.whole


def test_a_handbook_too_long_for_the_model_is_cut_to_its_best_sections_and_says_so():
    one = asked("What may I eat?", "s2", mode="full_document")
    most = sum(len(section.title) + len(section.text) + 10 for section in SECTIONS[1:])
    evidence = evidence_of(one, Relevance(ALDER), most)
    assert [passage.section_id for passage in evidence.passages] == ["s2", "s3"]  # s2 was found, s3 speaks of eating
    assert evidence.cut == f"Too long for the model: 2 of 3 sections were given, the best that fit into {most:,} characters."
    assert not evidence.whole


def test_passages_without_room_are_left_out_from_the_last():
    evidence = evidence_of(asked("May I travel?", "s3", "s1"), Relevance(ALDER), 60)
    assert [passage.section_id for passage in evidence.passages] == ["s3"]
    assert "1 of 2 passages" in (evidence.cut or "")


def test_a_passage_without_its_text_is_taken_from_its_section():
    one = asked("May I travel?", "s1")
    one.retrieval["passages"][0].update(text=None, start=4, end=14)
    assert evidence_of(one, Relevance(ALDER)).passages[0].text == "may travel"


def test_sections_without_text_are_no_evidence():
    document = Document("h", "kidney", "Alder", "post", (Section("s0", "Part one", " "), *SECTIONS))
    evidence = evidence_of(asked("May I travel?", mode="full_document", document=document), Relevance(document))
    assert [passage.section_id for passage in evidence.passages] == ["s1", "s2", "s3"]
