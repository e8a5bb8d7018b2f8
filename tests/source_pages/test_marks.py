"""Where a statement is marked: on its own lines and nowhere else, however the page breaks it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from audit.source_pages.marks import statement_boxes
from audit.source_pages.reader import SourcePage, read_page
from tests.support.pdfs import FILLER, HEIGHT, WIDTH, Text, at, write_pdf


@pytest.fixture
def drawn(tmp_path: Path):
    def draw(*texts: Text) -> SourcePage:
        pdf = write_pdf(tmp_path / "book.pdf", [texts])
        return read_page(pdf, hashlib.sha256(pdf.read_bytes()).hexdigest(), 1)

    return draw


def lines_of(boxes) -> list[tuple[int, int]]:
    """(distance of the baseline from the top, distance from the left) of each box, in points, to the nearest ten."""
    return [(round(bottom * HEIGHT, -1), round(left * WIDTH, -1)) for left, _, _, bottom in boxes]


def test_a_sentence_is_marked_line_by_line_over_breaks_and_hyphens(drawn):
    page = drawn(at("Wash fruit. Call the trans-", 60, 100), at("plant team about a fe-", 60, 120), at("ver. Rest.", 60, 140))
    boxes = statement_boxes(page, "Call the transplant team about a fever.")
    assert [line for line, _ in lines_of(boxes)] == [100, 120, 140]
    # Only its own words and its full stop: not "Wash fruit." before it, not "Rest." after it
    assert boxes[0][0] * WIDTH > 100
    assert 76 < boxes[2][2] * WIDTH < 85


def test_of_equal_words_those_in_the_same_surroundings_are_marked(drawn):
    page = drawn(
        at("Do not eat:", 60, 100), at("Raw fish.", 60, 120), at("You may eat:", 60, 200), at("Cooked fish, but no", 60, 220),
        at("Raw fish.", 60, 240), at("Ask your team.", 60, 260),
    )  # fmt: skip
    assert lines_of(statement_boxes(page, "Raw fish.", "Do not eat: ", " You may eat:")) == [(120, 60)]
    assert lines_of(statement_boxes(page, "Raw fish.", "You may eat: Cooked fish, but no ", " Ask your team.")) == [(240, 60)]


def test_a_short_word_is_not_found_inside_another(drawn):
    page = drawn(at("Do nothing now.", 60, 100), at("Alcohol: no", 60, 120))
    assert lines_of(statement_boxes(page, "no")) == [(120, 100)]


def test_ligatures_accents_bullets_and_capitals_make_no_difference(drawn):
    page = drawn(at("\u2022 FIRST\xa0clear the caf\xe9\x92s waffles", 60, 100))
    assert lines_of(statement_boxes(page, "ﬁrst clear the cafe\u0301s waﬄes")) == [(100, 70)]


def test_the_cells_of_a_row_are_marked_on_its_height_without_the_heads(drawn):
    page = drawn(
        at("Medicine", 60, 100), at("Allowed", 300, 100), at("Ibuprofen", 60, 120), at("no", 300, 120),
        at("Paracetamol", 60, 140), at("no", 300, 140),
    )  # fmt: skip
    boxes = statement_boxes(page, "Paracetamol | Allowed: no", "Ibuprofen | Allowed: no\n")
    assert lines_of(boxes) == [(140, 60), (140, 300)]


def test_a_sentence_that_the_text_repaired_is_marked_where_most_of_it_is(drawn):
    page = drawn(at(FILLER, 60, 100), at("Take the tablet at 8 o clock with a g1ass of water and food.", 60, 120))
    boxes = statement_boxes(page, "Take the tablet at 8 o'clock with a glass of water and food.")
    assert {line for line, _ in lines_of(boxes)} == {120}


def test_lines_in_another_order_are_marked_all_the_same(drawn):
    page = drawn(at("with a glass of water.", 60, 120), at("Take the tablets at eight", 60, 100), at("Rest.", 60, 140))
    boxes = statement_boxes(page, "Take the tablets at eight with a glass of water.")
    assert sorted(lines_of(boxes)) == [(100, 60), (120, 60)]


def test_the_same_words_far_away_are_not_the_sentence(drawn):
    page = drawn(at("Talk to your neighbours.", 60, 100), at("The transplant team is away.", 60, 700))
    assert statement_boxes(page, "Talk to your transplant team about vaccines.") == []


@pytest.mark.parametrize("statement", ["Never swim in lakes or rivers after surgery.", "", "• | |"])
def test_what_is_not_on_the_page_is_not_marked(drawn, statement):
    assert statement_boxes(drawn(at(FILLER, 60, 100)), statement) == []
    assert statement_boxes(drawn(), statement) == []
