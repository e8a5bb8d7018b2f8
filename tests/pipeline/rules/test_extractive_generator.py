"""The generator without a model: which sentences it takes, in which order, and when it answers NOT ADDRESSED."""

from __future__ import annotations

import numpy as np
import pytest

from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.rules.answers.extractive_generator import ExtractiveSettings, extractive_answers
from audit.text.documents import Document, Section
from audit.vocabulary import EXTRACTIVE
from tests.pipeline.generation.leaflets import ALDER, BIRCH, TRAVEL, asked


def answered(text: str, *section_ids: str, document: Document = ALDER, **settings):
    (record,) = extractive_answers([asked(text, *section_ids, document=document)], ExtractiveSettings(**settings))
    return record


def test_the_sentence_that_answers_is_taken_with_its_citation():
    record = answered("How long after surgery may I travel abroad?", "s3", "s1", sentences=1)
    assert record["answer"] == "You may travel abroad three months after surgery. [2]"
    (citation,) = record["retrieval"]["citations"]
    assert {"passage": 2, "section_id": "s1", "known": True}.items() <= citation.items()
    assert TRAVEL[citation["quote_start"] : citation["quote_end"]] == citation["quote"] == TRAVEL.split(" Carry")[0]
    assert (record["absent"], record["absence_method"], record["unread_reason"]) == (False, None, None)
    assert "no model" in record["usage"]["generator"]


def test_a_question_that_the_passages_do_not_cover_is_absent_and_keeps_its_score():
    record = answered("May I keep a parrot?", "s1", "s2")
    assert record["answer"].startswith("NOT ADDRESSED")
    assert (record["absent"], record["absence_method"]) == (True, "threshold")
    assert record["usage"]["score"] == 0
    assert record["usage"]["threshold"] == ExtractiveSettings().threshold


def test_without_passages_it_is_absent():
    assert answered("May I travel?")["absent"] is True


def test_the_threshold_decides():
    asked_for = "May I travel abroad with a parrot?"  # travel and abroad are there, the parrot is not
    assert answered(asked_for, "s1", threshold=0.9)["absent"] is True
    assert answered(asked_for, "s1", threshold=0.3)["absent"] is False


def test_sentences_are_in_reading_order_whatever_their_score():
    record = answered("May I eat fish, and travel abroad?", "s3", "s1", near=0.0, sentences=9, threshold=0.1)
    numbers = [citation["section_id"] for citation in record["retrieval"]["citations"]]
    assert list(dict.fromkeys(numbers)) == ["s1", "s3"]


def test_a_sentence_with_a_number_wins_if_the_question_asks_for_one():
    text = "The biopsy is taken in the morning. You stay in bed for six hours after the biopsy. The biopsy hurts little."
    document = Document("h", "kidney", "Alder", "post", (Section("s1", "Biopsy", text),))
    assert "six hours" in answered("How long do I stay after a biopsy?", "s1", document=document, sentences=1)["answer"]


def test_of_equally_good_sentences_the_first_is_taken():
    text = "Fever is reported at once. The ward has four beds. The garden is open. Fever is reported at noon."
    document = Document("h", "kidney", "Alder", "post", (Section("s1", "The ward", text),))
    assert "at once" in answered("When is fever reported?", "s1", document=document, sentences=1)["answer"]


@pytest.mark.parametrize(("settings", "most"), [({"sentences": 2, "near": 0.0}, 2), ({"words": 7, "near": 0.0}, 1)])
def test_an_answer_has_no_more_sentences_and_words_than_it_may(settings, most):
    record = answered("May I travel abroad, eat fish or have a fever?", "s1", "s2", "s3", threshold=0.1, **settings)
    assert 1 <= record["answer"].count(" [") <= most


def test_a_reference_inside_a_sentence_is_not_a_citation():
    record = answered("What is a fever emergency?", "s2", sentences=1)
    assert record["answer"] == "A fever above 38 degrees is an emergency (12). [1]"


