"""The page Source: the page of the PDF with its marks, the text where there is no picture, and the file where it is allowed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.release.write import write_jsonl
from audit.source_pages import reader
from tests.pages.conftest import HANDBOOKS, TABLE, Open, words_on
from tests.pages.test_answer import html_on
from tests.store.test_sections import change_answer
from tests.support.loading import load
from tests.support.pdfs import FILLER, column, write_pdf
from tests.support.tiny import release_from

FEVER, PLACE = "Call us about a fever.", "Avoid:\n• Raw <fish>.\n\n"
TEXT = f"{PLACE}{FILLER} {FEVER}"
START = TEXT.index(FEVER)
SECTION = {"handbook_id": "a", "section_id": "s1", "heading": "Fever", "text": TEXT, "pages": [1, 2],
           "page_starts": [[1, 0], [2, START]]}  # fmt: skip
LINK = {"handbook": "a", "section": "s1", "start": str(START), "end": str(len(TEXT)), "question": "q1"}

Loaded = Callable[..., Path]


@pytest.fixture
def loaded(tmp_path: Path, data_dir: Path) -> Loaded:
    """Load a run in which a's answer to q1 cites page 2 of a PDF, and return the folder of sources."""

    def loader(section: dict[str, Any] | None = None, **facts: Any) -> Path:
        sources = data_dir / "sources"
        sources.mkdir(parents=True)
        pdf = write_pdf(sources / "any name.pdf", [column(["Avoid:", "• Raw <fish>.", FILLER]), column([FEVER, FILLER])])
        digest = hashlib.sha256(pdf.read_bytes()).hexdigest()
        books = [HANDBOOKS[0] | {"digest": digest, "title": "Living <well>"} | facts, *HANDBOOKS[1:]]
        folder = release_from(tmp_path / "releases", TABLE, books)
        write_jsonl(folder / "sections.jsonl", [SECTION | (section or {})])
        cited = {"passage": 3, "section_id": "s1", "known": True, "quote_start": START, "quote_end": len(TEXT)}
        change_answer(folder, "q1", "a", answer=f"{FEVER} [3]", retrieval={"citations": [cited]})
        load(folder, data_dir)
        return sources

    return loader


def buttons(at) -> list[str]:
    return [button.label for button in at.get("button")] + [button.proto.label for button in at.get("download_button")]


def test_the_page_of_the_sentence_is_shown_with_its_marks(loaded: Loaded, open_page: Open) -> None:
    loaded()
    at = open_page("source", **LINK)
    html = html_on(at)
    assert not at.exception
    assert "Page 2 of 2" in words_on(at)
    assert 'alt="Page 2 of Living &lt;well&gt;"' in html
    assert "data:image/webp;base64," in html
    (top,) = re.findall(r'class="spot" style="left:[\d.]+%;top:([\d.]+)%', html)
    assert float(top) < 20  # its first line, and not the text below it
    assert "source-text" not in html.split("<style>")[0]


def test_another_page_keeps_the_sentence_in_mind_and_has_no_mark(loaded: Loaded, open_page: Open) -> None:
    loaded()
    at = open_page("source", **LINK)
    next(button for button in at.button if button.label == "Previous page").click().run()
    assert at.query_params["pdf_page"] in ("1", ["1"])
    assert "Page 1 of 2" in words_on(at)
    assert 'class="spot"' not in html_on(at)
    assert f'<div class="quoted">{FEVER}</div>' in html_on(at)


def test_of_a_sentence_that_a_page_break_divides_each_page_shows_its_part(loaded: Loaded, open_page: Open) -> None:
    loaded({"text": f"Raw <fish>. {FILLER} {FEVER}", "page_starts": [[1, 0], [2, 12 + len(FILLER) + 1]]})
    link = {"handbook": "a", "section": "s1", "start": "12", "end": str(12 + len(FILLER) + 1 + len(FEVER))}
    first, second = open_page("source", **link), open_page("source", **link, pdf_page="2")
    assert "The sentence continues on page 2." in words_on(first)
    assert "The sentence begins on page 1." in words_on(second)
    assert [html_on(at).count('class="spot"') for at in (first, second)] == [1, 1]


def test_a_cited_heading_is_marked(loaded: Loaded, open_page: Open) -> None:
    loaded({"heading": "Avoid:", "text": f"Raw <fish>. {FILLER} {FEVER}"})
    html = html_on(open_page("source", handbook="a", section="s1", start="0", end="0"))
    assert '<div class="quoted">Avoid:</div>' in html
    assert html.count('class="spot"') == 1


def test_an_item_is_quoted_with_its_lead(loaded: Loaded, open_page: Open) -> None:
    loaded()
    start = TEXT.index("Raw")
    html = html_on(open_page("source", handbook="a", section="s1", start=str(start), end=str(start + 11)))
    assert '<div class="quoted">Avoid: Raw &lt;fish&gt;.</div>' in html
    assert 'class="spot"' in html


def test_a_file_with_another_content_is_not_opened_and_the_text_is_shown(loaded: Loaded, open_page: Open) -> None:
    write_pdf(loaded() / "any name.pdf", [column(["Somebody else's book"])])
    at = open_page("source", **LINK)
    assert "not on this server" in words_on(at)
    assert "data:image" not in html_on(at)
    assert f"<mark>{FEVER}</mark>" in html_on(at)
    assert "Avoid:\n• Raw &lt;fish&gt;." in html_on(at)


