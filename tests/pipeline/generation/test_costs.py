"""What full handbooks cost against passages alone, by hand."""

from __future__ import annotations

import pytest

from audit.pipeline.answers.evidence import GroundedQuestion, evidence_of
from audit.pipeline.generation.costs import FullDocumentCost, full_document_cost, hybrid_passages, tokens_text, typical_passages
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.rules.answers.relevance import Relevance
from audit.text.documents import Document, Section


def handbook(*lengths: int) -> Document:
    sections = tuple(Section(f"s{number}", "", "x" * length) for number, length in enumerate(lengths))
    return Document("heart_alder_combined", "heart", "alder", "combined", sections=sections)


def test_passages_are_as_long_as_the_sections_but_no_longer_than_a_window() -> None:
    options = RetrievalSettings()  # 5 passages; sections of up to 480 words, which is 2,880 characters, in full
    assert typical_passages(handbook(*[500] * 20), options) == 5 * 500
    assert typical_passages(handbook(*[50_000] * 20), options) == 5 * 480 * 6
    assert typical_passages(handbook(*[500] * 3), options) == len(handbook(*[500] * 3).full_text)  # never more than there is
    assert typical_passages(handbook(), options) == 0
    # 5 chunks of 300 tokens, about 5.2 characters each
    assert hybrid_passages(handbook(*[50_000] * 20), options) == pytest.approx(5 * 300 * 5.2)
    assert hybrid_passages(handbook(500), options) == len(handbook(500).full_text)


def test_prompts_in_full_are_counted_with_what_passages_would_take() -> None:
    document = handbook(*[1_000] * 20)
    full, passages = {"mode": "full_document"}, {"mode": "passages", "passages": [{"section_id": "s1"}]}
    asked = [GroundedQuestion(Query("q1", "May I travel?", "heart"), document, record) for record in (full, full, passages)]
    evidence = [(question, evidence_of(question, Relevance(document))) for question in asked]
    cost = full_document_cost(evidence, RetrievalSettings())
    lengths = [len(given.in_prompt) for _, given in evidence]
    assert (cost.prompts, cost.full, cost.characters) == (3, 2, sum(lengths))
    assert cost.alone == 2 * 5 * 1_000 + lengths[2]
    text = cost.text(4.0)
    assert text.startswith(
        f"2 of 3 prompts contain their handbook in full: all evidence together is about {sum(lengths) / 4:,.0f}"
    )


def test_the_published_scale_takes_a_billion_tokens_in_full_and_a_tenth_of_it_as_passages() -> None:
    answers = 48_056
    cost = FullDocumentCost(answers, answers, answers * 80_000, answers * 5 * 1_500)
    assert "about 1.0 billion prompt tokens, passages alone would be about 0.1 billion" in cost.text(4.0)
    assert FullDocumentCost(answers, 0, answers * 80_000, answers * 80_000).text(4.0) == ""


@pytest.mark.parametrize(("tokens", "text"), [(999, "999"), (49_999, "49,999"), (60_000, "0.1 million"), (2.34e6, "2.3 million")])
def test_large_numbers_of_tokens_are_short(tokens: float, text: str) -> None:
    assert tokens_text(tokens) == text
