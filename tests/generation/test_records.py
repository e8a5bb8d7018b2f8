"""The citations of an answer, and whether the cited passages were given."""

from __future__ import annotations

import pytest

from audit.generation.evidence import Relevance, evidence_of
from audit.generation.files import citation_records
from audit.text.tokens import cited_numbers
from tests.generation.leaflets import ALDER, asked


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
    evidence = evidence_of(asked("May I travel?", "s1", "s3"), Relevance(ALDER))
    assert citation_records("Wait [2]. Fly [3]. Go [0].", evidence) == [
        {"passage": 2, "section_id": "s3", "known": True},
        {"passage": 3, "section_id": None, "known": False},
        {"passage": 0, "section_id": None, "known": False},
    ]
