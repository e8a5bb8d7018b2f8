"""The tokens that BM25 counts."""

from __future__ import annotations

import pytest

from audit.pipeline.retrieval.bm25 import Bm25, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kidneys, 15q13.3", ["kidney", "15q13", "3"]),
        ("The patient's medicines and transplanted organs", ["patient", "medicin", "transplant", "organ"]),
        ("What is it?", []),
        ("SpO₂ above 38² percent", ["spo2", "38", "percent"]),
    ],
)
def test_tokens_are_stems_without_stop_words(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_forms_of_a_word_that_a_list_of_endings_misses_share_a_stem() -> None:
    assert tokens("medicate medication medications") == ["medic"] * 3


def test_a_rarer_token_has_a_larger_idf_and_an_absent_one_the_largest() -> None:
    bm25 = Bm25.build([["fever"], ["fever", "rash"], ["rest"]])
    assert [bm25.document_frequency(token) for token in ("fever", "rash", "cough")] == [2, 1, 0]
    assert bm25.idf("fever") < bm25.idf("rash") < bm25.idf("cough")
