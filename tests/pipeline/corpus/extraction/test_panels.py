"""Panels, repeated titles and what a document shows of its own lists: no advice loses the words that say what it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.learned_bullets import may_be_learned
from audit.text.documents import Document
from audit.text.statements import statements
from tests.support.pdfs import FILLER, LEFT, PITCH, SHORT, Text, at, column, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
LIGHTS = (
    ("Red", "Call 999 if:", "blue lips"),
    ("Amber", "Ring today if:", "five days of fever"),
    ("Green", "Stay if:", "it plays"),
)


def extracted(tmp_path: Path, *pages: list[Text], panels: list[tuple[float, float, float, float]] | None = None) -> Document:
    return extract(write_pdf(tmp_path / "book.pdf", pages, panels=panels or []), IDENTITY)


def outline(document: Document) -> list[str]:
    return [" > ".join((*section.above, section.heading)) for section in document.sections]


def text_below(document: Document, heading: str) -> str:
    (section,) = (section for section in document.sections if section.heading == heading)
    return section.text


def quoted(text: str) -> list[str]:
    return [statement.quoted for statement in statements(text)]


def panel(x: float, y: float, heading: str, lead: str, item: str) -> list[Text]:
    return [at(heading, x, y, 12, True), at(lead, x, y + 16), at(f"• {item}", x, y + 30), at("• the second sign", x, y + 44)]


@pytest.mark.parametrize("places", [[(70, 180), (230, 180), (390, 180)], [(70, 180), (70, 260), (70, 340)]])
def test_each_panel_is_a_section_of_its_own_and_heads_nothing_outside(tmp_path, places):
    texts = [text for (x, y), light in zip(places, LIGHTS, strict=True) for text in panel(x, y, *light)]
    page = [
        at("Cough", LEFT, 110, 18, True),
        at(SHORT, LEFT, 130),
        *texts,
        at(FILLER, LEFT, 430),
        at("School", LEFT, 480, 18, True),
    ]
    areas = [(x - 8, y - 16, x + 130, y + 52) for x, y in places]
    document = extracted(tmp_path, [*page, at(SHORT, LEFT, 500)], panels=areas)
    assert outline(document) == ["Cough", "Cough > Red", "Cough > Amber", "Cough > Green", "School"]
    assert text_below(document, "Cough") == f"{SHORT}\n\n{FILLER}"
    for heading, lead, item in LIGHTS:
        assert text_below(document, heading) == f"{lead}\n• {item}\n• the second sign"


def test_words_of_a_panel_beside_text_are_not_put_into_it(tmp_path):
    lines = [at(f"{SHORT[:38]} {number}", LEFT, 130 + PITCH * number) for number in range(12)]
    beside = [
        at(words, 330, 180 + PITCH * number) for number, words in enumerate(["Ring the ward", "before you eat", "grapefruit."])
    ]
    document = extracted(tmp_path, [*column(["# Cough"], y=90), *lines, *beside], panels=[(320, 166, 430, 216)])
    assert "Ring the ward before you eat grapefruit." in document.sections[0].text.split("\n\n")


def test_the_caption_beside_a_table_is_in_none_of_its_cells(tmp_path):
    caption = [
        at(words, LEFT, 130 + PITCH * number)
        for number, words in enumerate(["Table 1", "Doses of those", "who had none", "before"])
    ]
    rows = [("", "By day", "At night"), ("Alpha", "2 mg", "1 mg"), ("Beta", "10 mg", "7 mg"), ("Gamma", "9 mg", "250 mg")]
    cells = [
        at(cell, x, 125 + PITCH * y, 8)
        for y, row in enumerate(rows)
        for x, cell in zip((220, 330, 430), row, strict=True)
        if cell
    ]
    page = [*column(["# Doses"], y=90), *caption, *cells, *column([FILLER] * 8, y=220)]
    book = write_pdf(tmp_path / "book.pdf", [page], rules=[(215, 500, y) for y in (112, 129, 190)])
    text = extract(book, IDENTITY).sections[0].text
    assert "Beta | By day: 10 mg | At night: 7 mg" in text
    assert "Doses of those who had none before" in text


def test_heads_of_several_lines_above_rows_between_rules_are_whole(tmp_path):
    heads = {
        LEFT: ["Year"],
        180: ["Patients"],
        290: ["Number (%)", "confirmed", "in laboratories"],
        400: ["Number (%)", "sent to", "hospital"],
    }
    rows = [("2021", "3", "15 (6.4%)", "0 (0%)"), ("2022", "5", "23 (4.6%)", "1 (0%)"), ("2023", "9", "28 (5.7%)", "1 (0%)")]
    above = [at(words, x, 120 + 12 * y, 10, True) for x, lines in heads.items() for y, words in enumerate(lines)]
    cells = [at(cell, x, 166 + 22 * y) for y, row in enumerate(rows) for x, cell in zip(heads, row, strict=True)]
    page = [*column(["# Outbreaks"], y=80), *above, *cells, at(FILLER, LEFT, 260)]
    book = write_pdf(tmp_path / "book.pdf", [page], rules=[(LEFT, 500, 150 + 22 * y) for y in range(4)])
    names = ("Year", "Patients", "Number (%) confirmed in laboratories", "Number (%) sent to hospital")
    said = " | ".join(f"{name}: {cell}" for name, cell in zip(names, rows[1], strict=True))
    assert said in extract(book, IDENTITY).sections[0].text.splitlines()


def test_text_that_goes_on_across_an_edge_is_in_no_panel(tmp_path):
    page = column(["# Cough", *[FILLER[:-1].lower()] * 8])
    document = extracted(tmp_path, page, panels=[(50, 160, 500, 200)])
    assert document.sections[0].text.count("\n\n") == 0


def test_a_title_that_pages_repeat_is_the_heading_over_what_they_say(tmp_path):
    title = [at("High Potassium Foods", 200, 50, 22, True), at("Avoid or Limit Each Day", 230, 68, 12, True)]
    foods = (("Fruits", "Bananas"), ("Juices", "Orange juice"), ("Others", "Chocolate"))
    pages = [[*title, *column([f"## {group}", food, "Another one"])] for group, food in foods]
    over = "High Potassium Foods: Avoid or Limit Each Day"
    assert outline(extracted(tmp_path, *pages)) == [over, *(f"{over} > {group}" for group, _ in foods)]


def test_lines_further_in_than_a_short_one_are_its_items(tmp_path):
    lines = [
        "## Advice",
        "Do",
        "   rest after meals",
        "   drink coffee in the morning",
        "Don't",
        "   lift heavy boxes",
        "   drink beer",
        "",
        FILLER,
    ]
    page = [
        at(words.strip(), x + 8 * (len(words) - len(words.lstrip())), y, size, bold) for words, x, y, size, bold in column(lines)
    ]
    text = text_below(extracted(tmp_path, page), "Advice")
    assert quoted(text)[:4] == [
        "Do rest after meals",
        "Do drink coffee in the morning",
        "Don't lift heavy boxes",
        "Don't drink beer",
    ]


def test_a_paragraph_further_in_is_no_list(tmp_path):
    lines = ["## Advice", "The nurses say", *(f"   {FILLER}".rstrip(".") for _ in range(3)), FILLER]
    page = [
        at(words.strip(), x + 8 * (len(words) - len(words.lstrip())), y, size, bold) for words, x, y, size, bold in column(lines)
    ]
    assert "•" not in text_below(extracted(tmp_path, page), "Advice")


@pytest.mark.parametrize("sign", ["q", "~", "¤", "»", "⊲"])
def test_a_sign_that_begins_three_lines_at_one_indent_is_a_bullet(tmp_path, sign):
    items = ["plums", "walnuts", "rye"]
    marks = [at(mark, x, 160 + PITCH * number) for number in range(3) for mark, x in ((sign, LEFT), (items[number], LEFT + 20))]
    pages = [[*column(["## Avoid"], y=110), *marks, at(FILLER, LEFT, 230)]]
    runs_with_sign = extracted(tmp_path, *pages).sections[0].text if sign not in "⊲" else None
    # Helvetica has no such sign: only its kind is told
    assert runs_with_sign is None or runs_with_sign.startswith("Avoid:\n• plums\n• walnuts\n• rye")
    assert bullets.is_sign(sign) or may_be_learned(sign)


@pytest.mark.parametrize("lines", [2, 3])
def test_a_letter_close_to_its_text_is_a_bullet_where_it_begins_three_lines(tmp_path, lines):
    items = ["plums", "walnuts", "rye"][:lines]
    marks = [at(mark, x, 160 + PITCH * n) for n in range(lines) for mark, x in (("o", LEFT), (items[n], LEFT + 8))]
    text = extracted(tmp_path, [*column(["## Avoid"], y=110), *marks, at(FILLER, LEFT, 230)]).sections[0].text
    assert ("• plums\n• walnuts" in text) == (lines == 3)


def test_signs_that_compare_and_words_of_one_letter_are_no_bullets(tmp_path):
    page = column(["## Advice", "", *(f"a day of rest and one of work, number {number}" for number in range(4))])
    assert "•" not in text_below(extracted(tmp_path, page), "Advice")
    assert not any(bullets.is_sign(sign) or may_be_learned(sign) for sign in "≥<>+=↑↓1")


def test_double_spaced_lines_are_a_paragraph(tmp_path):
    lines = [at(words, LEFT, 150 + 2.6 * 10 * number) for number, words in enumerate(SHORT.lower().split(" "))]
    document = extracted(tmp_path, [*column(["## Advice"], y=90), *lines, at("Eat.", LEFT, 500)])
    assert document.sections[0].text == f"{SHORT.lower()}\n\nEat."


def test_a_second_column_of_a_list_stays_with_its_lead(tmp_path):
    left = ["Avoid", "• plums", "• walnuts", "• rye", "• figs", "Limit", "• milk", "• cheese", "• cream", "• yogurt"]
    right = {1: "• dates", 2: "• cocoa", 3: "• lentils", 6: "• nuts", 7: "• seeds", 8: "• toffee"}
    page = [at(words, LEFT + (14 if words[0] == "•" else 0), 160 + PITCH * number, 10) for number, words in enumerate(left)]
    page += [at(words, 330, 160 + PITCH * number) for number, words in right.items()]
    text = text_below(extracted(tmp_path, [*column(["## Foods"], y=100), *page, at(FILLER, LEFT, 330)]), "Foods")
    assert "Avoid lentils" in quoted(text)
    assert "Limit nuts" in quoted(text)
