"""Text in other directions, and what pages repeat: each is read once and on its own, or named."""

from __future__ import annotations

import pytest

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.text.documents import FRAME, UNREAD, Document
from tests.support.pdfs import FILLER, HEIGHT, SHORT, Text, at, column, shown, write_pdf, write_raw_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
TURNS = {90: "0 1 -1 0", 180: "-1 0 0 -1", 270: "0 -1 1 0"}


def turned(words: str, x: float, y: float, angle: int) -> str:
    return f"BT /F1 11 Tf {TURNS[angle]} {x} {y} Tm ({words}) Tj ET\n"


def sideways_table(angle: int, x: float = 400, y: float = 300) -> str:
    """Two columns of three rows, whose lines run in this direction from their place on the page."""
    rows = (("Tablet", "When"), ("Sirolimus", "at noon"), ("Aspirin", "never"))
    step = {90: (14, 0, 0, 130), 270: (-14, 0, 0, -130), 180: (0, 14, -130, 0)}[angle]
    return "".join(
        turned(cell, x + step[0] * row + step[2] * place, y + step[1] * row + step[3] * place, angle)
        for row, cells in enumerate(rows)
        for place, cell in enumerate(cells)
    )


def text_of(document: Document) -> list[str]:
    return [block for section in document.sections for block in section.text.split("\n\n")]


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_table_in_another_direction_is_read_by_rows_behind_the_text_of_its_page(tmp_path, angle, rotate):
    upright = "".join(shown(FILLER, y=780 - 14 * number) for number in range(4))
    path = write_raw_pdf(tmp_path / "book.pdf", upright + sideways_table(angle), page=f"/Rotate {rotate}")
    document = extract(path, IDENTITY)
    assert "Tablet | When\nSirolimus | at noon\nAspirin | never" in document.full_text
    assert document.full_text.count(FILLER) == 4
    assert document.lost == ()


def test_upright_text_stays_where_most_of_the_page_is_sideways(tmp_path):
    content = shown("Ask us before you take any tablet.") + sideways_table(90) + sideways_table(90, x=480)
    document = extract(write_raw_pdf(tmp_path / "book.pdf", content), IDENTITY)
    assert text_of(document)[0] == "Ask us before you take any tablet."
    assert document.full_text.count("Tablet: Sirolimus | When: at noon") == 2


def test_a_sentence_that_goes_on_over_the_page_is_not_divided_by_a_note_beside_it(tmp_path):
    first = shown("Take the tablets with a glass of", y=60) + "".join(shown(FILLER, y=780 - 14 * row) for row in range(3))
    second = shown("water and food.", y=780) + shown(FILLER, y=740)
    pages = [first + turned("Chapter two", 580, 300, 90), second]
    document = extract(write_raw_pdf(tmp_path / "book.pdf", pages), IDENTITY)
    assert "Take the tablets with a glass of water and food." in document.full_text
    assert "Chapter two" in text_of(document)


def test_a_watermark_is_named_and_not_mixed_with_the_text(tmp_path):
    mark = "q 0.8 g BT /F2 60 Tf 0.7 0.7 -0.7 0.7 150 300 Tm (OUT OF DATE) Tj ET Q "
    body = "".join(shown(FILLER, y=780 - 14 * number) for number in range(40))
    document = extract(write_raw_pdf(tmp_path / "book.pdf", mark + body), IDENTITY)
    assert "OUT" not in document.full_text
    assert [(loss.kind, loss.page, loss.example) for loss in document.lost] == [(UNREAD, 1, "OUT OF DATE")]


def test_a_watermark_at_the_angle_of_the_text_is_named_and_does_not_divide_its_lines(tmp_path):
    mark = "q 0.85 g BT /F2 90 Tf 100 400 Td (SPECIMEN) Tj ET Q "
    lines = "".join(shown(FILLER, y=780 - 14 * number) for number in range(45))
    document = extract(write_raw_pdf(tmp_path / "book.pdf", mark + lines), IDENTITY)
    assert document.full_text == " ".join([FILLER] * 45)
    assert [(loss.kind, loss.example) for loss in document.lost] == [(UNREAD, "SPECIMEN")]


def test_a_large_first_letter_beside_lines_is_no_watermark(tmp_path):
    lines = "".join(shown(SHORT, x=100 if number < 3 else 60, y=700 - 14 * number) for number in range(8))
    document = extract(write_raw_pdf(tmp_path / "book.pdf", shown("A", y=672, size=42) + lines), IDENTITY)
    assert document.lost == ()
    assert document.full_text.count("dry them.") == 8


# -- what pages repeat -------------------------------------------------------------------------------------------------


def pages(*footers: str, size: float = 9) -> list[list[Text]]:
    """A page for each footer, with a heading and text of its own."""
    return [
        [
            *column([f"# Part {'ABCDEFG'[number]}", SHORT, FILLER]),
            at(footer, 60, HEIGHT - 40, size),
            at(str(number + 1), 500, HEIGHT - 40, 9),
        ]
        for number, footer in enumerate(footers)
    ]


def frames(document: Document) -> list[tuple[int | None, str]]:
    return [(loss.page, loss.example) for loss in document.lost if loss.kind == FRAME]


def test_advice_at_the_foot_of_every_page_is_kept_once_and_its_repeats_are_named(tmp_path):
    advice = "Chills or a new rash: phone 555-0142 at any hour"
    document = extract(write_pdf(tmp_path / "book.pdf", pages(*[advice] * 4)), IDENTITY)
    assert document.full_text.count(advice) == 1
    assert document.sections[0].text == f"{SHORT} {FILLER}\n\n{advice}"
    assert frames(document) == [(2, advice), (3, advice), (4, advice)]


def test_a_foot_line_that_the_text_says_too_is_not_kept(tmp_path):
    document = extract(write_pdf(tmp_path / "book.pdf", pages(*[SHORT] * 3)), IDENTITY)
    assert all(section.text == f"{SHORT} {FILLER}" for section in document.sections)
    assert [page for page, _ in frames(document)] == [1, 2, 3]


def test_a_foot_line_with_another_number_than_the_text_is_kept(tmp_path):
    texts = pages(*["Call us above 38 degrees."] * 3)
    texts[0] += [at("Call us above 39 degrees.", 60, 300)]
    document = extract(write_pdf(tmp_path / "book.pdf", texts), IDENTITY)
    assert "Call us above 39 degrees." in document.full_text
    assert document.full_text.count("Call us above 38 degrees.") == 1


def test_lines_of_one_place_that_differ_from_page_to_page_are_all_kept(tmp_path):
    notes = ["* Not for children.", "* Only with food.", "* Never with juice.", "* At bedtime only."]
    document = extract(write_pdf(tmp_path / "book.pdf", pages(*notes, size=7)), IDENTITY)
    assert all(document.full_text.count(note.removeprefix("* ")) == 1 for note in notes)


def test_page_numbers_are_no_loss(tmp_path):
    document = extract(write_pdf(tmp_path / "book.pdf", pages("", "", "")), IDENTITY)
    assert document.lost == ()


def test_the_printed_contents_are_named(tmp_path):
    contents = column(["# Contents", "Part B .......... 2", "Part C .......... 3", "Part D .......... 4"])
    document = extract(write_pdf(tmp_path / "book.pdf", [contents, *pages("", "", "")]), IDENTITY)
    ((page, example),) = frames(document)
    assert (page, example.split()[0]) == (1, "Contents")
