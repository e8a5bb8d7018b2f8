"""What is a heading: by color and by size below the body's, and what only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph, SimpleDocTemplate

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from tests.support.pdfs import FILLER, LEFT, at, column, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=12, spaceAfter=6)
CHAPTER = ParagraphStyle("chapter", fontName="Helvetica", fontSize=16, leading=20, textColor=colors.darkred)
COLORED = ParagraphStyle("colored", parent=BODY, textColor=colors.darkred)


def headings(path: Path, *texts: Paragraph) -> list[str]:
    story = [Paragraph("At home", CHAPTER), Paragraph(FILLER * 3, BODY), *texts, Paragraph(FILLER * 3, BODY)]
    SimpleDocTemplate(str(path / "book.pdf"), invariant=1).build(story)
    return [section.heading for section in extract(path / "book.pdf", IDENTITY).sections][1:]


def test_a_line_in_the_color_of_the_headings_is_a_heading(tmp_path):
    assert headings(tmp_path, Paragraph("Laboratory tests", COLORED)) == ["Laboratory tests"]


@pytest.mark.parametrize("words", ["Diet", "see the ward's list"])
def test_a_color_of_short_lines_above_text_is_that_of_headings(tmp_path, words):
    blue = ParagraphStyle("blue", parent=BODY, textColor=colors.blue)
    parts = [text for title in ("Tests at night", words) for text in (Paragraph(title, blue), Paragraph(FILLER, BODY))]
    assert headings(tmp_path, *parts) == (["Tests at night", "Diet"] if words == "Diet" else [])


def test_a_colored_sentence_is_not_a_heading(tmp_path):
    assert headings(tmp_path, Paragraph("Call us at once.", COLORED)) == []


def test_a_heading_and_a_bold_line_of_another_color_below_it_are_two(tmp_path):
    texts = Paragraph("<b>Signs</b>", COLORED), Paragraph("<b>It is common.</b> You may not notice it.", BODY)
    assert headings(tmp_path, *texts) == ["Signs"]


def test_small_bold_type_above_the_body_is_a_heading_and_above_small_type_a_caption(tmp_path):
    small = ParagraphStyle("small", parent=BODY, fontSize=8.5)
    caption = Paragraph("<b>Doses by weight</b>", small), Paragraph(FILLER, small)
    assert headings(tmp_path, Paragraph("<b>Importance</b>", small), Paragraph(FILLER, BODY), *caption) == ["Importance"]


@pytest.mark.parametrize("text", ["[2008, amended 2014]", "Table 3 Doses of iron", "4 or 5", "and"])
def test_captions_and_notes_in_bold_are_not_headings(tmp_path, text):
    assert headings(tmp_path, Paragraph(f"<b>{text}</b>", BODY)) == []


def test_the_bold_beginning_of_a_paragraph_is_not_a_heading(tmp_path):
    bold = "If your child leaves the hospital with a central line, you need to schedule weekly changes of dressing in the"
    text = f"<b>{bold}</b> short stay unit."
    assert headings(tmp_path, Paragraph(text, BODY)) == []


@pytest.mark.parametrize("bold", [False, True])
def test_a_small_line_in_the_color_of_the_headings_is_a_heading_above_text_of_its_size(tmp_path, bold):
    small = ParagraphStyle("small", parent=BODY, fontSize=8.5, leading=10, spaceAfter=2)
    colored = ParagraphStyle("small heading", parent=small, textColor=colors.darkred)
    box = [Paragraph("<b>What is new?</b>" if bold else "What is new?", colored), Paragraph(FILLER * 2, small)]
    link = [Paragraph("www.alder.example", colored), Paragraph("www.dogwood.example", colored)]
    assert headings(tmp_path, *box, *link) == ["What is new?"]


def test_a_line_of_a_paragraph_that_comes_out_a_little_larger_is_not_a_heading(tmp_path):
    text = 'You may go back to work when the wound is dry, and to school<br/><font size="11">Monday after your visit</font>'
    assert headings(tmp_path, Paragraph(text, BODY)) == []


@pytest.mark.parametrize(
    "text",
    [
        "nurses@alder.example",
        "For help before your visit, please see www.alder.example/visits",
        "You can also reach us at<br/>nurses@alder.example",
    ],
)
def test_an_address_in_large_type_and_the_sentence_that_leads_to_it_are_not_headings(tmp_path, text):
    assert headings(tmp_path, Paragraph(text, CHAPTER)) == []


def test_a_heading_right_above_its_address_ends_before_it(tmp_path):
    assert headings(tmp_path, Paragraph("See our pages<br/>www.alder.example", CHAPTER)) == ["See our pages"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<b>Useful links</b><br/>www.alder.example<br/>www.dogwood.example", ["Useful links"]),
        # The name of whom the address belongs to, and a lead
        ("<b>Alder Heart Centre</b><br/>www.alder.example", []),
        ("<b>More about exercise:</b><br/>www.alder.example<br/>www.dogwood.example", []),
    ],
)
def test_a_bold_line_above_a_list_of_addresses_is_a_heading(tmp_path, text, expected):
    assert headings(tmp_path, Paragraph(text, BODY)) == expected


def test_figures_below_each_other_are_not_headings_although_they_are_bold(tmp_path):
    figures = [Paragraph(f"<b>{text}</b>", BODY) for text in ("Energy 1,511", "Protein 82g", "Fibre 29g")]
    assert headings(tmp_path, Paragraph("<b>Day 1</b>", BODY), Paragraph(FILLER, BODY), *figures) == ["Day 1"]


def test_bold_type_of_several_headings_is_that_of_one_above_smaller_text(tmp_path):
    small = ParagraphStyle("small", parent=BODY, fontSize=8.5)
    bold = ParagraphStyle("bold", parent=BODY, fontSize=8.5, fontName="Helvetica-Bold")
    others = [text for name in ("Signs", "Care") for text in (Paragraph(name, bold), Paragraph(FILLER, BODY))]
    assert headings(tmp_path, Paragraph("Abstract", bold), Paragraph(FILLER, small), *others) == ["Abstract", "Signs", "Care"]


def test_large_text_in_several_boxes_of_its_own_is_that_of_a_drawing(tmp_path):
    boxes = [at(words, 80, 300 + 80 * row + 18 * line, 14) for row in range(3) for line, words in enumerate(("Add two", "puffs"))]
    page = [*column(["# Asthma", FILLER, FILLER]), *boxes]
    areas = [(70, 280 + 80 * row, 200, 330 + 80 * row) for row in range(3)]
    document = extract(write_pdf(tmp_path / "book.pdf", [page], panels=areas), IDENTITY)
    assert [section.heading for section in document.sections] == ["Asthma"]
    assert document.sections[0].text.endswith("Add two puffs\n\nAdd two puffs\n\nAdd two puffs")


def test_what_stands_below_all_text_is_no_heading(tmp_path):
    page = [*column(["# Food", FILLER, "# Drink", FILLER]), at("Clinic of Alder", LEFT, 815, 12, True)]
    document = extract(write_pdf(tmp_path / "book.pdf", [page]), IDENTITY)
    assert [section.heading for section in document.sections] == ["Food", "Drink"]
