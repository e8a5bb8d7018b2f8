"""The generator without a model: what it quotes, in which state, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from audit.errors import AuditError
from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.generation.passage_generator import quoted_answers
from audit.pipeline.retrieval.closest import ClosestPassages
from audit.pipeline.retrieval.found import MINILM, WORDS, thresholds
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import ClosestStrategy
from audit.text.documents import Document, Section
from audit.vocabulary import PASSAGES_GENERATOR
from tests.pipeline.generation.leaflets import ALDER, near

LIMITS = thresholds(WORDS).of(ALDER)
STATED, PERHAPS, NOT_FOUND = LIMITS.stated, LIMITS.perhaps, LIMITS.perhaps - 0.001


def answered(retrieval: dict[str, Any], document: Document = ALDER) -> dict[str, Any]:
    (record,) = quoted_answers([GroundedQuestion(Query("q1", "May I travel abroad?", "kidney"), document, retrieval)])
    return record


@pytest.mark.parametrize(
    ("score", "found", "absent", "method"),
    [
        (STATED, "stated", False, None),
        (STATED - 0.001, "perhaps", False, None),
        (PERHAPS, "perhaps", False, None),
        (NOT_FOUND, "not found", True, "threshold"),
    ],
)
def test_the_score_of_the_closest_passage_decides_the_state(score, found, absent, method):
    record = answered(near(ALDER, score))
    assert (record["found"], record["absent"], record["absence_method"]) == (found, absent, method)
    assert record["usage"] == {"generator": "closest passages, no model", "score": score}
    assert record["answer"].startswith("NOT ADDRESSED: " if absent else "Life at home > When you travel:\nYou may travel abroad")


def test_two_passages_are_quoted_word_for_word_each_with_its_number():
    record = answered(near(ALDER, STATED, PERHAPS, NOT_FOUND))
    assert record["answer"] == (
        f"Life at home > When you travel:\n{ALDER.sections[0].text} [1]\n\n"
        # A number in brackets of the handbook's own is no citation
        "Fever:\nA fever above 38 degrees is an emergency (12). Call the clinic at once. [2]"
    )
    assert [(one["passage"], one["quote"], one["quote_start"]) for one in record["retrieval"]["citations"]] == [
        (1, ALDER.sections[0].text, 0), (2, ALDER.sections[1].text, 0)
    ]  # fmt: skip


def test_the_nearest_passages_of_a_question_that_was_not_found_stay_in_the_record():
    retrieval = answered(near(ALDER, NOT_FOUND, NOT_FOUND - 0.1))["retrieval"]
    assert [(passage["section_id"], passage["score"]) for passage in retrieval["passages"]] == [
        ("s1", NOT_FOUND), ("s2", NOT_FOUND - 0.1)
    ]  # fmt: skip
    assert "text" not in retrieval["passages"][0]
    assert retrieval["citations"] == []


def test_a_handbook_without_a_passage_does_not_address_the_question():
    record = answered(near(ALDER))
    assert (record["found"], record["absent"], record["usage"]) == (
        "not found",
        True,
        {"generator": PASSAGES_GENERATOR},
    )


FRUIT = Section("s1", "Fruits", "Fresh:\n• bananas\n• oranges", ("Kidney diet", "Foods to avoid"), pages=(7, 7))


def test_a_bare_item_keeps_the_lead_and_the_headings_that_turn_its_meaning():
    document = Document("kidney_oak_post", "kidney", "Oak", "post", (FRUIT,))
    strategy = ClosestStrategy(ClosestPassages(document), RetrievalSettings())
    retrieval = strategy.retrieve(Query("q1", "May I eat bananas?")).record()
    retrieval["passages"][0]["score"] = STATED
    record = answered(retrieval, document)
    assert record["answer"] == "Foods to avoid > Fruits:\nFresh:\n• bananas\n• oranges [1]"
    (citation,) = record["retrieval"]["citations"]
    assert (citation["quote"], citation["page"]) == ("• bananas\n• oranges", 7)
    assert FRUIT.text[citation["quote_start"] : citation["quote_end"]] == citation["quote"]


def test_passages_of_another_strategy_have_no_state_and_are_refused():
    with pytest.raises(AuditError, match="found by 'bm25', and only the scores of 'closest' say"):
        answered(near(ALDER, STATED, strategy="bm25"))


def test_scores_of_an_encoder_that_nobody_measured_are_refused():
    with pytest.raises(AuditError, match=r"compared by 'acme/large', and it was never measured what its scores mean"):
        answered(near(ALDER, STATED, encoder="acme/large"))


def test_each_way_to_compare_has_thresholds_of_its_own():
    score = thresholds(MINILM).perhaps
    found = {encoder: answered(near(ALDER, score, encoder=encoder))["found"] for encoder in ("words", "all-MiniLM-L6-v2")}
    assert found == {"words": LIMITS.found(score), "all-MiniLM-L6-v2": "perhaps"}


def test_answers_come_in_the_order_of_the_questions_and_handbooks_are_not_mixed():
    documents = [ALDER, replace(ALDER, handbook_id="kidney_birch_post"), ALDER]
    asked = [GroundedQuestion(Query("q1", "May I travel abroad?"), document, near(document, STATED)) for document in documents]
    assert [record["handbook_id"] for record in quoted_answers(asked)] == [document.handbook_id for document in documents]
