"""A page of a local PDF: found by its content, drawn in a process with limits, refused in one sentence."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image

from audit.errors import AuditError, MissingLibraryError
from audit.source_pages import reader
from audit.source_pages.files import find_source, read_source
from audit.source_pages.reader import SourcePageError, read_page
from tests.support.pdfs import FILLER, HEIGHT, WIDTH, at, column, write_pdf


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return write_pdf(tmp_path / "book.pdf", [column([FILLER]), [at("Call us about a fever.", 60, 100)]])


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_page_is_a_picture_and_the_places_of_its_characters(book):
    page = read_page(book, digest_of(book), 2)
    picture = Image.open(io.BytesIO(page.picture))
    assert (page.number, page.pages, picture.format) == (2, 2, "WEBP")
    assert picture.size == (page.width, page.height)
    assert page.width / page.height == pytest.approx(WIDTH / HEIGHT, abs=0.01)
    assert page.text.startswith("Call us about a fever.")
    left, top, right, bottom = page.boxes[0] or (0, 0, 0, 0)
    # The C begins 60 points from the left and stands on a line 100 points from the top
    assert left == pytest.approx(60 / WIDTH, abs=0.005)
    assert bottom == pytest.approx(100 / HEIGHT, abs=0.005)
    assert left < right < 0.2
    assert top < bottom


def test_a_large_page_is_drawn_small(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.support.pdfs.WIDTH", 14_000)
    poster = write_pdf(tmp_path / "poster.pdf", [[at("Fever", 60, 100)]])
    page = read_page(poster, digest_of(poster), 1)
    assert page.width <= reader.LIMITS["max_side"] + 1


def test_another_file_at_the_same_place_is_refused(book):
    with pytest.raises(SourcePageError, match=r"^Page 1 of this PDF cannot be shown: the file has changed since it was found\."):
        read_page(book, "0" * 64, 1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"%PDF-1.7\nnothing more", "it is damaged"), (b"", "it is damaged"), (None, "it asks for a password")],
)
def test_a_pdf_that_cannot_be_read_is_one_sentence(tmp_path, content, reason):
    pdf = tmp_path / "bad.pdf"
    if content is None:
        write_pdf(pdf, [column([FILLER])], password="secret")
    else:
        pdf.write_bytes(content)
    with pytest.raises(SourcePageError, match=f"^Page 1 of this PDF cannot be shown: {reason}."):
        read_page(pdf, digest_of(pdf), 1)


@pytest.mark.parametrize("number", [0, 3, 10**9])
def test_a_page_that_the_pdf_does_not_have_is_refused(book, number):
    with pytest.raises(SourcePageError, match="it has no such page"):
        read_page(book, digest_of(book), number)


def test_a_page_that_takes_too_much_is_given_up(book, monkeypatch):
    monkeypatch.setattr(reader, "LIMITS", {**reader.LIMITS, "memory_bytes": 2**20})
    with pytest.raises(SourcePageError, match="more time or memory"):
        read_page(book, digest_of(book), 1)
    monkeypatch.setattr(reader, "LIMITS", {**reader.LIMITS, "memory_bytes": 2**32})
    monkeypatch.setattr(reader, "TIMEOUT_S", 0.001)
    with pytest.raises(SourcePageError, match="too long to draw"):
        read_page(book, digest_of(book), 2)


def test_where_all_turns_are_taken_the_reader_is_asked_to_wait(book, monkeypatch):
    monkeypatch.setattr(reader, "TIMEOUT_S", 0.001)
    for _ in range(reader.MAX_AT_ONCE):
        reader._turns.acquire()
    try:
        with pytest.raises(SourcePageError, match="busy with other pages"):
            read_page(book, digest_of(book), 1)
    finally:
        reader._turns.release(reader.MAX_AT_ONCE)


def test_without_the_library_a_sentence_says_what_to_install(book, monkeypatch):
    monkeypatch.setattr(reader, "find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match=r"pypdfium2, which is not installed.*\[pipeline\]"):
        read_page(book, digest_of(book), 2)


def test_a_source_is_found_by_its_content_whatever_its_name(book, tmp_path):
    folder = tmp_path / "sources"
    (folder / "deep").mkdir(parents=True)
    write_pdf(folder / "book.pdf", [column(["Another book of the same name"])])
    assert find_source(digest_of(book), folder) is None
    copy = folder / "deep" / "renamed.PDF"
    copy.write_bytes(book.read_bytes())
    assert find_source(digest_of(book), folder) == copy
    assert (find_source(None, folder), find_source(digest_of(book), tmp_path / "none")) == (None, None)
    copy.write_bytes(b"%PDF- changed")
    assert find_source(digest_of(book), folder) is None


def test_only_pdfs_of_the_folder_are_looked_at(book, tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "book.txt").write_bytes(book.read_bytes())
    (folder / "folder.pdf").mkdir()
    assert find_source(digest_of(book), folder) is None


def test_a_file_is_handed_out_only_while_it_is_the_same(book):
    digest = digest_of(book)
    assert read_source(book, digest) == book.read_bytes()
    book.write_bytes(b"other")
    with pytest.raises(AuditError, match="has changed or is gone"):
        read_source(book, digest)
