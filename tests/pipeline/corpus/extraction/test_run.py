"""Folders of PDFs: their identity, what is wrong with some, and that none is extracted twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unicodedata import normalize

import pytest

from audit.cli.main import main
from audit.errors import DocumentError
from audit.pipeline.corpus.extraction.identity import IdentityOptions
from audit.pipeline.corpus.extraction.run import ExtractionReport, extract_all
from audit.text.documents import read_document
from tests.support.pdfs import FILLER, SHORT, column, write_pdf

PAGE = column(["# At home", FILLER, FILLER])
NO_PAGES = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj
trailer<</Root 1 0 R>>
%%EOF
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good handbooks."""
    folder = tmp_path / "pdfs"
    folder.mkdir()
    for name, page in {"heart_alder_pre": PAGE, "lung_birch_hill_post": column(["# On the road", SHORT])}.items():
        write_pdf(folder / f"{name}.pdf", [page])
    return folder


def failures(folder: Path, out: Path) -> dict[str, str]:
    """File name -> why it failed."""
    report = extract_all([folder], out)
    return {Path(sentence.partition(": ")[0]).name: sentence.partition(": ")[2] for sentence in report.failed}


def test_a_file_name_gives_organ_center_and_phase(folder, tmp_path):
    extract_all([folder], tmp_path / "out")
    document = read_document(tmp_path / "out" / "lung_birch_hill_post.json")
    assert (document.handbook_id, document.organ, document.center, document.phase) == (
        "lung_birch_hill_post", "lung", "birch_hill", "post",
    )  # fmt: skip


def test_options_give_what_a_file_name_lacks(tmp_path):
    pdf = write_pdf(tmp_path / "guide.pdf", [PAGE])
    extract_all([pdf], tmp_path / "out", options=IdentityOptions(organ="heart", center="Alder Clinic"))
    document = read_document(tmp_path / "out" / "heart_Alder-Clinic_combined.json")
    assert (document.organ, document.center, document.phase) == ("heart", "Alder Clinic", "combined")


def test_a_file_name_without_a_center_fails_with_what_to_do(folder, tmp_path):
    write_pdf(folder / "guide.pdf", [PAGE])
    assert failures(folder, tmp_path / "out") == {
        "guide.pdf": "its name does not tell its center: rename it to organ_center_phase.pdf, such as heart_alder_combined.pdf, "
        "or name the center with --center or with a row in --catalog. No document was made of it."
    }


@pytest.mark.parametrize("on_disk", ["NFC", "NFD"])
@pytest.mark.parametrize("in_catalog", ["NFC", "NFD"])
@pytest.mark.parametrize("where", ["", "leaflets\\", "D:\\Old Leaflets\\2024\\", "./leaflets/"])
def test_a_catalog_finds_files_in_either_unicode_form_and_by_a_path_of_any_system(on_disk, in_catalog, where, tmp_path):
    folder = tmp_path / "leaflets"
    folder.mkdir()
    write_pdf(folder / normalize(on_disk, "Besançon Cœur.pdf"), [PAGE])
    catalog = tmp_path / "catalog.csv"
    rows = f"file,organ,center,phase\n,,,\n{where}Besançon Cœur.pdf,heart,Besançon,pre\n,,,\n"
    catalog.write_text(normalize(in_catalog, rows))
    report = extract_all([folder], tmp_path / "out", catalog=catalog)
    assert report.failed == []
    assert [document.handbook_id for document in map(read_document, (tmp_path / "out").glob("*.json"))] == ["heart_Besançon_pre"]


def test_a_catalog_that_names_one_file_in_two_forms_is_refused(folder, tmp_path):
    catalog = tmp_path / "catalog.csv"
    catalog.write_text("file,center\nLiège.pdf,A\n" + normalize("NFD", "Liège.pdf,B\n"))
    with pytest.raises(DocumentError, match=r"3: file 'Liège\.pdf' is listed twice"):
        extract_all([folder], tmp_path / "out", catalog=catalog)