def test_the_same_question_gets_the_same_answer_and_handbooks_are_not_mixed():
    questions = [asked("May I travel abroad?", "s1", document=document) for document in (ALDER, BIRCH, ALDER)]
    first, second = (list(extractive_answers(questions)) for _ in range(2))
    assert [record["answer"] for record in first] == [record["answer"] for record in second]
    assert [record["handbook_id"] for record in first] == ["kidney_alder_post", "liver_birch_post", "kidney_alder_post"]


def test_of_a_full_handbook_the_record_keeps_the_cited_sections():
    settings = ExtractiveSettings(sentences=1, threshold=0.1)
    (record,) = extractive_answers([asked("What may I eat?", mode="full_document")], settings)
    assert [passage["section_id"] for passage in record["retrieval"]["passages"]] == ["s3"]
    assert record["retrieval"]["passages"][0]["passage"] == record["retrieval"]["citations"][0]["passage"] == 3
    assert record["retrieval"]["sections"] == ["Eating"]


def test_the_texts_of_passages_are_not_repeated_in_the_record():
    assert "text" not in answered("May I travel?", "s1")["retrieval"]["passages"][0]


def test_its_name_says_that_no_model_is_asked():
    assert EXTRACTIVE.startswith("extractive")


def stand_in(*meant: str) -> Encoder:
    """An encoder for which a question means the same as every text with one of these words, and nothing else."""

    def encode(phrases, _progress):
        alike = [phrase.endswith("?") or any(word in phrase for word in meant) for phrase in phrases]
        return np.array([[1.0, 0.0] if same else [0.0, 1.0] for same in alike], dtype=np.float32)

    return Encoder("stand-in", "0" * 64, encode)


LIFTING = Document(
    "h", "kidney", "Alder", "post",
    (Section("s1", "Lifting", "You may lift a pen after two days. You may lift a heavy bag after two months."),),
)  # fmt: skip


@pytest.mark.parametrize(("meant", "expected"), [("pen", "two days"), ("bag", "two months")])
def test_of_statements_with_the_same_words_the_sentence_model_decides(meant: str, expected: str):
    (record,) = extractive_answers([asked("How soon may I lift?", "s1", document=LIFTING)], encoder=stand_in(meant))
    assert expected in record["answer"]
    assert record["answer"].count("You may") == 1
    assert record["usage"]["encoder"] == "stand-in"


def test_a_statement_that_means_something_else_is_no_answer_to_the_sentence_model():
    question = asked("How soon may I lift?", "s1", document=LIFTING)
    (by_words,) = extractive_answers([question])
    (by_meaning,) = extractive_answers([question], encoder=stand_in())
    assert (by_words["absent"], by_meaning["absent"]) == (False, True)
    assert by_words["usage"]["encoder"] == "words"


def test_the_sentence_model_finds_a_statement_that_has_none_of_the_question_s_words():
    text = "Keep your refrigerator between 33 and 40 degrees F. Wash your hands with soap."
    question = asked("At which setting does a fridge belong?", "s1", document=one_section("Kitchen", text))
    (by_words,) = extractive_answers([question], encoder=stand_in())
    (by_meaning,) = extractive_answers([question], encoder=stand_in("refrigerator"))
    assert by_words["absent"]
    assert by_meaning["answer"] == "Keep your refrigerator between 33 and 40 degrees F. [1]"


def test_a_statement_of_few_words_is_compared_under_its_heading():
    texts: list[str] = []

    def encode(phrases, _progress):
        texts.extend(phrases)
        return np.ones((len(phrases), 1), dtype=np.float32)

    text = "Blood is drawn twice a day and sent to the laboratory of the hospital. For six weeks."
    question = asked("How long is blood drawn?", "s1", document=one_section("Blood tests", text))
    list(extractive_answers([question, question], encoder=Encoder("all alike", "0" * 64, encode)))
    assert "Blood tests: For six weeks." in texts
    assert "Blood is drawn twice a day and sent to the laboratory of the hospital." in texts
    # Each statement once, the question each time
    assert sorted(texts) == sorted(["How long is blood drawn?", *set(texts)])


def one_section(heading: str, text: str) -> Document:
    return Document("h", "kidney", "Alder", "post", (Section("s1", heading, text),))
