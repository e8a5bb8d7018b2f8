"""Pages that are pictures become text where a program for it is installed, and a sentence where none is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfgen.canvas import Canvas

from audit.cli.main import main
from audit.errors import DocumentError
from audit.pipeline.corpus.extraction import ocr
from audit.pipeline.corpus.extraction.ocr import Ocr
from audit.pipeline.corpus.extraction.run import extract_all
from audit.text.documents import read_document
from tests.support.pdfs import FILLER

SCANNED = ("Call the clinic at once", "if your fever is above 38 degrees.")


def write_handbook(path: Path) -> Path:
    """Two pages of text, and one between them that is a picture of words."""
    picture = Image.new("L", (1654, 2339), 255)
    for line, words in enumerate(SCANNED):
        ImageDraw.Draw(picture).text((150, 200 + 90 * line), words, fill=0, font=ImageFont.load_default(60))
    picture.save(path.with_suffix(".png"), dpi=(200, 200))
    canvas = Canvas(str(path), invariant=1)
    for number in (1, 2, 3):
        if number == 2:
            canvas.drawImage(str(path.with_suffix(".png")), 0, 0, 595, 842)
        else:
            canvas.drawString(60, 780, f"Part {number}. {FILLER}")
            canvas.drawString(60, 760, FILLER)
        canvas.showPage()
    canvas.save()
    path.with_suffix(".png").unlink()
    return path


def only(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the programs for OCR, this one alone; skips the test where it is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"the program {program} is not installed (Debian: apt install ocrmypdf tesseract-ocr)")
    monkeypatch.setattr(ocr, "PROGRAMS", (program,))


@pytest.mark.parametrize("program", ["ocrmypdf", "tesseract"])
def test_only_pages_that_are_pictures_are_recognised_and_once(tmp_path, monkeypatch, program):
    only(program, monkeypatch)
    pdf, recognise = write_handbook(tmp_path / "heart_alder_pre.pdf"), Ocr(tmp_path / "kept")
    assert "1 of 3 pages is a picture without text (page 2)" in extract_all([pdf], tmp_path / "out").notes[-1]
    (path,) = extract_all([pdf], tmp_path / "out", ocr=recognise).done
    document = read_document(path)
    assert (document.pages, document.silent_pages, document.ocr_pages) == (3, (), (2,))
    assert all(words in " ".join(document.full_text.split()) for words in SCANNED)
    assert document.full_text.count(FILLER) == 4
    assert document.engine is not None
    assert document.engine.endswith(f"OCR by {program} (eng)")
    # Neither the document nor the recognised file is made again
    monkeypatch.setattr(ocr.subprocess, "run", None)
    assert extract_all([pdf], tmp_path / "out", ocr=recognise).unchanged == [path]
    path.unlink()
    assert extract_all([pdf], tmp_path / "out", ocr=recognise).done == [path]


def test_without_a_program_the_command_says_what_to_install_and_does_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ocr, "PROGRAMS", ("no-such-program",))
    pdf = write_handbook(tmp_path / "heart_alder_pre.pdf")
    assert main(["extract", str(pdf), "--out", str(tmp_path / "out"), "--ocr"]) == 2
    assert "OCR needs the program ocrmypdf or tesseract, and neither is installed." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_program_that_fails_leaves_a_sentence_and_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(ocr, "_by_tesseract", lambda *_: ocr._run(["sh", "-c", "echo 'no such language' >&2; exit 1"], 1))
    monkeypatch.setattr(ocr, "PROGRAMS", ("sh",))
    with pytest.raises(DocumentError, match=r"sh failed \(no such language\)"):
        Ocr(tmp_path / "kept").with_text(write_handbook(tmp_path / "a.pdf"), "digest", (2,))
    assert list((tmp_path / "kept").iterdir()) == []
