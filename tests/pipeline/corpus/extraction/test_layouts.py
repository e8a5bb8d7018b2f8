"""Pages laid out by hand: a leaflet folded in three, a magazine, a poster, cards, columns beside a rule, leads above columns."""

from __future__ import annotations

from pathlib import Path

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.text.documents import Document
from tests.support.pdfs import Text, at, write_pdf

WORDS = (
    "wash your hands before you touch the dressing and keep the wound dry for a full day so that it can heal".split()  # noqa: SIM905
)
WIDE = (842, 595)
DO = ("walk every day", "drink water", "sleep well")
DONT = ("lift boxes", "drink beer", "drive a car")


def text(x: float, y: float, lines: int, width: int, start: int = 0) -> list[Text]:
    """Running text of so many lines with so many words, each line beginning with a small letter but the first."""
    words = [WORDS[(start + number) % len(WORDS)] for number in range(lines * width)]
    rows = [" ".join(words[row * width : (row + 1) * width]) for row in range(lines)]
    return [at(row.capitalize() if number == 0 else row, x, y + 14 * number) for number, row in enumerate(rows)]


def items(x: float, y: float, texts: tuple[str, ...], mark: str = "• ") -> list[Text]:
    return [at(f"{mark}{words}", x, y + 14 * number) for number, words in enumerate(texts)]


def read(path: Path, page: list[Text], **drawn: object) -> Document:
    return extract(write_pdf(path / "book.pdf", [page], **drawn), Identity("heart_alder_pre", "heart", "alder", "pre"))


def headings(document: Document) -> list[str]:
    return [section.heading for section in document.sections]


def test_a_leaflet_folded_in_three_is_read_panel_by_panel_although_its_lines_are_at_common_heights(tmp_path):
    page = list[Text]()
    for x, title, lead, own in ((30, "Before", "You may:", DO), (311, "During", "Do not:", DONT), (591, "After", "Try to:", DO)):
        page += [at(title, x, 60, 14, True), *text(x, 88, 6, 7), at(lead, x, 186), *items(x + 8, 200, own)]
    document = read(tmp_path, page, size=WIDE)
    assert headings(document) == ["Before", "During", "After"]
    assert [section.text.split("\n\n")[1] for section in document.sections][
        1
    ] == "Do not:\n• lift boxes\n• drink beer\n• drive a car"


def test_a_magazine_is_read_column_by_column_with_its_quotation_once(tmp_path):
    page = [at("Living well", 40, 60, 24, True), *text(40, 100, 30, 5), *text(215, 100, 12, 5, 1)]
    page += [at("Never skip a dose", 215, 300, 16), *text(215, 330, 12, 5, 2), *text(390, 100, 30, 5, 3)]
    document = read(tmp_path, page)
    assert document.full_text.replace("\n", " ").count("Never skip a dose") + headings(document).count("Never skip a dose") == 1
    starts = [document.full_text.index(line.capitalize()) for line in (page[1][0], page[31][0], page[-30][0])]
    assert starts == sorted(starts)