@pytest.mark.parametrize(("delimiter", "above"), [(",", ""), (";", ""), (";", "sep=;\r\n"), ("|", "sep=|\n")])
def test_a_catalog_gives_the_identity_of_each_file(folder, tmp_path, delimiter, above):
    catalog = tmp_path / "catalog.csv"
    table = (
        "file,handbook_id,organ,center,phase,title,url,licence,may_be_downloaded\n"
        "heart_alder_pre.pdf,h1,kidney,Alder,post,Living well,https://alder.example,CC BY 4.0,yes\n"
        "missing.pdf,h2,,Birch,,,,,\n"
    )
    catalog.write_text(above + table.replace(",", delimiter) + 3 * f"{8 * delimiter}\n")
    report = extract_all([folder], tmp_path / "out", catalog=catalog)
    document = read_document(tmp_path / "out" / "h1.json")
    assert (document.organ, document.phase, document.title, document.url) == (
        "kidney", "post", "Living well", "https://alder.example",
    )  # fmt: skip
    assert (document.licence, document.may_be_downloaded) == ("CC BY 4.0", True)
    assert [sentence.rpartition("/")[2] for sentence in report.failed] == [
        "lung_birch_hill_post.pdf: the catalog has no row for it. No document was made of it.",
        "missing.pdf: the catalog has a row for it, but there is no such file.",
    ]


@pytest.mark.parametrize(
    ("cell", "outcome"),
    [
        ("", False),
        ("no", False),
        ("TRUE", True),
        (
            "ask",
            "heart_alder_pre.pdf: may_be_downloaded is 'ask'. Allowed: yes, no, or empty for no. No document was made of it.",
        ),
    ],
)
def test_a_file_may_be_offered_only_where_the_catalog_says_yes(folder, tmp_path, cell, outcome):
    catalog = tmp_path / "catalog.csv"
    catalog.write_text(f"file,center,may_be_downloaded\nheart_alder_pre.pdf,Alder,{cell}\n")
    report = extract_all([folder / "heart_alder_pre.pdf"], tmp_path / "out", catalog=catalog)
    if isinstance(outcome, str):
        assert [sentence.rpartition("/")[2] for sentence in report.failed] == [outcome]
    else:
        assert read_document(report.done[0]).may_be_downloaded is outcome


def test_a_changed_licence_makes_the_document_again(folder, tmp_path):
    catalog, out = tmp_path / "catalog.csv", tmp_path / "out"
    for flag in ("yes", "no"):
        catalog.write_text(f"file,center,may_be_downloaded\nheart_alder_pre.pdf,Alder,{flag}\n")
        report = extract_all([folder / "heart_alder_pre.pdf"], out, catalog=catalog)
        assert (len(report.done), len(report.unchanged)) == (1, 0)
    assert not read_document(report.done[0]).may_be_downloaded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,centre\n", "column 'centre' is unknown"),
        ("file,organ\n", "column 'center' is missing"),
        ("file,center,Center\na.pdf,A,B\n", "columns 'center' and 'Center' have the same name"),
        ("file,center\na.pdf\n", "row 2: it has 1 cells, and the first row names 2 columns"),
        ("file,center\na.pdf,A\na.pdf,B\n", "row 3: file 'a.pdf' is listed twice"),
    ],
)
def test_a_catalog_that_cannot_be_used_stops_everything(folder, tmp_path, text, message):
    catalog = tmp_path / "catalog.csv"
    catalog.write_text(text)
    with pytest.raises(DocumentError, match=message):
        extract_all([folder], tmp_path / "out", catalog=catalog)
    assert not (tmp_path / "out").exists()


def test_two_files_of_one_handbook_are_reported(folder, tmp_path):
    (folder / "again").mkdir()
    write_pdf(folder / "again" / "heart_alder_pre.pdf", [PAGE])
    (message,) = failures(folder, tmp_path / "out").values()
    assert "its handbook id 'heart_alder_pre' is also that of" in message


