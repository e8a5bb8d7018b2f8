"""Pages that are pictures: named, kept in the document, and never a reason to say that something is not addressed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from audit.cli.main import main
from audit.pipeline.corpus.extraction.run import extract_all
from audit.text.documents import read_document
from tests.support.pdfs import FILLER

TEXT, PICTURE, STAMPED, EMPTY = "text", "picture", "stamped", "empty"


def write_scan(path: Path, pages: list[str]) -> Path:
    """A PDF of pages with text, pages that are one picture (also with a page number on it), and empty pages."""
    picture = path.with_suffix(".png")
    Image.new("L", (60, 80), 200).save(picture)
    canvas = Canvas(str(path), invariant=1)
    for number, kind in enumerate(pages, start=1):
        if kind in (PICTURE, STAMPED):
            canvas.drawImage(str(picture), 0, 0, 595, 842)
        if kind == STAMPED:
            canvas.drawString(280, 30, f"Page {number}")
        if kind == TEXT:
            canvas.setFont("Helvetica-Bold", 18)
            canvas.drawString(60, 780, f"Chapter {number}")
            canvas.setFont("Helvetica", 10)
            for line in range(20):
                canvas.drawString(60, 740 - 14 * line, FILLER)
        canvas.showPage()
    canvas.save()
    picture.unlink()
    return path


def test_pages_that_are_pictures_are_named_and_empty_pages_are_not(tmp_path):
    pdf = write_scan(tmp_path / "heart_alder_pre.pdf", [TEXT, PICTURE, STAMPED, EMPTY, TEXT])
    report = extract_all([pdf], tmp_path / "out")
    assert read_document(tmp_path / "out" / "heart_alder_pre.json").silent_pages == (2, 3)
    assert report.notes == [
        f"{pdf}: 2 of 5 pages are pictures without text (pages 2-3): what they say is missing. "
        "Read them with --ocr (in a config: ocr = true)."
    ]


def test_a_handbook_of_which_most_is_scanned_is_flagged_every_time(tmp_path, capsys):
    write_scan(tmp_path / "heart_alder_pre.pdf", [PICTURE] * 5 + [TEXT] * 3)
    command = ["extract", str(tmp_path), "--out", str(tmp_path / "out")]
    for _ in range(2):
        assert main(command) == 1
        assert "5 of 8 pages are pictures without text (pages 1-5)" in capsys.readouterr().err
    main([*command, "--json"])
    (quality,) = json.loads(capsys.readouterr().out)["quality"]
    assert (quality["pages"], quality["silent_pages"]) == (8, [1, 2, 3, 4, 5])


@pytest.mark.parametrize("pages", [[PICTURE, PICTURE], [PICTURE, STAMPED, PICTURE]])
def test_a_pdf_without_any_text_gives_no_document(tmp_path, pages):
    pdf = write_scan(tmp_path / "heart_alder_pre.pdf", pages)
    (sentence,) = extract_all([pdf], tmp_path / "out").failed
    assert "seems to be scanned" in sentence
    assert not list((tmp_path / "out").glob("*.json"))
