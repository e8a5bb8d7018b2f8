"""Documents as files: reading returns what was written, and a file that is not a document is refused in one sentence."""

import gzip
import json
from pathlib import Path

import pytest

from audit.errors import DocumentError
from audit.text.documents import Document, Section, read_document, read_documents, write_document

TRAVEL = Section("s2", "When you travel", "Wait 3 months.\n\nTell us.", ("Life", "Holidays"), (4, 5))
ALDER = Document(
    "heart_alder_post", "heart", "Alder", "post", (Section("s1", "", "Welcome."), TRAVEL), source="alder.pdf", pages=9
)


@pytest.mark.parametrize("name", ["alder.json", "alder.json.gz"])
def test_a_document_written_and_read_is_the_same(tmp_path: Path, name: str) -> None:
    assert read_document(write_document(ALDER, tmp_path / name)) == ALDER


def test_the_same_document_gives_the_same_bytes_and_leaves_no_other_file(tmp_path: Path) -> None:
    first, second = (write_document(ALDER, tmp_path / name).read_bytes() for name in ("a.json.gz", "b.json.gz"))
    assert first == second
    assert {path.name for path in tmp_path.iterdir()} == {"a.json.gz", "b.json.gz"}


def test_the_full_text_skips_empty_headings() -> None:
    assert ALDER.full_text == "Welcome.\n\nWhen you travel\n\nWait 3 months.\n\nTell us."
    assert [section.title for section in ALDER.sections] == ["", "Life > Holidays > When you travel"]


def test_other_projects_files_may_have_institution_and_lack_organ_phase_and_ids(tmp_path: Path) -> None:
    record = {
        "handbook_id": "cdc",
        "institution": "CDC",
        "sections": [{"text": "One.", "page": 3}, {"text": "Two.", "heading": "B"}],
    }
    (tmp_path / "cdc.json").write_text(json.dumps(record))
    document = read_document(tmp_path / "cdc.json")
    assert (document.organ, document.center, document.phase) == ("general", "CDC", "combined")
    assert [(section.section_id, section.pages) for section in document.sections] == [("s00001", (3,)), ("s00002", ())]


REPEATED_ID = (
    b'{"handbook_id": "a", "center": "A", "sections": [{"section_id": "s", "text": "."}, {"section_id": "s", "text": "."}]}'
)

UNSAFE_IDS = (b"../evil", b"a/b", b"/etc/evil", b"..", b".hidden", b"", rb"..\\evil")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "not a readable document"),
        (b'{"handbook_id": "a", "center": "A"}', "'sections' is missing"),
        (b'{"handbook_id": "a", "center": "A", "phase": "later", "sections": []}', "phase 'later' is not one of"),
        (REPEATED_ID, "'s'"),
        *(
            (b'{"handbook_id": "%s", "center": "A", "sections": []}' % handbook_id, "cannot be used as a file name")
            for handbook_id in UNSAFE_IDS
        ),
        (gzip.compress(b"{}", mtime=0)[:9], "not a readable document"),
    ],
)
def test_a_file_that_is_not_a_document_is_refused_in_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / ("a.json.gz" if content[:2] == b"\x1f\x8b" else "a.json")
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=message):
        read_document(path)


def test_a_folder_is_read_by_handbook_id_and_a_repeated_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="there are no documents"):
        read_documents(tmp_path)
    birch = Document("a_birch", "heart", "Birch", "pre", ())
    write_document(ALDER, tmp_path / "0.json")
    write_document(birch, tmp_path / "1.json.gz")
    assert read_documents(tmp_path) == [birch, ALDER]
    write_document(birch, tmp_path / "2.json")
    with pytest.raises(DocumentError, match="2 different"):
        read_documents(tmp_path)


def test_a_stretch_of_text_has_a_part_on_each_of_its_pages() -> None:
    section = Section("s1", "Diet", "x" * 300, pages=(4, 7), page_starts=((4, 0), (6, 120), (7, 200)))
    assert [section.on_page(page, 100, 220) for page in (4, 5, 6, 7)] == [(100, 120), None, (120, 200), (200, 220)]
    assert (section.on_page(4, 0, 50), section.on_page(6, 0, 50)) == ((0, 50), None)
    one_page = Section("s1", "Diet", "x", pages=(4, 4))
    assert (one_page.on_page(4, 0, 1), one_page.on_page(5, 0, 1)) == ((0, 1), None)
    assert Section("s1", "Diet", "x", pages=(4, 6)).on_page(5, 0, 1) == (0, 1)


def test_a_position_has_its_page() -> None:
    section = Section("s1", "Diet", "x" * 300, pages=(4, 6), page_starts=((4, 0), (6, 120)))
    assert [section.page_at(position) for position in (0, 119, 120, 299)] == [4, 4, 6, 6]
    assert Section("s1", "Diet", "x", pages=(4, 4)).page_at(0) == 4
    assert Section("s1", "Diet", "x", pages=(4, 6)).page_at(0) is None