def test_each_bad_file_is_reported_in_a_sentence_and_affects_no_other(folder, tmp_path):
    content = (folder / "heart_alder_pre.pdf").read_bytes()
    write_pdf(folder / "heart_locked_pre.pdf", [PAGE], password="secret")
    write_pdf(folder / "heart_scanned_pre.pdf", [[], []])
    (folder / "heart_cut_pre.pdf").write_bytes(content[: len(content) // 2])
    (folder / "heart_garbage_pre.pdf").write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 9)
    (folder / "heart_word_pre.pdf").write_bytes(b"PK\x03\x04 a word processor's file")
    (folder / "heart_empty_pre.pdf").write_bytes(b"")
    (folder / "heart_nopages_pre.pdf").write_bytes(NO_PAGES)
    messages = failures(folder, tmp_path / "out")
    begins = {
        "heart_locked_pre.pdf": "it is encrypted and needs a password",
        "heart_scanned_pre.pdf": "2 of its 2 pages have no text, so it seems to be scanned",
        "heart_cut_pre.pdf": "it is damaged, cut short",
        "heart_garbage_pre.pdf": "it is damaged, cut short",
        "heart_word_pre.pdf": "it is not a PDF",
        "heart_empty_pre.pdf": "it is empty",
    }
    assert {name: messages[name][: len(start)] for name, start in begins.items()} == begins
    assert "no pages" in messages["heart_nopages_pre.pdf"]
    assert len(list((tmp_path / "out").glob("*.json"))) == 2


def test_a_pdf_with_an_empty_password_is_read(tmp_path):
    pdf = write_pdf(tmp_path / "heart_alder_pre.pdf", [PAGE], password="")
    assert extract_all([pdf], tmp_path / "out").failed == []


def test_a_pdf_without_its_last_line_is_read_with_a_warning(folder, tmp_path):
    pdf = folder / "heart_alder_pre.pdf"
    pdf.write_bytes(pdf.read_bytes().replace(b"%%EOF", b""))
    report = extract_all([pdf], tmp_path / "out")
    assert (len(report.done), report.failed) == (1, [])
    assert "the marker at the end of a PDF is missing" in report.notes[0]


def test_extracting_the_same_pdfs_again_writes_nothing(folder, tmp_path):
    extract_all([folder], tmp_path / "out")
    written = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for path in written:
        os.utime(path, (1, 1))
    report = extract_all([folder], tmp_path / "out")
    assert (len(report.done), len(report.unchanged)) == (0, 2)
    assert {path.stat().st_mtime for path in written} == {1.0}


def test_another_folder_gives_the_same_bytes(folder, tmp_path):
    for name in ("first", "second"):
        extract_all([folder], tmp_path / name)
    first, second = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("first", "second"))
    assert first == second


def extracted_names(report: ExtractionReport) -> list[str]:
    return [path.stem for path in report.done]


def test_only_what_changed_is_extracted_again(folder, tmp_path, monkeypatch):
    out = tmp_path / "out"
    extract_all([folder], out)
    write_pdf(folder / "heart_alder_pre.pdf", [column(["# On the road", FILLER])])
    assert extracted_names(extract_all([folder], out)) == ["heart_alder_pre"]
    monkeypatch.setattr("audit.pipeline.corpus.extraction.engines.STRUCTURE_VERSION", 999)
    assert extracted_names(extract_all([folder], out)) == ["heart_alder_pre", "lung_birch_hill_post"]
    (out / "lung_birch_hill_post.json").write_text("{")
    assert extracted_names(extract_all([folder], out)) == ["lung_birch_hill_post"]


@pytest.mark.slow
def test_hundreds_of_pages_are_extracted_with_progress(tmp_path):
    pdf = write_pdf(tmp_path / "heart_alder_pre.pdf", [column([f"## Day {day}", "Rest, and drink."]) for day in range(1, 301)])
    page_counts: list[int] = []
    extract_all([pdf], tmp_path / "out", progress=lambda _pdf, pages, _all: page_counts.append(pages))
    document = read_document(tmp_path / "out" / "heart_alder_pre.json")
    assert page_counts == list(range(1, 301))
    assert (document.pages, len(document.sections), document.sections[-1].heading) == (300, 300, "Day 300")


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_prints_counts_and_its_exit_code_reports_failures(folder, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main(["extract", str(folder), "--out", out]) == 0
    (folder / "heart_empty_pre.pdf").write_bytes(b"")
    assert main(["extract", str(folder), "--out", out]) == 1
    output = capsys.readouterr()
    assert f"{out}: 0 extracted, 2 unchanged, 1 failed." in output.out
    assert "heart_empty_pre.pdf: it is empty. No document was made of it." in output.err


@pytest.mark.parametrize(
    ("files", "message"), [([], "there are no files of handbooks in this folder"), (["heart_a_pre.pdf"], "1 failed")]
)
def test_the_command_fails_where_nothing_could_be_extracted(tmp_path, capsys, files, message):
    folder = tmp_path / "pdfs"
    folder.mkdir()
    for name in files:
        (folder / name).write_bytes(b"")
    assert main(["extract", str(folder), "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err


def test_an_unknown_engine_is_refused_with_the_allowed_ones(folder, tmp_path, capsys):
    assert main(["extract", str(folder), "--out", str(tmp_path / "out"), "--engine", "pdfum"]) == 2
    assert "There is no engine 'pdfum'. Did you mean 'pdfium'?" in capsys.readouterr().err


def test_a_document_is_json_with_its_full_text(folder, tmp_path):
    extract_all([folder], tmp_path / "out")
    record = json.loads((tmp_path / "out" / "heart_alder_pre.json").read_text())
    assert record["sections"] == [
        {"section_id": "s00001", "heading": "At home", "above": [], "text": f"{FILLER} {FILLER}", "pages": [1, 1], "url": None}
    ]
    assert record["full_text"] == f"At home\n\n{FILLER} {FILLER}"
