"""Lists keep what gives their items a meaning: the lead above them, the head of their column, the heading, their level."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.text.statements import statements
from tests.support.pdfs import FILLER, HEIGHT, LEFT, SHORT, Text, at, column, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")


def text_of(tmp_path: Path, *pages: list[Text], heading: str = "Advice") -> str:
    document = extract(write_pdf(tmp_path / "book.pdf", pages), IDENTITY)
    (section,) = (section for section in document.sections if section.heading == heading)
    return section.text


def quoted(text: str) -> list[str]:
    return [statement.quoted for statement in statements(text)]


def test_a_list_is_one_block_below_its_lead(tmp_path):
    page = column(["## Advice", FILLER, "", "Never smoke:", "• cigarettes", "• cigars or", "  pipes", "", FILLER])
    assert text_of(tmp_path, page) == f"{FILLER}\n\nNever smoke:\n• cigarettes\n• cigars or pipes\n\n{FILLER}"


def test_a_lead_stays_with_items_on_the_next_page(tmp_path):
    first = column(["## Advice", FILLER, "", "Call right away if:"], y=HEIGHT - 200)
    text = text_of(tmp_path, first, column(["• you have a fever", "• you faint", "", FILLER, FILLER]))
    assert "Call right away if: you faint" in quoted(text)


def test_a_bold_lead_with_a_colon_is_the_lead_and_no_heading(tmp_path):
    lead = at("Never smoke:", LEFT, 200, 10, True)
    items = column(["• cigarettes", "• cigars"], y=201)
    text = text_of(tmp_path, [*column(["## Advice", FILLER, FILLER]), lead, *items])
    assert quoted(text)[-2:] == ["Never smoke: cigarettes", "Never smoke: cigars"]


def test_a_heading_right_above_fragments_is_also_their_lead(tmp_path):
    page = column(["## Before", FILLER, FILLER, "## Do not eat", "• raw eggs", "• grapefruit", "• sushi"])
    assert text_of(tmp_path, page, heading="Do not eat") == "Do not eat:\n• raw eggs\n• grapefruit\n• sushi"


def test_a_heading_above_whole_sentences_is_not_repeated(tmp_path):
    page = column(["## Advice", "• Do not eat raw eggs.", "• Wash your hands before each meal.", "• Sleep well.", FILLER])
    assert text_of(tmp_path, page).startswith("• Do not eat raw eggs.\n")


def test_lists_within_lists_are_indented(tmp_path):
    inner = [at("– cigars", LEFT + 20, 200), at("– pipes", LEFT + 20, 214)]
    outer = [at("• Never smoke:", LEFT, 186), at("• Drink water", LEFT, 228)]
    text = text_of(tmp_path, [*column(["## Advice", FILLER, FILLER]), *outer, *inner])
    assert text.endswith("• Never smoke:\n  • cigars\n  • pipes\n• Drink water")


def test_steps_keep_their_numbers(tmp_path):
    page = column(["## Advice", "To measure your pulse:", "1. Sit down.", "2. Count for a minute.", "3. Repeat step 2."])
    assert text_of(tmp_path, page).endswith(":\n1. Sit down.\n2. Count for a minute.\n3. Repeat step 2.")


def test_lines_below_a_lead_without_bullets_are_items(tmp_path):
    items = [at(text, LEFT + 20, 200 + 14 * number) for number, text in enumerate(("cigarettes", "cigars", "marijuana"))]
    page = [*column(["## Advice", FILLER, FILLER]), at("Never smoke:", LEFT, 186), *items]
    assert quoted(text_of(tmp_path, page))[-1] == "Never smoke: marijuana"


def test_lines_further_in_than_a_short_line_are_its_items(tmp_path):
    never = ["lift a bag", "lift a bag of shopping that is so heavy that you need both of your hands for all the way up",
             "with it", "drive a car", "carry children"]  # fmt: skip
    page = [*column(["## Advice", FILLER, FILLER, "", "Do", *5 * [""], "Don’t"])]
    page += [at(text, LEFT + 36, y) for text, y in zip(["rest", "drink water", "walk a little"], (208, 222, 236), strict=True)]
    page += [at(text, LEFT + 36, 292 + 14 * row) for row, text in enumerate(never)]
    assert [text.split(" ", 1)[0] for text in quoted(text_of(tmp_path, page))[-7:]] == [*3 * ["Do"], *4 * ["Don’t"]]


def test_lines_below_a_colon_of_which_none_ends_a_sentence_are_items(tmp_path):
    pain = ["you have pain in your foot that keeps you from what you do on a usual day", "the pain gets worse or comes back",
            "your foot is numb, or you have lost the feeling in any part of it"]  # fmt: skip
    first = column(["## Advice", *40 * [FILLER], "See a doctor if:"])
    second = [*column(pain, y=60), *column([FILLER, FILLER], y=140)]
    assert [text[:16] for text in quoted(text_of(tmp_path, first, second))[-5:-2]] == 3 * ["See a doctor if:"]


@pytest.mark.parametrize("heads", [("DO:", "DON'T:"), ("Safe", "Not safe"), ("Grün", "Rot")])
def test_lists_beside_each_other_keep_their_heads(tmp_path, heads):
    left, right = ("Drink clear soup", "Drink tea", "Rest a lot"), ("Drink alcohol", "Eat raw fish", "Lift a child")
    rows = [at(head, x + 60, 190, 10, True) for head, x in zip(heads, (LEFT, 320), strict=True)]
    for number, pair in enumerate(zip(left, right, strict=True)):
        rows += [at(f"• {text}", x, 216 + 14 * number) for text, x in zip(pair, (LEFT, 320), strict=True)]
    text = text_of(tmp_path, [*column(["## Advice", FILLER, FILLER]), *rows])
    lead, other = (head if head.endswith(":") else f"{head}:" for head in heads)
    assert quoted(text)[-6:] == [f"{lead} {item}" for item in left] + [f"{other} {item}" for item in right]


def test_a_label_to_the_left_of_the_lists_leads_them_too(tmp_path):
    label = [at("Have a", LEFT, 214, 12, True), at("fever?", LEFT, 228, 12, True)]
    heads = [at("DO", 220, 190, 10, True), at("DON'T", 420, 190, 10, True)]
    items = [at(f"• {text}", x, 208 + 14 * row) for row, pair in enumerate([("Rest", "Run"), ("Call us", "Wait")])
             for text, x in zip(pair, (180, 380), strict=True)]  # fmt: skip
    text = text_of(tmp_path, [*column(["## Advice", FILLER, FILLER]), *label, *heads, *items])
    assert quoted(text)[-1] == "Have a fever? | DON'T: Wait"


def test_two_columns_of_text_with_lists_stay_columns(tmp_path):
    left = column(["## Advice", SHORT, SHORT, "You may:", "• walk", "• swim", SHORT, SHORT])
    right = column([SHORT, SHORT, SHORT, "Never:", "• smoke", "• dive", SHORT], x=320)
    assert quoted(text_of(tmp_path, [*left, *right]))[-3:-1] == ["Never: smoke", "Never: dive"]


def test_a_heading_beside_larger_or_smaller_text_is_no_row_with_it(tmp_path):
    page = [at("Washing", LEFT, 110, 18, True), at("Your notes", 440, 110, 12, True), *column([FILLER, FILLER], y=120)]
    page += [at("5", LEFT + 20, 180, 36, True), at("• Eat five portions a day", LEFT + 80, 180), *column([FILLER], y=220)]
    assert "5 Eat five portions a day" in quoted(text_of(tmp_path, page, heading="Washing"))


def test_columns_that_go_on_below_the_lists_at_their_top_stay_columns(tmp_path):
    items = [f"• {SHORT[:34]}" for _ in range(8)]
    left = column(["## Toilet", *items, "## Clothing", "• Try elastic waists for it", SHORT[:40], SHORT[:40]])
    right = column(["## Aids", *items, "", SHORT[:40], SHORT[:40], SHORT[:40], SHORT[:40]], x=320)
    assert "elastic" in text_of(tmp_path, [*left, *right], heading="Clothing")


def test_indented_items_of_several_sentences_are_told_by_their_distance(tmp_path):
    ys = (186, 198, 214, 226, 242)
    texts = ("Mind your back. Never lift", "alone.", "Check the water. It may", "scald you.", "Lock the cupboard.")
    page = [*column([FILLER, FILLER]), at("These hints may help:", LEFT, 170), *column([FILLER, FILLER], y=250)]
    page += [at("Advice", LEFT, 80, 13, True), *(at(text, LEFT + 20, y) for text, y in zip(texts, ys, strict=True))]
    text = text_of(tmp_path, page)
    assert "hints may help:\n• Mind your back. Never lift alone.\n• Check the water. It may scald you.\n• Lock the" in text


@pytest.mark.parametrize(("lead", "gap"), [("Call 999 if:", 0), ("Call 999 if:", 14), ("Don’t", 0)])
def test_lines_that_begin_small_where_the_line_above_had_room_are_items(tmp_path, lead, gap):
    items = [
        "drive",
        "go back to work, or to any sport in which you may be hit or fall, before a doctor at the clinic",
        "has seen you",
    ]
    page = [*column(["## Advice", FILLER, FILLER]), at(lead, LEFT, 200), *column([*items, "", FILLER], y=200 + gap)]
    assert quoted(text_of(tmp_path, page))[-3:-1] == [f"{lead} drive", f"{lead} {items[1]} has seen you"]


def test_numbers_beside_the_middle_of_their_steps_are_read_before_them(tmp_path):
    page = column(["## Advice", FILLER, FILLER])
    for number in (1, 2, 3):
        y = 140 + 60 * number
        page += [at(str(number), LEFT, y + 6, 13), at("Hold the reader near your arm, and wait until", LEFT + 30, y)]
        page += [at("it tells you what it has found.", LEFT + 30, y + 12)]
    step = "Hold the reader near your arm, and wait until it tells you what it has found."
    assert text_of(tmp_path, page).endswith(f"1. {step}\n2. {step}\n3. {step}")


def test_a_list_in_a_list_that_goes_on_on_the_next_page_stays_below_its_lead(tmp_path):
    first = column(["## Advice", FILLER, FILLER, "", "• Wash your hands", "• Call an ambulance for:"], y=HEIGHT - 200)
    second = [
        at("– trouble breathing", LEFT + 20, 60),
        at("– swollen lips", LEFT + 20, 74),
        at("• Ask us if you are not sure", LEFT, 88),
    ]
    text = text_of(tmp_path, first, second)
    assert quoted(text)[-3:] == [
        "Call an ambulance for: trouble breathing",
        "Call an ambulance for: swollen lips",
        "Ask us if you are not sure",
    ]


def test_items_below_a_number_that_leads_them_are_its_own_even_where_they_are_no_further_in(tmp_path):
    lines = ["## Advice", FILLER, FILLER, "", "1. Tablets: there are", "several kinds.", "2. The disease: these"]
    text = text_of(tmp_path, column([*lines, "treatments include:", "• surgery", "• antibiotics", "", FILLER]))
    assert quoted(text)[-3:-1] == [
        "The disease: these treatments include: surgery",
        "The disease: these treatments include: antibiotics",
    ]
    assert "1. Tablets: there are several kinds." in text


def test_a_minus_sign_begins_items_and_an_item_without_a_full_stop_leads_them(tmp_path):
    inner = [at("− cooking with salt", LEFT + 20, 200), at("− fast food", LEFT + 20, 214)]
    text = text_of(tmp_path, [*column(["## Advice", FILLER, FILLER]), at("• Avoid at home", LEFT, 186), *inner])
    assert quoted(text)[-2:] == ["Avoid at home cooking with salt", "Avoid at home fast food"]


def test_lines_without_marks_below_a_colon_lead_the_marked_ones_below_them(tmp_path):
    lines = [("Fever", 20), ("• at night", 34), ("• with a rash", 34), ("Onset sudden", 20), ("Older than 50 years", 20)]
    items = [at(text, LEFT + indent, 200 + 14 * number) for number, (text, indent) in enumerate(lines)]
    text = text_of(tmp_path, [*column(["## Advice", FILLER, FILLER]), at("Call at once for:", LEFT, 186), *items])
    assert text.endswith("Call at once for:\n• Fever\n  • at night\n  • with a rash\n• Onset sudden\n• Older than 50 years")


def test_a_heading_above_the_lead_of_one_of_two_lists_beside_each_other_is_no_part_of_it(tmp_path):
    left = [at(f"• do not eat {food}", LEFT, 200 + 14 * number) for number, food in enumerate(("eggs", "fish", "nuts"))]
    right = [at(f"• eat {food}", 330, 200 + 14 * number) for number, food in enumerate(("rice", "bread", "oats"))]
    heads = [at("Advice", LEFT, 170, 14, True), at("If you are ill:", LEFT, 186), at("If you are well:", 330, 186)]
    page = [*column(["# Food", FILLER]), *heads, *left, *right]
    assert text_of(tmp_path, page).split("\n\n") == [
        "If you are ill:\n• do not eat eggs\n• do not eat fish\n• do not eat nuts",
        "If you are well:\n• eat rice\n• eat bread\n• eat oats",
    ]


# -- the cells of a column ----------------------------------------------------------------------------------------------


def text_with_cells(path: Path, lead: str, *after: str) -> str:
    """The text of a section with a lead, a framed column of three cells, and further paragraphs."""
    heading, body = (ParagraphStyle(name, fontName=font, fontSize=size, leading=1.2 * size) for name, font, size in STYLES)
    cells = Table([["Rosulin"], ["Tolfen"], ["Warfex"]], colWidths=[200], style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    story = [Paragraph("Advice", heading), Paragraph(FILLER, body), Paragraph(lead, body), cells]
    SimpleDocTemplate(str(path / "book.pdf"), invariant=1).build([*story, *(Paragraph(text, body) for text in after)])
    (section,) = extract(path / "book.pdf", IDENTITY).sections
    return section.text


STYLES = (("heading", "Helvetica-Bold", 15), ("body", "Helvetica", 10))


@pytest.mark.parametrize("before", ["", "• Morning: take all as usual.<br/>• Evening: "])
def test_a_column_of_cells_below_a_lead_is_its_list(tmp_path, before):
    said = quoted(text_with_cells(tmp_path, f"{before}Do not take:", "• Any other tablet as usual."))
    lead = "Evening: Do not take:" if before else "Do not take:"
    assert {f"{lead} {name}" for name in ("Rosulin", "Tolfen", "Warfex")} <= set(said)
    assert said[-1] == "Any other tablet as usual."


def test_a_column_of_cells_below_a_whole_sentence_is_text(tmp_path):
    assert "•" not in text_with_cells(tmp_path, "Ask us.")


def test_numbered_paragraphs_below_a_title_that_all_pages_repeat_are_one_list(tmp_path):
    full = "A service that nobody would have to pay for without this plan, also under the law of"
    pages = [
        [at("The plan", 200, 120, 18), *column(["## We pay for none of:"] * (start == 1), y=150)]
        + [at(text, LEFT, 200 + 20 * (number - start) + y) for number in range(start, start + 9, 3)
           for text, y in ((f"{number}. {full}", 0), ("Maine.", 12))]
        for start in (1, 11, 21)
    ]  # fmt: skip
    assert quoted(text_of(tmp_path, *pages, heading="We pay for none of:")) == [f"{full} Maine."] * 9
