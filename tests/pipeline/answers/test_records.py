"""The citations of an answer, and whether the cited passages were given."""

from __future__ import annotations

import pytest

from audit.pipeline.answers.citations import Quote, citation_records
from audit.pipeline.answers.evidence import evidence_of
from audit.text.documents import Document, Section
from audit.text.tokens import cited_numbers
from tests.pipeline.generation.leaflets import ALDER, asked


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Wait three months [1].", [1]),
        ("Wait [2] [1], then go [2].", [2, 1]),
        ("Wait [1, 3; 4].", [1, 3, 4]),
        ("Wait [2-4] or [6–7].", [2, 3, 4, 6, 7]),
        ("Wait [1-900].", [1, 900]),
        ("Wait (1), [a], [see 2] or [12345].", []),
    ],
)
def test_numbers_in_brackets_are_citations(text, numbers):
    assert cited_numbers(text) == numbers


def test_a_citation_of_a_passage_that_was_not_given_is_flagged():
    evidence = evidence_of(asked("May I travel?", "s1", "s3"))
    assert citation_records("Wait [2]. Fly [3]. Go [0].", evidence, ALDER) == [
        {"passage": 2, "section_id": "s3", "known": True},
        {"passage": 3, "section_id": None, "known": False},
        {"passage": 0, "section_id": None, "known": False},
    ]


LISTED = (
    "Avoid the following:\n• Raw fish.\n• Grapefruit in any form.\n\n"
    "You may drink 2 cups of coffee a day. You may drink 3 cups of tea a day."
)
COFFEE = LISTED.index("You may drink 2")
EATING = Section("s1", "Eating", LISTED, pages=(4, 5), page_starts=((4, 0), (5, COFFEE)))
BOOK = Document("h", "kidney", "Alder", "post", (EATING, Section("s2", "No smoking", "", pages=(9, 9))))


@pytest.mark.parametrize(
    ("answer", "quote", "page"),
    [
        ("Leave out grapefruit [1].", "Grapefruit in any form.", 4),
        ("Three cups of tea are fine: 3 a day [1].", "You may drink 3 cups of tea a day.", 5),
        ("Drink at most 2 cups a day [1].", "You may drink 2 cups of coffee a day.", 5),
    ],
)
def test_a_models_citation_is_the_statement_that_shares_most_words_with_its_sentence(answer, quote, page):
    evidence = evidence_of(asked("What may I eat?", "s1", document=BOOK))
    (record,) = citation_records(answer, evidence, BOOK)
    assert (record["quote"], record["page"]) == (quote, page)
    assert LISTED[record["quote_start"] : record["quote_end"]] == quote


def test_a_sentence_that_shares_no_word_with_its_passage_cites_no_statement():
    evidence = evidence_of(asked("What may I eat?", "s1", document=BOOK))
    assert citation_records("Sleep well [1].", evidence, BOOK) == [{"passage": 1, "section_id": "s1", "known": True}]


def test_what_a_generator_quoted_is_cited_statement_by_statement_and_a_heading_without_a_position():
    evidence = evidence_of(asked("May I smoke?", "s1", "s2", document=BOOK))
    fish = LISTED.index("Raw")
    quotes = [Quote(1, fish, fish + 9), Quote(1, COFFEE, COFFEE + 7), Quote(2, 0, 0)]
    records = citation_records("Raw fish. You may [1]. No smoking [2].", evidence, BOOK, quotes)
    assert [(record["passage"], record["quote"], record["page"]) for record in records] == [
        (1, "Raw fish.", 4), (1, "You may", 5), (2, "No smoking", 9)
    ]  # fmt: skip
    assert records[2]["quote_start"] is None
