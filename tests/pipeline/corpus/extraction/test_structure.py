"""The structure that a PDF's layout shows: headings, columns, tables, headers and footers."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

import pytest

from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.layout import Block
from audit.pipeline.corpus.extraction.repair import Ink, from_font
from audit.pipeline.corpus.extraction.run import extract
from audit.pipeline.corpus.extraction.structure import _with_resolved
from audit.text.documents import Document, Section
from tests.support.pdfs import FILLER, HEIGHT, LEFT, SHORT, Text, at, column, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
TWO_CHAPTERS = [
    "# At home", FILLER, FILLER, "## Showers", "You may shower after two days.", FILLER,
    "## Driving", "Do not drive for six weeks.", FILLER, "# Medicines", FILLER, FILLER,
]  # fmt: skip


def extracted(tmp_path: Path, *pages: list[Text]) -> Document:
    return extract(write_pdf(tmp_path / "book.pdf", pages), IDENTITY)


def titles(document: Document) -> list[str]:
    return [section.title for section in document.sections]


def section(document: Document, heading: str) -> Section:
    (match,) = (section for section in document.sections if section.heading == heading)
    return match


def test_larger_and_bold_lines_are_headings_and_the_larger_are_outer(tmp_path):
    document = extracted(tmp_path, column(TWO_CHAPTERS))
    assert titles(document) == ["At home", "At home > Showers", "At home > Driving", "Medicines"]
    assert section(document, "Showers").text == f"You may shower after two days. {FILLER}"


def test_a_section_has_its_first_and_last_page(tmp_path):
    document = extracted(tmp_path, column(["# At home", FILLER, "and then"]), column(["goes on here.", FILLER]))
    assert section(document, "At home").pages == (1, 2)
    assert section(document, "At home").text == f"{FILLER} and then goes on here. {FILLER}"


def test_a_section_tells_where_each_page_begins(tmp_path):
    first = column(["# At home", FILLER, "Take the tablets with wa-"])
    second = column(["ter and food.", "", FILLER])
    third = column(["# Driving", "Do not drive."])
    at_home, driving = extracted(tmp_path, first, second, column([FILLER]), third).sections
    starts = dict(at_home.page_starts)
    # The word that the page break divides is on both pages; its second half begins the new one
    assert at_home.text[starts[2] :].startswith("ter and food.")
    assert at_home.text[: starts[2]].endswith("Take the tablets with wa")
    assert (starts[1], at_home.text[starts[3] :]) == (0, FILLER)
    assert driving.page_starts == ()
    assert driving.page_at(3) == 4


def test_the_rows_of_a_table_and_a_text_below_a_heading_have_their_own_pages(tmp_path):
    table = [*column(["Fever", "Pain"]), *column(["call us", "rest"], x=300)]
    document = extracted(tmp_path, column([FILLER, FILLER, "# At home"]), [*table, *column([FILLER], y=500)])
    at_home = section(document, "At home")
    assert (at_home.pages, at_home.page_starts) == ((1, 2), ((2, 0),))
    assert {at_home.page_at(position) for position in range(len(at_home.text))} == {2}


def test_columns_of_narrow_text_beside_pictures_are_columns(tmp_path):
    left = column(["## Showers", *["Wash your hands"] * 8, "", "", "The left column ends with words as wide as it is."])
    # At heights of their own, as no cells of rows are
    right = column(
        ["## Driving", *["Stop for a break"] * 8, "", "", "The right column ends with words just as wide."], x=320, y=116
    )
    document = extracted(tmp_path, [*left, *right])
    assert titles(document) == ["Showers", "Driving"]
    assert "break" not in section(document, "Showers").text


def test_a_table_in_a_column_of_running_text_does_not_tie_the_columns_together(tmp_path):
    cells = [at(text, x, 250 + 12 * row, 9) for row in range(9) for x, text in ((60, f"Week {row}"), (180, f"{row}.5 mg"))]
    left = [*column(["## Doses", *[SHORT] * 6]), *cells]
    right = column(["## Driving", *[SHORT] * 17], x=320)
    document = extracted(tmp_path, [*left, *right])
    assert titles(document) == ["Doses", "Driving"]
    assert "Week 3 | 3.5 mg" in section(document, "Doses").text
    assert section(document, "Driving").text.count("Wash your hands") == 17


def test_two_columns_are_read_one_after_the_other(tmp_path):
    left = column(["## Showers", SHORT, SHORT, SHORT, "Left ends here."])
    right = column([SHORT, SHORT, "## Driving", SHORT, "Right ends here."], x=320)
    document = extracted(tmp_path, [*left, *right])
    assert titles(document) == ["Showers", "Driving"]
    assert section(document, "Showers").text == " ".join([SHORT] * 3 + ["Left ends here."]) + f"\n\n{SHORT} {SHORT}"


def test_two_languages_beside_each_other_stay_apart(tmp_path):
    german = "Halten Sie die Wunde trocken und waschen Sie die Hände vor jedem Wechsel."
    left, right = (
        column(["# After surgery", *wrap(f"{FILLER} {FILLER}", 44)], x=40),
        column(["# Nach der Operation", *wrap(f"{german} {german}", 40)], x=330),
    )
    first, second = extracted(tmp_path, [*left, *right]).sections
    assert (first.heading, second.heading) == ("After surgery", "Nach der Operation")
    assert german in " ".join(second.text.split())
    assert "Halten" not in first.text


def test_slides_are_a_section_each_with_their_warnings(tmp_path):
    slides = [
        [at(f"Medicine {n}", 60, 90, 32, True), at("Never take it with:", 60, 150, 20), at("• grapefruit", 70, 185, 20)]
        for n in "ABCD"
    ]
    document = extracted(tmp_path, *slides)
    assert [section.heading for section in document.sections] == [f"Medicine {n}" for n in "ABCD"]
    assert {section.text for section in document.sections} == {"Never take it with:\n• grapefruit"}


def test_a_rule_within_a_column_leaves_the_title_above_it_in_that_column(tmp_path):
    titles_beside = [at("Alder", LEFT - 20, 60, 20), at("From the nurses", 180, 60, 20)]
    margin = column(["Write to the nurses at any"] * 8, x=LEFT - 20)
    wide = column([FILLER] * 8, x=180)
    pdf = write_pdf(tmp_path / "book.pdf", [[*titles_beside, *margin, *wide]], rules=[(175, 560, 75)])
    document = extract(pdf, IDENTITY)
    assert titles(document) == ["Alder", "From the nurses"]
    assert section(document, "Alder").text.count("Write to the nurses") == 8
    assert section(document, "From the nurses").text.count("Wash your hands") == 8


def test_a_box_beside_text_that_pauses_with_it_is_read_before_what_is_below_both(tmp_path):
    """As in sheets with a box of signs and, beside it, what to do about them."""
    boxes = [
        (
            *column([*[FILLER] * 4, f"{signs} signs end here."], x=30, y=y),
            *column([f"{call} and ask for us at once"] * 4, x=435, y=y),
        )
        for signs, call, y in (("Red", "Dial 999", 100), ("Mild", "Dial 111", 250))
    ]
    pdf = write_pdf(tmp_path / "book.pdf", [[text for box in boxes for text in box]], rules=[(20, 420, 95), (20, 420, 200)])
    text = extract(pdf, IDENTITY).full_text
    places = [text.index(words) for words in ("Red signs", "Dial 999", "Mild signs", "Dial 111")]
    assert places == sorted(places)


def test_columns_below_a_title_over_two_of_them_are_columns(tmp_path):
    """A narrow column beside a title with a rule below it, and two columns below that rule, one at heights of its own."""
    heads = [at("Alder", 40, 60, 20), at("From the nurses of the ward", 200, 60, 20)]
    columns = [
        column([f"{name} begins here, and goes", *["on for some lines like this"] * 11, f"{name} ends."], x=x, y=y)
        for name, x, y in (("Margin", 40, 80), ("Left", 200, 80), ("Right", 400, 86))
    ]
    texts = [*heads, *(text for texts in columns for text in texts)]
    pdf = write_pdf(tmp_path / "book.pdf", [texts], rules=[(190, 560, 75)])
    text = extract(pdf, IDENTITY).full_text
    paragraphs = [line for line in text.splitlines() if "begins" in line]
    assert [line.partition(" ")[0] for line in paragraphs] == ["Margin", "Left", "Right"]
    assert [line.count("ends") for line in paragraphs] == [1, 1, 1]


def test_a_rule_across_the_page_ends_both_columns_above_it(tmp_path):
    columns = [
        column([f"## {title}", *[SHORT] * 6], x=x, y=y)
        for title, x, y in (("Showers", LEFT, 110), ("Driving", 320, 110), ("Travel", LEFT, 330), ("Food", 320, 330))
    ]
    pdf = write_pdf(tmp_path / "book.pdf", [[text for texts in columns for text in texts]], rules=[(LEFT, 560, 300)])
    assert titles(extract(pdf, IDENTITY)) == ["Showers", "Driving", "Travel", "Food"]


def test_of_headers_and_footers_the_first_is_kept_and_page_numbers_are_left_out(tmp_path):
    pages = [
        [
            at("Alder Heart Centre", LEFT, 40, 9),
            *column([f"## Week {number}", FILLER, FILLER]),
            at(f"Page {number} of 4", LEFT, HEIGHT - 40, 9),
        ]
        for number in range(1, 5)
    ]
    document = extracted(tmp_path, *pages)
    assert titles(document) == ["Week 1", "Week 2", "Week 3", "Week 4"]
    first, *others = [section.text for section in document.sections]
    assert first == f"{FILLER} {FILLER}\n\nAlder Heart Centre"
    assert set(others) == {f"{FILLER} {FILLER}"}


def test_chapter_titles_at_the_same_height_of_each_page_are_not_headers(tmp_path):
    pages = [[at(f"Chapter {number}", LEFT, 80, 18, True), *column([FILLER, FILLER])] for number in range(1, 5)]
    assert titles(extracted(tmp_path, *pages)) == ["Chapter 1", "Chapter 2", "Chapter 3", "Chapter 4"]


def test_a_heading_of_many_chapters_is_not_a_header_where_some_pages_begin_with_it(tmp_path):
    at_top = [at("What this means for you", LEFT, 80, 13, True), *column([FILLER, FILLER, FILLER], y=90)]
    below = column([FILLER, FILLER, "## What this means for you", FILLER])
    document = extracted(tmp_path, *[at_top, below] * 3)
    assert titles(document) == ["What this means for you"] * 6


def test_a_header_in_bold_is_left_out_although_the_title_page_has_its_words(tmp_path):
    cover = column([FILLER, FILLER, "# Living with a new heart", FILLER])
    pages = [[at("Living with a new heart", LEFT, 40, 12, True), *column([FILLER, FILLER])] for _ in range(4)]
    assert titles(extracted(tmp_path, cover, *pages)) == ["", "Living with a new heart"]


def test_numbers_give_the_level_of_a_heading(tmp_path):
    lines = ["## 1 At home", FILLER, "## 1.1 Showers", FILLER, "## 1.1.1 With a drain", FILLER, "## 2 Medicines", FILLER]
    assert titles(extracted(tmp_path, column(lines))) == [
        "1 At home",
        "1 At home > 1.1 Showers",
        "1 At home > 1.1 Showers > 1.1.1 With a drain",
        "2 Medicines",
    ]


def test_a_heading_on_two_lines_is_one_heading(tmp_path):
    broken = [at("What to do when you have a fever", LEFT, 110, 13, True), at("at night", LEFT, 125, 13, True)]
    document = extracted(tmp_path, [*broken, *column([FILLER, FILLER], y=130)])
    assert titles(document) == ["What to do when you have a fever at night"]


def test_a_bold_sentence_is_not_a_heading(tmp_path):
    warning = at("Call us at once when you have a fever.", LEFT, 200, 10, True)
    document = extracted(tmp_path, [*column(["## Fever", FILLER, FILLER]), warning])
    assert titles(document) == ["Fever"]
    assert "Call us at once" in section(document, "Fever").text


def test_a_table_of_contents_is_left_out_and_identifies_headings_in_body_type(tmp_path):
    dots = " . " * 20
    contents = column(["Contents", f"At home{dots}2", f"Showers{dots}2", f"Medicines{dots}3"])
    document = extracted(tmp_path, contents, column(["At home", "", FILLER, FILLER, "", "Showers", "", FILLER]))
    assert titles(document) == ["At home", "Showers"]
    assert ". ." not in document.full_text


@pytest.mark.parametrize("blank", [". " * 40, "_" * 40])
def test_lines_to_write_on_are_those_of_a_form_and_no_table_of_contents(tmp_path, blank):
    asked = ["Do you take any medicines?", "Which foods must you not eat?", "Whom may we call?"]
    lines = [text for question in asked for text in (question, f"Answer {blank}", blank)]
    document = extracted(tmp_path, column(["# Questions", *lines, "Give this to the ward."]))
    assert all(question in document.sections[0].text for question in asked)


def test_titles_below_their_page_numbers_in_a_box_are_not_headings(tmp_path):
    box = ["In this issue", "2", "Feature article", "4", "Eating well", "in the years", "after a heart", "transplant", "6",
           "Calendar", "of events"]  # fmt: skip
    contents = [
        at(text, LEFT, 60 + 13 * number, 10 if text.isdigit() else 11, not text.isdigit()) for number, text in enumerate(box)
    ]
    document = extracted(tmp_path, [*contents, *column(["## Introduction", FILLER, FILLER], y=220)])
    assert titles(document) == ["Introduction"]
    assert "Calendar" not in document.full_text


def test_table_rows_are_lines_with_separated_cells(tmp_path):
    rows = [("Medicine", "Dose", "When"), ("Tacrol", "2 mg", "morning"), ("Predol", "5 mg", "evening")]
    cells = [
        at(text, LEFT + 150 * number, 200 + 20 * row, 10) for row, line in enumerate(rows) for number, text in enumerate(line)
    ]
    document = extracted(tmp_path, [*column(["## Medicines", FILLER, FILLER]), *cells])
    assert section(document, "Medicines").text.endswith(
        "\n\nMedicine | Dose | When\nTacrol | 2 mg | morning\nPredol | 5 mg | evening"
    )


def test_a_cell_wrapped_over_two_lines_stays_in_its_row(tmp_path):
    cells = [
        at("Fever", LEFT, 200), at("Call us, and then", 210, 200), at("today", 400, 200), at("take no aspirin", 210, 212),
        at("Cough", LEFT, 236), at("Rest", 210, 236), at("tomorrow", 400, 236),
    ]  # fmt: skip
    document = extracted(tmp_path, [*column(["## Signs", FILLER, FILLER]), *cells])
    assert section(document, "Signs").text.endswith(
        "\n\nFever | Call us, and then take no aspirin | today\nCough | Rest | tomorrow"
    )


def test_a_word_hyphenated_at_the_end_of_a_line_is_joined(tmp_path):
    lines = ["## Medicines", "Ask about immuno-", "suppressants and long-", "term care, for long-term care is a matter of years."]
    text = section(extracted(tmp_path, column(lines)), "Medicines").text
    assert text == "Ask about immunosuppressants and long-term care, for long-term care is a matter of years."


def test_without_any_heading_each_page_is_a_section(tmp_path):
    document = extracted(tmp_path, column([FILLER, FILLER]), column([FILLER + " Again."]))
    assert [(section.heading, section.pages) for section in document.sections] == [("", (1, 1)), ("", (2, 2))]


def test_the_outline_identifies_headings_and_their_levels(tmp_path):
    pages = [column(["Going home", "", FILLER, FILLER, "", "By car", "", FILLER])]
    pdf = write_pdf(tmp_path / "book.pdf", pages, outline=[("Going home", 0, 1), ("By car", 1, 1)])
    assert titles(extract(pdf, IDENTITY)) == ["Going home", "Going home > By car"]


def test_a_document_records_its_origin(tmp_path):
    document = extracted(tmp_path, column(TWO_CHAPTERS))
    assert (document.handbook_id, document.organ, document.center, document.phase) == ("heart_alder_pre", "heart", "alder", "pre")
    assert (document.source, document.pages) == ("book.pdf", 1)
    assert document.engine is not None
    assert document.engine.startswith("pdfium")


def test_a_page_begins_where_it_did_when_a_ligature_before_it_is_resolved():
    mark = from_font("!", "Alder-Roman", lambda: Ink(0.5, 0.0, 0.72))
    block = Block("text", f"Con{mark}rm the dose. Then rest.", 1, 2, later_pages=((2, 17),))
    resolved_block, _ = _with_resolved([block, Block("text", "Confirm it.", 2, 2)])
    assert resolved_block.text == "Confirm the dose. Then rest."
    assert resolved_block.text[resolved_block.later_pages[0][1] :] == "Then rest."
