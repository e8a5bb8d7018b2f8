"""The page Answer: the passages behind an answer, what it cites, how it was found, and the sentence where that is not known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from audit.release.write import write_jsonl
from audit.store.runs import Run
from tests.pages.conftest import HANDBOOKS, TABLE, Open, words_on
from tests.store.test_sections import change_answer
from tests.support.directions import without_directions
from tests.support.loading import load
from tests.support.tiny import release_from

SECTIONS = [
    {"handbook_id": "a", "section_id": "s1", "heading": "Fruit", "above": ["Eating"], "text": "Wash fruit. Peel it too.",
     "pages": [4, 5], "url": "https://x.example/fruit"},
    {"handbook_id": "a", "section_id": "s2", "heading": "<b>Salt</b>", "above": [], "text": "Little <script>salt</script>."},
    {"handbook_id": "b", "section_id": "s1", "heading": "Fruit", "above": [], "text": "Do not wash fruit."},
]  # fmt: skip
RETRIEVAL = {
    "strategy": "hero", "mode": "full_document_fallback", "reason": "too little was found", "queries": ["washing fruit"],
    "passages": [
        {"passage": 1, "section_id": "s1", "start": 0, "end": 11, "origin": "hit", "score": 0.5,
         "retrievers": {"dense": {"rank": 3, "score": 0.71}}},
        {"passage": 2, "section_id": "s2", "start": 0, "end": 6, "origin": "neighbour"},
        {"passage": 3, "section_id": "s9", "start": 0, "end": 6},
        {"passage": 4, "section_id": "s1", "start": 3, "end": 999},
    ],
    "layers": [
        {"layer": "dense", "kept": 20, "top": [{"section_id": "s1", "score": 0.71}, {"section_id": "s7"}]},
        {"layer": "reranked", "skipped": "no reranker was given"},
    ],
    "seconds": 0.25,
}  # fmt: skip

Write = Callable[..., Run]


@pytest.fixture
def write(tmp_path: Path, data_dir: Path) -> Write:
    """Load a run in which handbook a answers q1 as given, with these sections."""

    def writer(sections: list[dict[str, Any]] | None = SECTIONS, manifest: dict[str, Any] | None = None, **answer: Any) -> Run:
        folder = release_from(tmp_path / "releases", TABLE, HANDBOOKS, **(manifest or {}))
        if sections is not None:
            write_jsonl(folder / "sections.jsonl", sections)
        change_answer(folder, "q1", "a", **answer)
        return load(folder, data_dir).run

    return writer


def html_on(at: AppTest) -> str:
    shown = (str(element.value if hasattr(element, "value") else element.proto.body) for element in at.get("html"))
    return without_directions("\n".join(shown))


def opened(open_page: Open, **params: str) -> str:
    at = open_page("answer", question="q1", handbook="a", **params)
    assert not at.exception
    assert not at.error
    return html_on(at)


def test_a_passage_is_marked_inside_its_section_with_pages_and_source(write: Write, open_page: Open) -> None:
    write(answer="Wash it [1]. Really.", retrieval=RETRIEVAL)
    html = opened(open_page)
    assert "Eating &gt; Fruit" in html
    assert "pages 4 to 5" in html
    assert 'href="https://x.example/fruit#page=4"' in html
    assert '<mark>Wash fruit.</mark><span class="around"> Peel it too.</span>' in html
    assert "found by the search, by meaning at rank 3" in html


def test_a_cited_sentence_leads_to_its_passage_and_what_was_not_given_is_flagged(write: Write, open_page: Open) -> None:
    write(answer="Wash it [1]. Then dry it [7].", retrieval=RETRIEVAL)
    html = opened(open_page)
    assert 'href="#a-1"' in html
    assert 'id="a-1"' in html
    assert "<mark>Wash it [1]</mark>" in html
    assert '<mark class="unknown">Then dry it [7]</mark>' in html
    assert "The answer cites a passage that it was not written from: 7." in html


def test_a_citation_may_name_the_part_it_supports(write: Write, open_page: Open) -> None:
    cited = [{"passage": 2, "section_id": "s2", "known": True, "start": 0, "end": 4}, {"passage": 1, "known": False}]
    write(answer="Salt little.", retrieval={**RETRIEVAL, "citations": cited})
    html = opened(open_page)
    assert "<mark>Salt</mark> little." in html
    assert "not written from: 1." in html


def test_the_search_is_described_in_words_and_layer_by_layer(write: Write, open_page: Open) -> None:
    write(answer="Wash it.", retrieval=RETRIEVAL)
    html = opened(open_page)
    assert "Too little was found, so the answer was written from the full text of the handbook." in html
    assert "Reason: too little was found." in html
    assert "Searched for: washing fruit." in html
    assert "Search by meaning (dense)" in html
    assert "<td>Eating &gt; Fruit</td>" in html
    assert "<td>s7</td>" in html
    assert "Skipped: no reranker was given." in html
    assert "The answer cites none of its passages." in html


def test_a_passage_that_points_nowhere_is_shown_without_its_text_and_says_so(write: Write, open_page: Open) -> None:
    write(answer="Wash it.", retrieval=RETRIEVAL)
    html = opened(open_page)
    assert "Section s9: its text is not in the run." in html
    assert "position not found in the text" in html


def test_text_of_a_release_is_never_interpreted_as_html(write: Write, open_page: Open) -> None:
    evil = "<img src=x onerror=alert(1)>"
    record = {
        "strategy": evil, "mode": evil, "reason": evil, "queries": [evil], "passages": [{"section_id": evil, "origin": evil}],
        "layers": [{"layer": evil, "top": [{"section_id": evil}]}, {"layer": "x", "skipped": evil}],
    }  # fmt: skip
    write(answer=evil, retrieval={**record, "passages": [*RETRIEVAL["passages"], *record["passages"]]})
    html = opened(open_page)
    assert "<img" not in html
    assert "<script>" not in html
    assert "Little &lt;script&gt;" in html or "<mark>Little</mark>" in html


@pytest.mark.parametrize(
    "record", [{"passages": 5, "layers": "x", "queries": 3, "citations": {}}, {"passages": [None, 3, {}]}, {}]
)
def test_a_malformed_record_does_not_break_the_page(write: Write, open_page: Open, record: dict[str, Any]) -> None:
    write(answer="Wash it [1].", retrieval=record)
    assert "Wash it" in opened(open_page)


def test_a_source_that_is_not_a_web_address_is_not_a_link(write: Write, open_page: Open) -> None:
    write([{**SECTIONS[0], "url": "javascript:alert(1)"}], answer="Wash it.", retrieval=RETRIEVAL)
    assert 'href="javascript' not in opened(open_page)


def test_without_sections_the_titles_are_shown_with_the_reason(write: Write, open_page: Open) -> None:
    write(None, answer="Wash it.", retrieval={"mode": "passages", "sections": ["Eating > Fruit"], "url": "https://x.example/all"})
    html = opened(open_page)
    assert "This run does not include the texts of its handbooks (sections.jsonl)" in html
    assert "<li>Eating &gt; Fruit</li>" in html
    assert 'href="https://x.example/all"' in html


def test_sections_of_other_handbooks_only_are_distinguished_from_none(write: Write, open_page: Open) -> None:
    write(SECTIONS[2:], answer="Wash it.", retrieval=RETRIEVAL)
    assert "This run includes texts, but not the text of this handbook." in opened(open_page)


@pytest.mark.parametrize(
    ("handbook", "question", "answer", "sentence"),
    [
        ("d", "q1", {}, "Does not address the question (its answer says so)."),
        ("d", "q3", {}, "Was not asked this question."),
        ("a", "q1", {"answer": None, "absent": None, "unread_reason": "cut"}, "The model&#39;s reply could not be read (cut)"),
        ("a", "q1", {"retrieval": None}, "The run has no record of how this answer was found."),
    ],
)
def test_every_kind_of_missing_answer_has_its_own_sentence(
    write: Write, open_page: Open, handbook: str, question: str, answer: dict[str, Any], sentence: str
) -> None:
    write(**answer)
    at = open_page("answer", question=question, handbook=handbook)
    assert not at.exception
    assert sentence in html_on(at)


def test_two_answers_are_shown_side_by_side_under_the_verdict(write: Write, open_page: Open) -> None:
    write(answer="Wash it [1].", retrieval=RETRIEVAL)
    at = open_page("answer", question="q1", handbook="a", other="b")
    html = html_on(at)
    assert "divergent" in html
    assert html.count('<div class="name">') == 2
    assert len(at.columns) >= 4  # two pickers, two answers


def test_sentences_use_the_release_s_own_terms(write: Write, open_page: Open) -> None:
    write(manifest={"terms": {"handbook": "institute"}}, answer="Wash it.", retrieval=RETRIEVAL)
    assert "was written from the full text of the institute" in opened(open_page)


def test_an_unknown_handbook_in_the_address_is_ignored_with_a_warning(run: Run, open_page: Open) -> None:
    at = open_page("answer", question="q1", handbook="zz")
    assert not at.exception
    assert "handbook = zz" in words_on(at)
