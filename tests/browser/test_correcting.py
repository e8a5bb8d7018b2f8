"""A PI corrects what was read from a page in a real browser, and the text follows it however often the file is read again."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from annotation.label_store.engine import open_label_store
from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.release.write import write_jsonl
from audit.text.corrections import Correction, read_corrections
from audit.text.documents import Document
from tests.browser.conftest import Dashboard, server, settled
from tests.support.loading import load
from tests.support.pdfs import FILLER, column, write_pdf
from tests.support.studies import people
from tests.support.tiny import handbook, release_from

pytestmark = pytest.mark.browser
PAGE = [
    "# Food", "Leave these out", "", "• Star fruit", "• Raw fish", "", "Printed by the ward", "", "Second of all", "",
    "First of all", "", FILLER, "", "At work", "", FILLER,
]  # fmt: skip


def read(pdf: Path, corrections: tuple[Correction, ...] = ()) -> Document:
    return extract(pdf, Identity("a", "kidney", "alder", "pre"), corrections=corrections)


def test_corrections_made_beside_the_picture_survive_each_extraction(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    pdf = write_pdf(tmp_path / "sources" / "book.pdf", [column(PAGE)])
    file = {"digest": hashlib.sha256(pdf.read_bytes()).hexdigest(), "title": "Living well", "extraction": {"doubts": []}}
    release = release_from(tmp_path, "q1 kidney ab=CONSISTENT", [handbook("a") | file, handbook("b")])
    before = read(pdf).sections
    write_jsonl(
        release / "sections.jsonl",
        [
            {"handbook_id": "a", "section_id": s.section_id, "heading": s.heading, "text": s.text, "pages": s.pages}
            for s in before
        ],
    )
    load(release, tmp_path)
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    people(store, "petra", role="pi")
    store.close()
    with server(tmp_path, tmp_path / "server.log") as address:
        page = Dashboard(address, browser).open_as("petra", "/as_read?handbook=a&pdf_page=1")
        page.set_viewport_size({"width": 1280, "height": 1600})
        settled(page)
        for line, label in [
            ("Leave these out", "Lead of the list below"),
            ("Printed by the ward", "Drop"),
            ("At work", "Heading"),
            ("First of all", "Move up"),
        ]:
            page.get_by_label("Line", exact=True).click()
            page.get_by_role("option", name=line).click()
            settled(page)
            page.get_by_role("button", name=label, exact=True).click()
            expect(settled(page).get_by_text("Saved:")).to_be_visible()
        expect(page.get_by_text("4 corrections of this handbook")).to_be_visible()
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=f"{folder}/correcting.png", full_page=True)

    given = tuple(read_corrections(tmp_path / "sources" / "a.corrections.jsonl"))
    first, again = read(pdf, given), read(pdf, given)
    assert [section.heading for section in before] == ["Food"]
    assert [section.heading for section in first.sections] == ["Food", "At work"]
    assert "Leave these out:\n• Star fruit\n• Raw fish" in first.sections[0].text
    assert "First of all\n\nSecond of all" in first.sections[0].text
    assert "Printed by the ward" not in first.sections[0].text
    assert again.sections == first.sections
