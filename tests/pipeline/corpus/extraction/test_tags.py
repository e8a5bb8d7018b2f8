"""Headings and cells by a PDF's tags, headings by space, links that are none, and running heads of left and right pages."""

from __future__ import annotations

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.headers_and_footers import find_headers_and_footers
from audit.pipeline.corpus.extraction.headings import find_headings
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.layout import CellPlace, Line, Tag, TextCell, TextRun
from audit.pipeline.corpus.extraction.tagged_tables import tagged_grids
from tests.support.pdfs import FILLER

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=12, spaceAfter=12)
PLAIN_TITLE = ParagraphStyle("title", parent=BODY, spaceBefore=12, spaceAfter=0)
PARAGRAPH = "You can wash when the wound is dry. " * 4
# Height, text and kind of tag: an advertisement and a menu have the type of headings, but no tag of one
TAGGED = [
    (40, "Going home", "heading"), (60, PARAGRAPH, "paragraph"), (90, "Your wound", "heading"), (110, PARAGRAPH, "paragraph"),
    (140, "Compare our plans", ""), (160, "Related pages", "item"), (190, "Your meals", "heading"), (210, PARAGRAPH, "paragraph"),
]  # fmt: skip


def line(height: float, text: str, kind: str, page: int = 1) -> Line:
    tag, size = Tag(kind, 2 if kind == "heading" else 0, int(height)), 10.5 if kind == "heading" else 10.0
    return Line(page, height, size, text != PARAGRAPH, (TextCell(text, 60, 60 + 5 * len(text)),), tag=tag)


def test_of_a_document_tagged_with_care_only_what_is_tagged_is_a_heading():
    lines = [line(height + 400 * page, text, kind) for page in range(3) for height, text, kind in TAGGED]
    found = [heading.text for heading in find_headings(lines, frozenset())]
    assert found == 3 * ["Going home", "Your wound", "Your meals"]


def test_where_all_text_is_tagged_as_headings_the_tags_say_nothing():
    lines = [line(height, text, "heading") for height, text, _ in TAGGED]
    assert "Compare our plans" in [heading.text for heading in find_headings(lines, frozenset())]


def built(path, *texts):
    SimpleDocTemplate(str(path / "book.pdf"), invariant=1).build(list(texts))
    return extract(path / "book.pdf", IDENTITY).sections


def test_a_bold_line_that_is_a_link_is_no_heading(tmp_path):
    link = Paragraph('<a href="https://example.org/wounds"><b>More on wounds</b></a>', BODY)
    sections = built(tmp_path, Paragraph("<b>Wounds</b>", BODY), Paragraph(FILLER * 3, BODY), link, Paragraph(FILLER * 3, BODY))
    assert [section.heading for section in sections] == ["Wounds"]


def test_text_without_a_type_of_its_own_is_divided_by_its_space(tmp_path):
    texts = [Paragraph(FILLER * 3, BODY), Paragraph("Wound care", PLAIN_TITLE), Paragraph(FILLER * 3, BODY)]
    assert [section.heading for section in built(tmp_path, *texts, *texts[1:])] == ["", "Wound care", "Wound care"]


def test_a_numbered_heading_leads_the_list_below_it(tmp_path):
    items = [Paragraph(text, PLAIN_TITLE) for text in ("<b>1. Foods to avoid</b>", "• Grapefruit", "• Star fruit")]
    (section,) = built(tmp_path, *items, Paragraph(FILLER * 3, BODY))
    assert section.heading == "1. Foods to avoid"
    assert section.text.startswith("1. Foods to avoid:\n• Grapefruit\n• Star fruit")


@pytest.mark.parametrize(("pages", "repeated"), [(4, True), (2, False)])
def test_left_and_right_pages_have_running_heads_of_their_own(pages, repeated):
    heads = ["A guide for you | 1", "Alder Hospital", "A guide for you | 3", "Alder Hospital"][:pages]
    lines = [[line(35, head, "", page), line(300, PARAGRAPH, "paragraph", page)] for page, head in enumerate(heads, 1)]
    found = find_headers_and_footers(lines, [800] * pages)
    assert [bool(found.parted(page, 800)[1]) for page in lines] == [repeated] * pages


def test_a_heading_over_two_lines_far_apart_is_one(tmp_path):
    wide = ParagraphStyle("wide", parent=BODY, fontSize=16, leading=34)
    texts = Paragraph("How to care for your wound when<br/>you are at home", wide), Paragraph(FILLER * 3, BODY), PageBreak()
    (section,) = built(tmp_path, *texts)
    assert section.heading == "How to care for your wound when you are at home"


def test_a_line_alone_between_paragraphs_is_a_heading_although_others_are_bold(tmp_path):
    bold = ParagraphStyle("bold", parent=BODY, fontName="Helvetica-Bold")
    alone = ParagraphStyle("alone", parent=BODY, spaceAfter=12)
    texts = [
        Paragraph("Going home", bold),
        Paragraph(FILLER * 3, BODY),
        Paragraph("Your meals", bold),
        Paragraph(FILLER * 3, BODY),
    ]
    sections = built(tmp_path, *texts, Paragraph("Wound care", alone), Paragraph(FILLER * 3, BODY))
    assert [section.heading for section in sections] == ["Going home", "Your meals", "Wound care"]


def cells(*rows: str) -> list[TextRun]:
    """The words of a tagged table, one row a text: "Food@60 Allowed@200"; of "-@0" only the place is left out."""
    runs = []
    for number, row in enumerate(rows, 1):
        for column, cell in enumerate(word for word in row.split() if not word.startswith("-")):
            text, x0 = cell.split("@")
            tag = Tag("cell", 0, 10 * number + column, CellPlace(1, number, column))
            runs.append(TextRun(text, float(x0), float(x0) + 5 * len(text), 100 + 20 * number, 10, False, tag=tag))
    return runs


def test_cells_without_lines_are_where_their_tags_say():
    (grid,) = tagged_grids(cells("Food@60 Portion@200 Allowed@330", "Eggs@60 Two@200 Yes@330", "Tofu@60 One@200 No@330"))
    assert [len(row) for row in grid.rows] == [3, 3, 3]
    assert len({cell for row in grid.rows for cell in row}) == 9


def test_a_row_whose_empty_cell_the_maker_left_out_keeps_its_columns():
    (grid,) = tagged_grids(cells("Food@60 Portion@200 Allowed@330", "Eggs@60 Two@200 Yes@330", "Tofu@60 -@0 No@330"))
    assert [cell is None for cell in grid.rows[2]] == [False, True, False]


def test_tags_of_cells_that_stand_elsewhere_are_of_no_use():
    assert not list(tagged_grids(cells("Food@60 Portion@200", "Two@200 Eggs@60", "Tofu@60 One@200")))