def test_the_parts_of_a_poster_each_have_their_heading(tmp_path):
    page = [at("STOP INFECTION", 100, 90, 48, True)]
    for number, title in enumerate(("Wash", "Cover", "Stay away", "Call us")):
        x, y = 60 + 270 * (number % 2), 180 + 260 * (number // 2)
        page += [at(title, x, y, 20, True), *text(x, y + 24, 5, 7, number)]
    assert headings(read(tmp_path, page)) == ["STOP INFECTION", "Wash", "Cover", "Stay away", "Call us"]


def test_a_narrow_list_beside_an_upright_rule_and_bare_numbers_of_steps_are_lists_of_their_own(tmp_path):
    page = [*text(60, 80, 3, 16), at("Signs", 60, 150, 14, True), *items(60, 170, ("pain", "redness", "watering"))]
    steps = ("Follow the plan.", "Wash both hands.", "Seek medical aid.")
    page += [at("What to do", 200, 150, 14, True), *items(218, 170, tuple(step.strip() for step in steps), "")]
    page += [at(str(number), 200, 156 + 14 * number, 10, True) for number in (1, 2, 3)]
    document = read(tmp_path, [*page, *text(60, 260, 3, 16)], panels=[(180, 135, 181.5, 215)])
    assert headings(document)[-2:] == ["Signs", "What to do"]
    assert "• pain\n• redness\n• watering" in document.full_text
    assert "1. Follow the plan.\n2. Wash both hands.\n3. Seek medical aid." in document.full_text


def test_figures_of_a_column_that_happen_to_go_up_are_no_numbers_of_steps(tmp_path):
    rows = [("Milk", "1", "Shop"), ("Tofu", "1", "Market"), ("Rice", "2", "Online"), ("Beans", "3", "Garden")]
    page = [at(cell, 60 + 100 * place, 100 + 14 * row) for row, cells in enumerate(rows) for place, cell in enumerate(cells)]
    assert "Rice | 2 | Online" in read(tmp_path, page).full_text


def test_short_heads_beside_each_other_lead_their_own_list_each(tmp_path):
    page = [at("Do", 60, 100, 12, True), at("No", 320, 100, 12, True), *items(84, 120, DO), *items(344, 120, DONT)]
    document = read(tmp_path, [at("After surgery", 60, 60, 20, True), *page, *text(60, 200, 4, 16)])
    assert "Do:\n• walk every day\n• drink water\n• sleep well" in document.full_text
    assert "No:\n• lift boxes\n• drink beer\n• drive a car" in document.full_text


def test_labels_beside_two_lists_lead_one_each(tmp_path):
    page = [at("Do not", 60, 100, 11, True), *items(180, 100, DONT), at("You may", 60, 180, 11, True), *items(180, 180, DO)]
    document = read(tmp_path, [*text(60, 60, 2, 16), *page, *text(60, 260, 3, 16)])
    assert "Do not:\n• lift boxes\n• drink beer\n• drive a car" in document.full_text
    assert "You may:\n• walk every day" in document.full_text


def test_a_gap_that_justified_text_left_is_no_border_of_cells(tmp_path):
    page = [*text(60, 80, 3, 16), at("in snake country look where", 60, 122), at("you step", 300, 122), *text(60, 136, 3, 16, 3)]
    assert "look where you step" in read(tmp_path, page).full_text


def test_titles_in_a_larger_type_are_headings_although_they_end_with_a_full_stop(tmp_path):
    page = list[Text]()
    for number, title in enumerate(("Choose healthy drinks.", "Offer simple foods.", "Stick with it.")):
        page += [at(title, 60, 80 + 110 * number, 14, True), *text(60, 100 + 110 * number, 4, 16, number)]
    assert headings(read(tmp_path, page)) == ["Choose healthy drinks.", "Offer simple foods.", "Stick with it."]


def test_the_head_of_one_list_is_no_row_with_the_items_of_another_that_begins_above_it(tmp_path):
    page = [at("Raw food", 60, 60, 18, True), at("Do not eat raw meat", 60, 136, 13, True)]
    rest = ["Such food may harm those who eat it, and", "all of those who cook for them as well"]
    for x, y, count in ((60, 178, 9), (330, 164, 10)):
        page += [at(f"{'• ' * (n % 2 == 0)}{rest[n % 2]}", x + 8 * (n % 2), y + 14 * n) for n in range(2 * count)]
    page += [at(f"{'• ' * (n == 0)}{rest[0]} so on,", 330 + 8 * (n > 0), 94 + 14 * n) for n in range(5)]
    document = read(tmp_path, page)
    assert headings(document) == ["Raw food", "Do not eat raw meat"]
    assert document.sections[1].text.startswith(f"• {' '.join(rest)}\n•")
