"""The title of a document: the catalog's, else its first heading; a program's title of a file only where the text has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from tests.pipeline.corpus.extraction.test_formats import docx
from tests.support.pdfs import FILLER, LEFT, Text, at, column, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
DRAFT = "Microsoft Word - 002100_manual_FINAL"


def title_of(source: Path) -> str | None:
    return extract(source, IDENTITY).title


@pytest.fixture
def named_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes a PDF into which a program wrote a title."""

    def write(named: str, *pages: list[Text]) -> Path:
        save = Canvas.save
        monkeypatch.setattr(Canvas, "save", lambda canvas: (canvas.setTitle(named), save(canvas))[1])
        return write_pdf(tmp_path / "book.pdf", pages)

    return write


def test_a_pdf_is_called_what_its_first_page_says_and_not_the_name_of_a_draft(named_pdf):
    assert (
        title_of(named_pdf(DRAFT, column(["# Living with a new heart", FILLER, "## Fever", FILLER]))) == "Living with a new heart"
    )


def test_a_small_heading_above_the_title_is_not_the_title(named_pdf):
    cover = [at("Patient information", LEFT, 60, 13, bold=True), at("Living with a new heart", LEFT, 90, 22, bold=True)]
    assert title_of(named_pdf(DRAFT, [*cover, *column([FILLER, FILLER, FILLER], y=140)])) == "Living with a new heart"


@pytest.mark.parametrize(("named", "title"), [(DRAFT, None), ("Living with a new heart", "Living with a new heart")])
def test_without_headings_the_title_in_a_pdf_counts_only_if_the_text_has_its_words(named_pdf, named, title):
    assert title_of(named_pdf(named, column(["This leaflet is about living with a new heart.", FILLER, FILLER]))) == title


def test_the_catalog_is_right(named_pdf):
    pdf = named_pdf(DRAFT, column(["# Living with a new heart", FILLER]))
    assert extract(pdf, replace(IDENTITY, title="Heart manual")).title == "Heart manual"


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<h1>After your transplant</h1>", "After your transplant"),
        ("<h2>In this guide</h2><p>Call us.</p><h1>After your transplant</h1>", "After your transplant"),
        ("<h3>Fever</h3>", "Fever"),
        ("", "Patient Education"),
    ],
)
def test_pages_of_one_site_that_share_a_title_are_called_by_their_own_headings(tmp_path, body, title):
    page = tmp_path / "page.html"
    page.write_text(f"<title>Patient Education</title><body>{body}<p>{FILLER}</p></body>")
    assert title_of(page) == title


def test_markdown_is_called_by_its_heading(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"---\ntitle: draft 7\n---\n# After your transplant\n\n{FILLER}\n")
    assert title_of(page) == "After your transplant"


def test_a_docx_file_is_called_by_its_heading(tmp_path):
    page = tmp_path / "page.docx"
    core = 'xmlns:d="http://purl.org/dc/elements/1.1/"'
    page.write_bytes(docx(**{"docProps/core.xml": f"<p {core}><d:title>{DRAFT}</d:title></p>"}))
    assert title_of(page) == "After your transplant"
