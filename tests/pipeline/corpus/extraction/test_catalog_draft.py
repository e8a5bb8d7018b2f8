"""A catalog drafted from names of files and first pages, which a person corrects and `audit extract` then reads."""

from __future__ import annotations

import csv

import pytest

from audit.cli.main import main
from audit.errors import DocumentError
from audit.pipeline.corpus.extraction.catalog_draft import write_catalog_draft
from audit.text.documents import read_document
from tests.support.pdfs import FILLER, column, write_pdf

SITE = "www.aldervalley.example/kidney"
COVER = column(["# Living with your new kidney", "A guide of the Alder Valley Medical Center", SITE, FILLER])
SPANISH = """<title>=Volver a casa</title><h1>=Volver a casa</h1>
<p>Después del trasplante de riñón, descanse y beba mucha agua todos los días.</p>"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "handbooks"
    folder.mkdir()
    write_pdf(folder / "guide-7.pdf", [COVER, column(["## After your transplant", FILLER])])
    write_pdf(folder / "heart_birch_pre.pdf", [column(["# Heart handbook", FILLER])])
    (folder / "casa.html").write_text(SPANISH)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    return folder


def test_a_draft_has_a_row_for_each_file_with_what_its_first_pages_suggest(folder, tmp_path):
    rows = {row["file"]: row for row in write_catalog_draft([folder], tmp_path / "catalog.csv")}
    assert rows["guide-7.pdf"] == {
        "file": "guide-7.pdf", "handbook_id": "kidney_Alder-Valley-Medical-Center_post", "organ": "kidney",
        "center": "Alder Valley Medical Center", "phase": "post", "title": "Living with your new kidney",
        "url": "https://www.aldervalley.example/kidney", "language": "en",
    }  # fmt: skip
    assert (rows["heart_birch_pre.pdf"]["center"], rows["heart_birch_pre.pdf"]["phase"]) == ("birch", "pre")
    assert rows["casa.html"]["language"] == "es"
    assert rows["broken.pdf"]["organ"] == "general"
    table = list(csv.DictReader((tmp_path / "catalog.csv").read_text().splitlines()))
    assert [row["file"] for row in table] == ["broken.pdf", "casa.html", "guide-7.pdf", "heart_birch_pre.pdf"]
    # A title of a stranger is no formula in a spreadsheet
    assert table[1]["title"].startswith("'=")


def test_a_corrected_draft_is_a_catalog(folder, tmp_path, capsys):
    (folder / "broken.pdf").unlink()
    catalog = folder / "catalog.csv"
    assert main(["extract", str(folder), "--catalog-draft", str(catalog)]) == 0
    assert "3 rows" in capsys.readouterr().out
    rows = catalog.read_text()
    assert "casa.html,general__combined" not in rows
    catalog.write_text(rows.replace("general_unknown_combined,general,,", "kidney_cedar_post,kidney,Cedar,"))
    assert main(["extract", str(folder), "--catalog", str(catalog), "--out", str(tmp_path / "out")]) == 0
    document = read_document(tmp_path / "out" / "kidney_cedar_post.json")
    assert (document.center, document.language) == ("Cedar", "es")


def test_a_draft_never_replaces_a_file(folder, tmp_path):
    (tmp_path / "catalog.csv").write_text("mine")
    with pytest.raises(DocumentError, match="exists already"):
        write_catalog_draft([folder], tmp_path / "catalog.csv")
    assert (tmp_path / "catalog.csv").read_text() == "mine"


def test_handbooks_with_the_same_guesses_have_different_ids(tmp_path):
    for name in ("a.pdf", "b.pdf"):
        write_pdf(tmp_path / name, [COVER])
    ids = [row["handbook_id"] for row in write_catalog_draft([tmp_path], tmp_path / "catalog.csv")]
    assert ids == ["kidney_Alder-Valley-Medical-Center_combined", "kidney_Alder-Valley-Medical-Center_combined-2"]
