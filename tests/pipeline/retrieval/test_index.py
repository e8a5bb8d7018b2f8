"""The index of a handbook: its chunks, its navigation sections, and its copy on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from audit.pipeline.retrieval import index as index_module
from audit.pipeline.retrieval.index import build_index, index_digest, is_navigation, split_into_chunks
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import make_strategy
from audit.text.documents import Section
from tests.pipeline.retrieval.handbooks import ALDER, FLY, PASSAGES, handbook, meanings


def test_chunks_of_160_words_share_32_words_with_the_chunk_before() -> None:
    text = " ".join(f"w{number}" for number in range(300))
    chunks = split_into_chunks(handbook(Section("s1", "Long", text)), RetrievalSettings())
    words = [text[chunk.start : chunk.end].split() for chunk in chunks]
    assert [(chunk[0], chunk[-1]) for chunk in words] == [("w0", "w159"), ("w128", "w287"), ("w256", "w299")]


def test_a_section_of_160_words_is_one_chunk_and_so_is_an_empty_section() -> None:
    document = handbook(Section("s1", "Full", "word " * 160), Section("s2", "Empty", ""))
    chunks = split_into_chunks(document, RetrievalSettings())
    assert [(chunk.section, chunk.start) for chunk in chunks] == [(0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (Section("s", "Table of Contents", "anything"), True),
        (Section("s", "", "Travel .... 4\nFever .... 7\nTeeth .... 9\nFish .... 12"), True),
        (Section("s", "Fever", "Call us above 38.\nAt night too."), False),
    ],
)
def test_navigation_is_recognised_by_its_heading_or_its_page_numbers(section: Section, expected: bool) -> None:
    assert is_navigation(section) is expected


def test_a_stored_index_gives_the_same_record(tmp_path: Path) -> None:
    fresh = make_strategy("hero", build_index(ALDER, PASSAGES, meanings(), tmp_path)).retrieve(FLY)
    (stored,) = tmp_path.iterdir()
    before = stored.stat().st_mtime_ns
    again = make_strategy("hero", build_index(ALDER, PASSAGES, meanings(), tmp_path)).retrieve(FLY)
    assert stored.stat().st_mtime_ns == before, "it was read, not built again"
    assert replace(fresh, seconds=0.0) == replace(again, seconds=0.0)


def test_another_text_chunking_or_encoder_gives_another_index(tmp_path: Path) -> None:
    build_index(ALDER, PASSAGES, None, tmp_path)
    build_index(replace(ALDER, sections=ALDER.sections[:3]), PASSAGES, None, tmp_path)
    build_index(ALDER, replace(PASSAGES, chunk_words=100), None, tmp_path)
    build_index(ALDER, PASSAGES, meanings(), tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_another_version_of_the_stemmer_gives_another_index(monkeypatch: pytest.MonkeyPatch) -> None:
    before = index_digest(ALDER, PASSAGES, None)
    monkeypatch.setattr(index_module, "version", lambda _: "0.0")
    assert index_digest(ALDER, PASSAGES, None) != before


def test_a_chunk_that_begins_in_the_middle_of_a_list_is_searched_with_the_lead_of_the_list() -> None:
    text = "Never smoke:\n" + "\n".join(f"• item {number} of tobacco" for number in range(60))
    index = build_index(handbook(Section("s1", "Habits", text)), RetrievalSettings())
    assert len(index.chunks) > 1
    assert index.text(1).startswith("Habits. Never smoke: ")
    assert index.text(0).count("Never smoke") == 1
