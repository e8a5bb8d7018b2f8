"""Which sentences of an answer are supported by which passages."""

from __future__ import annotations

import pytest

from audit.text.tokens import cited_numbers, cited_spans, without_citations


def parts(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(text[part.start : part.end], part.numbers) for part in cited_spans(text)]


def test_each_number_is_listed_once_and_a_range_is_expanded() -> None:
    assert cited_numbers("First [1], then [3-5], and again [1, 7].") == [1, 3, 4, 5, 7]
    assert cited_numbers("Take 5 mg [sic] in 2019 [a].") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wait a year. Then ask us [2]. Go slowly.", [("Then ask us [2]", (2,))]),
        ("Wait a year. [1] Then ask us. [2]", [("Wait a year. [1]", (1,)), ("Then ask us. [2]", (2,))]),
        ("Wait a year [1][3].", [("Wait a year [1][3]", (1, 3))]),
        ("Wait a year [1], and call first [2].", [("Wait a year [1]", (1,)), (", and call first [2]", (2,))]),
        ("Ask. Line one\nline two [1]", [("line two [1]", (1,))]),
        ("[1] stands alone.", [("[1]", (1,))]),
        ("No mark.", []),
    ],
)
def test_a_mark_supports_the_sentence_before_it(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert parts(text) == expected


def test_a_text_without_its_marks_reads_normally():
    assert without_citations("Wait 3 months [1]. [2] Call us [3-5, 7],\nand rest [see a nurse].") == (
        "Wait 3 months. Call us,\nand rest [see a nurse]."
    )
