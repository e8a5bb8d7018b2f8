"""What people corrected holds after every new extraction: another engine, other line breaks, a moved line, other formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.pipeline.corpus.extraction.corrected import Corrections, corrected_blocks
from audit.pipeline.corpus.extraction.engines import Engine
from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.layout import Block, ExtractedBlocks, PageProgress
from audit.pipeline.corpus.extraction.run import extract_all
from audit.text.corrections import DROP, HEADING, KEEP, LEAD, ORDER, Correction, add_correction, corrections_path
from audit.text.documents import Document, read_document
from tests.pipeline.corpus.extraction.test_formats import docx
from tests.support.pdfs import FILLER, LEFT, Text, at, column, write_pdf

IDENTITY = Identity("kidney_alder_combined", "kidney", "alder", "combined")
TITLE = "Foods To Leave Out"
CORRECTIONS = (
    Correction(KEEP, TITLE, 2),
    Correction(LEAD, "You had better not eat", 1),
    Correction(DROP, "Printed on recycled paper for the clinic", 1),
    Correction(HEADING, "When to call", 2, level=1),
    Correction(ORDER, "Call the unit.", 2, after="If you have a fever"),
)


def pages(shift: float = 0) -> list[list[Text]]:
    """Two pages with a title that both have at their top; `shift` moves all but the title down."""
    first = [
        ("# Fruits", 120), (FILLER, 150), ("You had better not eat", 180), ("• bananas", 194), ("• kiwis", 208),
        ("Printed on recycled paper for the clinic", 240), (FILLER, 270),
    ]  # fmt: skip
    second = [("When to call", 120), ("Call the unit.", 150), ("If you have a fever", 180), (FILLER, 210)]
    return [[at(TITLE, LEFT, 60, 14, bold=True), *_texts(lines, shift)] for lines in (first, second)]


def _texts(lines: list[tuple[str, int]], shift: float) -> list[Text]:
    return [
        at(words.removeprefix("# "), LEFT, y + shift, 18 if words.startswith("# ") else 10, bold=words.startswith("# "))
        for words, y in lines
    ]


def texts(document: Document) -> dict[str, str]:
    return {section.heading: section.text for section in document.sections}


def check(document: Document) -> None:
    """What the corrections say is what the document says."""
    by_heading = texts(document)
    assert TITLE in by_heading
    assert "You had better not eat:\n• bananas\n• kiwis" in by_heading["Fruits"]
    assert "recycled" not in document.full_text
    assert by_heading["When to call"].index("fever") < by_heading["When to call"].index("Call the unit.")
    assert document.corrections is not None
    assert (document.corrections.applied, document.corrections.missed) == (5, ())


def test_without_corrections_the_title_and_the_lead_are_lost(tmp_path: Path):
    document = extract(write_pdf(tmp_path / "book.pdf", pages()), IDENTITY)
    assert document.corrections is None
    assert "When to call" not in texts(document)
    assert "recycled" in document.full_text


@pytest.mark.parametrize("shift", [0, 3, 30])
def test_corrections_hold_where_lines_have_moved(tmp_path: Path, shift: float):
    document = extract(write_pdf(tmp_path / "book.pdf", pages(shift)), IDENTITY, corrections=CORRECTIONS)
    check(document)
    (left_out,) = (loss for loss in document.lost if loss.kind == "corrected")
    assert (left_out.page, left_out.example) == (1, "Printed on recycled paper for the clinic")


def other_engine(_pdf: Path, _progress: PageProgress, given: tuple[Correction, ...]) -> ExtractedBlocks:
    """Reads the same pages as blocks, with other marks, other line breaks and the repeated title as a line of the text."""
    blocks = [
        Block("heading", "Fruits", 1, 1, 2), Block("text", f"{FILLER}\nYou had better\nnot eat", 1, 1),
        Block("text", "• bananas\n• kiwis", 1, 1), Block("text", "Printed on recycled pa-\nper for the clinic", 1, 1),
        Block("heading", TITLE, 2, 2, 1), Block("text", "When to call\nCall the unit.\nIf you have a fever", 2, 2),
    ]  # fmt: skip
    corrections = Corrections(given)
    return ExtractedBlocks(corrected_blocks(corrections, blocks), 2, corrections=corrections.result)


def test_corrections_hold_with_another_engine(tmp_path: Path):
    engine = Engine("other", "none", other_engine)
    check(extract(write_pdf(tmp_path / "book.pdf", pages()), IDENTITY, engine, corrections=CORRECTIONS))


def test_words_that_are_gone_or_there_twice_are_counted_and_named_and_change_nothing(tmp_path: Path):
    pdf = write_pdf(tmp_path / "book.pdf", [column(["# Limit", "milk", "", "Limit", "", "milk", "", FILLER])])
    lost = (
        Correction(DROP, "cheese", 1), Correction(DROP, "milk", 1), Correction(DROP, FILLER, 2),
        Correction(ORDER, FILLER, 1, before="butter"), Correction(LEAD, "milk", 1, (1, 3)),
    )  # fmt: skip
    document = extract(pdf, IDENTITY, corrections=lost)
    assert document.full_text == extract(pdf, IDENTITY).full_text
    assert document.corrections is not None
    assert document.corrections.applied == 0
    assert document.corrections.missed == (
        "The correction drop “cheese” on page 1 was not applied: these words are not there as a line or paragraph of their own.",
        "The correction drop “milk” on page 1 was not applied: these words are there 2 times, and the correction does not say "
        "which it means.",
        f"The correction drop “{FILLER[:58]}…” on page 2 was not applied: these words are not there as a line or paragraph of "
        "their own.",
        f"The correction order “{FILLER[:58]}…” on page 1 was not applied: these words are not there as a line or paragraph of "
        "their own (the other line is meant).",
        "The correction lead “milk” on page 1 was not applied: these words are there 2 times, and not 3 times.",
    )


def test_one_of_several_places_can_be_meant(tmp_path: Path):
    pdf = write_pdf(tmp_path / "book.pdf", [column([FILLER, "", "milk", "", "cheese", "", "milk"])])
    document = extract(pdf, IDENTITY, corrections=(Correction(DROP, "milk", 1, (2, 2)),))
    assert document.full_text.split("\n\n") == [FILLER, "milk", "cheese"]


def test_one_correction_changes_no_other(tmp_path: Path):
    pdf = write_pdf(tmp_path / "book.pdf", [column([FILLER, "", "milk", "", "cheese", "", "milk", "", "Ask us", "", FILLER])])
    given = (
        Correction(DROP, "milk", 1, (1, 2)), Correction(LEAD, "milk", 1, (2, 2)), Correction(HEADING, "Ask us", 1, level=1),
        Correction(ORDER, "Ask us", 1, before="cheese"),
    )  # fmt: skip
    document = extract(pdf, IDENTITY, corrections=given)
    assert texts(document) == {"": FILLER, "Ask us": f"cheese\n\nmilk:\n\n{FILLER}"}
    assert document.corrections is not None
    assert document.corrections.missed == ()


def test_a_paragraph_that_is_moved_stays_one(tmp_path: Path):
    pdf = write_pdf(tmp_path / "book.pdf", [column([FILLER, "Drink water every day and", "eat well with friends.", "", "Rest."])])
    moved = Correction(ORDER, "Drink water every day and eat well with friends.", 1, after="Rest.")
    document = extract(pdf, IDENTITY, corrections=(moved,))
    assert document.full_text.split("\n\n") == [FILLER, "Rest.", "Drink water every day and eat well with friends."]


def test_a_heading_that_is_none_and_an_entry_of_the_contents_that_is_text(tmp_path: Path):
    contents = ["Contents", *(f"Part {number} ........ {number}" for number in range(1, 5))]
    pdf = write_pdf(tmp_path / "book.pdf", [column([*contents, "", "# Kidney Care", FILLER, FILLER, "## Ask us", FILLER])])
    corrections = (Correction(HEADING, "Kidney care", 1, level=0), Correction(KEEP, "Part 2 ........ 2", 1))
    document = extract(pdf, IDENTITY, corrections=corrections)
    assert [section.heading for section in document.sections] == ["", "Ask us"]
    assert "Kidney Care" in document.sections[0].text
    assert "Part 2" in document.sections[0].text
    assert "Part 3" not in document.full_text
    assert document.corrections is not None
    assert document.corrections.applied == 2


PAGE = """<nav><a>Home</a><div><b>Do not eat:</b></div><a>Contact</a></nav>
<main><h1>Foods</h1><p>Limit</p><ul><li>bananas<li>kiwis</ul>
<p>Share this page</p><p>How to cook</p><p>Boil them well. Then pour the water away.</p></main>"""


def test_web_pages_are_corrected_by_words_alone(tmp_path: Path):
    (tmp_path / "page.html").write_text(PAGE)
    given = (
        Correction(KEEP, "Do not eat"), Correction(LEAD, "Limit"), Correction(DROP, "share this page"),
        Correction(HEADING, "How to cook", level=2), Correction(ORDER, "bananas", after="kiwis"), Correction(DROP, "kiwis", 3),
    )  # fmt: skip
    document = extract(tmp_path / "page.html", IDENTITY, corrections=given)
    assert texts(document) == {
        "": "Do not eat:", "Foods": "Limit:\n• kiwis\n• bananas", "How to cook": "Boil them well. Then pour the water away.",
    }  # fmt: skip
    assert document.corrections is not None
    assert (document.corrections.applied, len(document.corrections.missed)) == (5, 1)
    assert sum(loss.letters for loss in document.lost if loss.kind == "corrected") == len("Sharethispage")
    assert sum(loss.letters for loss in document.lost if loss.kind == "frame") == len("HomeContact")


def test_a_docx_file_is_corrected_by_words(tmp_path: Path):
    paragraphs = "".join(f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>" for words in ("Kidney Care", "Drink water.", "Page 1"))
    (tmp_path / "a.docx").write_bytes(docx(paragraphs))
    given = (Correction(HEADING, "Kidney care", level=1), Correction(DROP, "Page 1"))
    assert texts(extract(tmp_path / "a.docx", IDENTITY, corrections=given)) == {"Kidney Care": "Drink water."}


# -- the command -------------------------------------------------------------------------------------------------------


def test_a_document_is_made_again_when_its_corrections_change_and_only_then(tmp_path: Path):
    pdf = write_pdf(tmp_path / "kidney_alder_combined.pdf", pages())
    out, path = tmp_path / "out", corrections_path(pdf, IDENTITY.handbook_id)
    assert len(extract_all([tmp_path / pdf.name], out).done) == 1
    for correction in CORRECTIONS:
        add_correction(path, correction)
    assert len(extract_all([tmp_path / pdf.name], out).done) == 1
    check(read_document(out / "kidney_alder_combined.json"))
    assert len(extract_all([tmp_path / pdf.name], out).unchanged) == 1
    path.unlink()
    assert len(extract_all([tmp_path / pdf.name], out).done) == 1
    assert read_document(out / "kidney_alder_combined.json").corrections is None


def test_corrections_may_be_in_a_folder_of_their_own_and_the_report_names_them(tmp_path: Path, capsys):
    (tmp_path / "pdfs").mkdir()
    write_pdf(tmp_path / "pdfs" / "kidney_alder_combined.pdf", pages())
    folder = tmp_path / "corrections"
    folder.mkdir()
    add_correction(folder / "kidney_alder_combined.corrections.jsonl", CORRECTIONS[2])
    add_correction(folder / "kidney_alder_combined.corrections.jsonl", Correction(DROP, "nowhere", 1))
    add_correction(folder / "kidney_aldre_combined.corrections.jsonl", CORRECTIONS[2])
    command = ["extract", str(tmp_path / "pdfs"), "--out", str(tmp_path / "out"), "--corrections", str(folder)]
    assert main(command) == 1
    printed = capsys.readouterr()
    assert "1 of 2 corrections by people were applied; 1 was not" in printed.out
    assert "The correction drop “nowhere” on page 1 was not applied" in printed.err
    assert "no handbook here has the id 'kidney_aldre_combined'" in printed.err
    (record,) = map(json.loads, (tmp_path / "out" / "quality.jsonl").read_text().splitlines())
    assert (record["corrections"]["applied"], len(record["corrections"]["missed"])) == (1, 1)


def test_a_bad_file_of_corrections_fails_its_handbook_alone(tmp_path: Path):
    for center in ("alder", "birch"):
        write_pdf(tmp_path / f"kidney_{center}_combined.pdf", pages())
    bad = tmp_path / "kidney_alder_combined.corrections.jsonl"
    bad.write_text("drop the title\n")
    report = extract_all([tmp_path], tmp_path / "out")
    assert [path.name for path in report.done] == ["kidney_birch_combined.json"]
    (sentence,) = report.failed
    assert sentence.startswith(f"{bad}, line 1: it cannot be read as JSON")
    assert "not supported" not in " ".join(report.notes)
