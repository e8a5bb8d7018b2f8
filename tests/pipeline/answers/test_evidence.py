"""What an answer may be based on: numbered passages or the full handbook, and what happens if it is too long."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from audit.pipeline.answers.evidence import evidence_of, meets, question_handbook_pairs
from audit.text.documents import Document, Section
from tests.pipeline.generation.leaflets import FEVER, FOOD, SECTIONS, asked


def test_a_passage_is_shown_with_its_number_and_its_headings():
    evidence = evidence_of(asked("May I travel?", "s1"))
    assert evidence.in_prompt.startswith("[1] Life at home > When you travel\nYou may travel")
    assert (evidence.full, evidence.cut) == (False, None)


def test_a_passage_is_shown_with_its_pages():
    section = Section("s1", "Fever", FEVER + " " + FOOD, pages=(4, 5), page_starts=((4, 0), (5, len(FEVER) + 1)))
    document = Document("h", "kidney", "Alder", "post", (section,))
    question = asked("Is a fever an emergency?", "s1", document=document)
    assert evidence_of(question).in_prompt.startswith("[1] Fever (pages 4 to 5)\n")
    question.retrieval["passages"][0].update(text=None, start=len(FEVER) + 1, end=len(section.text))
    assert evidence_of(question).in_prompt == f"[1] Fever (page 5)\n{FOOD}"


def test_a_reference_in_the_text_cannot_be_mistaken_for_the_number_of_a_passage():
    evidence = evidence_of(asked("What is a fever?", "s2"))
    assert re.findall(r"\[\d+\]", evidence.in_prompt) == ["[1]"]
    assert "emergency (12)" in evidence.in_prompt


@pytest.mark.parametrize("mode", ["full_document", "full_document_fallback"])
def test_a_full_handbook_is_its_sections_in_reading_order(mode):
    evidence = evidence_of(asked("May I travel?", "s3", mode=mode))
    assert [passage.section_id for passage in evidence.passages] == ["s1", "s2", "s3"]
    assert evidence.full


def test_a_handbook_too_long_for_the_model_is_cut_to_its_best_sections_with_a_note():
    one = asked("What may I eat?", "s2", mode="full_document")
    most = sum(len(section.title) + len(section.text) + 25 for section in SECTIONS[1:])
    evidence = evidence_of(one, most)
    assert [passage.section_id for passage in evidence.passages] == [
        "s2",
        "s3",
    ]  # s2 was found; s1 does not fit
    assert evidence.cut == f"Too long for the model: 2 of 3 sections were given, the best that fit into {most:,} characters."
    assert not evidence.full


def test_the_last_passages_are_left_out_if_there_is_no_room():
    evidence = evidence_of(asked("May I travel?", "s3", "s1"), 60)
    assert [passage.section_id for passage in evidence.passages] == ["s3"]
    assert "1 of 2 passages" in (evidence.cut or "")


def test_a_passage_without_its_text_is_taken_from_its_section():
    one = asked("May I travel?", "s1")
    one.retrieval["passages"][0].update(text=None, start=4, end=14)
    assert evidence_of(one).passages[0].text == "may travel"


def test_a_passage_that_begins_in_the_middle_of_a_list_is_shown_with_the_lead():
    text = "Never smoke:\n• cigarettes\n• cigars"
    document = Document("h", "kidney", "Alder", "post", (Section("s1", "Habits", text),))
    one = asked("May I smoke?", "s1", document=document)
    one.retrieval["passages"][0].update(text=None, start=text.index("• cigars"), end=len(text))
    assert evidence_of(one).in_prompt == "[1] Habits\nNever smoke:\n• cigars"


def test_sections_without_text_are_not_evidence():
    document = Document("h", "kidney", "Alder", "post", (Section("s0", "Part one", " "), *SECTIONS))
    evidence = evidence_of(asked("May I travel?", mode="full_document", document=document))
    assert [passage.section_id for passage in evidence.passages] == ["s1", "s2", "s3"]


@pytest.mark.parametrize(
    ("question", "handbook", "met"),
    [
        ("kidney", "kidney", True),
        ("kidney", "liver", False),
        ("general", "liver", True),
        ("kidney", "general", True),
        ("Kidney ", "kidney", True),
    ],
)
def test_a_question_is_asked_of_the_handbooks_of_its_organ_and_of_general_ones(question, handbook, met):
    assert meets(SimpleNamespace(organ=question), SimpleNamespace(organ=handbook)) is met


def test_pairs_come_handbook_by_handbook_so_that_a_handbook_is_read_once():
    questions = [SimpleNamespace(id=n, organ=organ) for n, organ in enumerate(("kidney", "general", "liver"))]
    handbooks = [SimpleNamespace(id=organ, organ=organ) for organ in ("liver", "kidney", "general")]
    pairs = [(question.id, handbook.id) for question, handbook in question_handbook_pairs(iter(questions), iter(handbooks))]
    assert pairs == [
        (1, "liver"), (2, "liver"), (0, "kidney"), (1, "kidney"), (0, "general"), (1, "general"), (2, "general"),
    ]  # fmt: skip


def test_a_small_context_gets_only_the_best_passages_and_the_best_next_to_the_question():
    evidence = evidence_of(asked("May I travel?", "s3", "s1"), small=True)
    assert [(passage.number, passage.section_id) for passage in evidence.passages] == [(1, "s1"), (2, "s3")]
    assert evidence.best_last
    only = evidence_of(asked("May I travel?", "s3", "s1"), 60, small=True)
    assert [(passage.number, passage.section_id) for passage in only.passages] == [(1, "s3")]
    assert "1 of 2 passages" in (only.cut or "")


def test_a_small_context_gets_no_handbook_in_full_but_the_sections_that_were_found():
    one = asked("What may I eat?", "s2", "s3", mode="full_document")
    evidence = evidence_of(one, 10_000, small=True)
    assert [passage.section_id for passage in evidence.passages] == ["s3", "s2"]
    assert not evidence.full
    assert "2 of 3 sections were given" in (evidence.cut or "")
    nothing_ranked = evidence_of(asked("What may I eat?", mode="full_document"), 10_000, small=True)
    assert nothing_ranked.full