@pytest.mark.parametrize(
    ("section", "facts", "sentence"),
    [
        ({}, {"digest": None}, "does not record which file"),
        ({"pages": [], "page_starts": []}, {}, "does not come from a PDF"),
        ({"page_starts": [[1, 0], [9, START]]}, {}, "it has no such page"),
        ({"text": f"{PLACE}{FILLER} Drink enough water."}, {}, "was not found on the picture"),
    ],
)
def test_without_a_picture_or_a_mark_a_sentence_says_why_and_the_text_is_shown(
    loaded: Loaded, open_page: Open, section: dict[str, Any], facts: dict[str, Any], sentence: str
) -> None:
    loaded(section, **facts)
    length = len(section.get("text", TEXT))
    at = open_page("source", **LINK | {"end": str(length)})
    assert not at.exception
    assert sentence in words_on(at)
    assert "<mark>" in html_on(at)


def test_without_the_library_the_text_is_shown(loaded: Loaded, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(url="https://x.example/book.pdf")
    monkeypatch.setattr(reader, "find_spec", lambda name: None)
    at = open_page("source", **LINK)
    assert "needs pypdfium2, which is not installed" in words_on(at)
    assert f"<mark>{FEVER}</mark>" in html_on(at)
    assert 'href="https://x.example/book.pdf#page=2"' in html_on(at)


def test_a_damaged_pdf_is_one_sentence(loaded: Loaded, open_page: Open, data_dir: Path) -> None:
    bad = b"%PDF-1.7 broken"
    sources = loaded(digest=hashlib.sha256(bad).hexdigest())
    (sources / "bad.pdf").write_bytes(bad)
    at = open_page("source", **LINK)
    assert not at.exception
    assert "Page 2 of this PDF cannot be shown: it is damaged." in words_on(at)


@pytest.mark.parametrize(
    ("facts", "offered"),
    [({}, False), ({"licence": "CC BY 4.0"}, False), ({"licence": "CC BY 4.0", "may_be_downloaded": True}, True)],
)
def test_the_file_itself_is_offered_only_where_the_licence_flag_says_so(
    loaded: Loaded, open_page: Open, facts: dict[str, Any], offered: bool
) -> None:
    loaded(**facts)
    at = open_page("source", **LINK)
    assert ("Download the PDF" in buttons(at)) is offered
    assert ("The PDF itself is not offered here" in words_on(at)) is not offered
    assert ("Licence: CC BY 4.0." in words_on(at)) is bool(facts)


@pytest.mark.parametrize(
    "place", [{"start": "9", "end": "5"}, {"start": "0", "end": "99999"}, {"start": "-1", "end": "x"}, {"pdf_page": "last"}]
)
def test_an_invalid_place_in_a_link_is_ignored(loaded: Loaded, open_page: Open, place: dict[str, str]) -> None:
    loaded()
    at = open_page("source", handbook="a", section="s1", **place)
    assert not at.exception
    assert 'class="spot"' not in html_on(at)
    assert "Page 1 of 2" in words_on(at)


def test_a_link_to_a_section_that_the_run_does_not_have_is_one_sentence(loaded: Loaded, open_page: Open) -> None:
    loaded()
    at = open_page("source", handbook="a", section="../../studies.db")
    assert not at.exception
    assert "no text of section '../../studies.db'" in words_on(at)


def test_without_a_link_a_handbook_opens_at_its_first_page(loaded: Loaded, open_page: Open) -> None:
    loaded()
    at = open_page("source", handbook="a")
    assert "Page 1 of 2" in words_on(at)


@pytest.mark.parametrize(
    ("page", "params"),
    [
        ("answer", {"question": "q1", "handbook": "a"}),
        ("disagreements", {"question": "q1", "a": "a", "b": "b"}),
        ("question", {"question": "q1", "a": "a", "b": "b"}),
    ],
)
def test_each_answer_links_to_the_page_that_it_cites(loaded: Loaded, open_page: Open, page: str, params: dict[str, str]) -> None:
    loaded()
    html = html_on(open_page(page, **params))
    (link,) = set(re.findall(r'href="(source\?[^"]*)"[^>]*>([^<]*)<', html))
    assert link[1] == "[3] page 2"
    assert f"handbook=a&amp;section=s1&amp;start={START}&amp;end={len(TEXT)}&amp;pdf_page=2&amp;question=q1" in link[0]


def test_without_a_file_a_section_can_be_picked_and_its_text_is_shown(loaded: Loaded, open_page: Open) -> None:
    loaded(digest=None)
    at = open_page("source", handbook="a")
    assert not at.exception
    assert [box.label for box in at.selectbox][:2] == ["Handbook", "Section"]
    assert "Raw &lt;fish&gt;." in html_on(at)


def test_with_neither_file_nor_text_the_page_says_what_a_release_would_need(run: object, open_page: Open) -> None:
    at = open_page("source", handbook="a")
    assert "neither the file nor the text of this handbook" in words_on(at)
    assert "See its pages" not in [link.proto.label for link in open_page("handbook", handbook="a").get("page_link")]
