"""What answers cite, whatever a release says of it, and the page on which it is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.errors import NotInRunError
from audit.queries.citations import Citation, citations, cited_section, source_file
from audit.release.write import write_jsonl
from audit.store.connection import open_store
from tests.store.test_sections import change_answer
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

TEXT = "Wash fruit. Peel it too."
SECTION = {"handbook_id": "a", "section_id": "s1", "heading": "Fruit", "above": ["Eating"], "text": TEXT, "pages": [4, 6],
           "page_starts": [[4, 0], [6, 12]]}  # fmt: skip
CITED = {"passage": 1, "section_id": "s1", "known": True, "quote_start": 12, "quote_end": 24}


def store(tmp_path: Path, *cited: Any, **retrieval: Any):
    books = [handbook("a") | {"digest": "ab", "licence": "CC0", "may_be_downloaded": True, "title": "Eating well"}, handbook("b")]
    folder = release_from(tmp_path, "q1 kidney ab=CONSISTENT\nq2 kidney a=absent", books)
    write_jsonl(folder / "sections.jsonl", [SECTION])
    change_answer(folder, "q1", "a", retrieval={"citations": list(cited), **retrieval})
    return open_store(load(folder, tmp_path / "data").run.path)


def test_a_citation_has_the_page_of_its_statement(tmp_path):
    con = store(tmp_path, CITED, CITED, {**CITED, "quote_start": 0, "quote_end": 11})
    assert citations(con, "q1") == {
        "a": (Citation(1, "s1", "Eating > Fruit", 6, 12, 24), Citation(1, "s1", "Eating > Fruit", 4, 0, 11))
    }
    assert citations(con, "q2") == {}


def test_a_cited_heading_is_on_the_first_page_of_its_section(tmp_path):
    con = store(tmp_path, {"passage": 1, "section_id": "s1", "quote": "Fruit", "quote_start": None, "quote_end": None})
    assert citations(con, "q1") == {"a": (Citation(1, "s1", "Eating > Fruit", 4, 0, 0),)}


def test_of_a_release_without_statements_the_passage_is_opened(tmp_path):
    con = store(tmp_path, {"passage": 1}, passages=[{"passage": 1, "section_id": "s1", "start": 14, "end": 20}])
    assert citations(con, "q1") == {"a": (Citation(1, "s1", "Eating > Fruit", 6, None, None),)}


@pytest.mark.parametrize(
    "cited",
    [None, 5, "s1", {}, {"passage": 1}, {**CITED, "known": False}, {**CITED, "section_id": "gone"}, {**CITED, "passage": "one"}],
)
def test_what_cannot_be_used_is_left_out(tmp_path, cited):
    assert citations(store(tmp_path, cited), "q1") == {}


@pytest.mark.parametrize("place", [{"quote_start": 12, "quote_end": 25}, {"quote_start": 5, "quote_end": 5}, {"quote_end": "x"}])
def test_a_place_outside_the_text_is_not_marked(tmp_path, place):
    (citation,) = citations(store(tmp_path, {**CITED, **place}), "q1")["a"]
    assert (citation.page, citation.start, citation.end) == (4, None, None)


def test_the_file_and_the_section_of_a_handbook(tmp_path):
    con = store(tmp_path, CITED)
    file = source_file(con, "a")
    assert (file.title, file.digest, file.licence, file.may_be_downloaded) == ("Eating well", "ab", "CC0", True)
    assert source_file(con, "b").title == "center_b"
    assert cited_section(con, "a", "s1").page_starts == ((4, 0), (6, 12))
    with pytest.raises(NotInRunError, match="no text of section 's9' of a"):
        cited_section(con, "a", "s9")
