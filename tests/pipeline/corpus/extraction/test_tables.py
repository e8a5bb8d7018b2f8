"""Tables keep each row together and say its column's head in each cell, whether lines rule them or not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.layout import Area, Line, PdfPage, Tag, TextCell, TextRun
from audit.pipeline.corpus.extraction.lists import Wording
from audit.pipeline.corpus.extraction.ruled_tables import lines_and_tables
from audit.pipeline.corpus.extraction.tables import table_blocks
from audit.text.statements import statements
from tests.support.pdfs import FILLER, LEFT, at, column, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=12)
HEADING = ParagraphStyle("heading", fontName="Helvetica-Bold", fontSize=15, leading=20)
GRID = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]

LABELLED = [("Fever", "Call us."), ("Cough", "Drink tea."), ("Pain", "Rest.")]


def table(rows: Sequence[Sequence[str]], style: Sequence[Any] = (), widths: Sequence[int] = (140, 140, 140)) -> Table:
    cells = [[Paragraph(text, BODY) for text in row] for row in rows]
    return Table(cells, colWidths=widths[: len(rows[0])], style=[*GRID, *style])


def text_of(path: Path, *flowables: Any) -> str:
    story = [Paragraph("Advice", HEADING), Paragraph(FILLER, BODY), Paragraph(FILLER, BODY), *flowables]
    SimpleDocTemplate(str(path / "book.pdf"), invariant=1).build(story)
    (section,) = extract(path / "book.pdf", IDENTITY).sections
    return section.text.removeprefix(f"{FILLER} {FILLER}\n\n")


def bold(*texts: str) -> list[str]:
    return [f"<b>{text}</b>" for text in texts]


def test_each_cell_of_a_ruled_table_has_its_columns_head(tmp_path):
    rows = [
        bold("Medicine", "Allowed", "Why"),
        ["Ibuprofen", "no", "It harms<br/>the kidney."],
        ["Paracetamol", "yes", "It is safe."],
    ]
    assert text_of(tmp_path, table(rows)) == (
        "Medicine | Allowed | Why\n"
        "Medicine: Ibuprofen | Allowed: no | Why: It harms the kidney.\n"
        "Medicine: Paracetamol | Allowed: yes | Why: It is safe."
    )


@pytest.mark.parametrize(
    ("size", "titles", "text"),
    [
        (15, ["Advice", "What to eat"], "Food | Portion\nFood: Grapes | Portion: one cup\nFood: Plums | Portion: two"),
        # In type of the table's own size it leads the rows
        (10, ["Advice"], "What to eat\nFood: Grapes | Portion: one cup\nFood: Plums | Portion: two"),
    ],
)
def test_a_first_row_in_larger_type_is_a_heading_and_not_a_row(tmp_path, size, titles, text):
    title = f'<font size="{size}">What to eat</font>'
    rows = [[title, ""], bold("Food", "Portion"), ["Grapes", "one cup"], ["Plums", "two"]]
    framed = table(rows, [("SPAN", (0, 0), (1, 0))])
    story = [Paragraph("Advice", HEADING), Paragraph(FILLER, BODY), Paragraph(FILLER, BODY), framed]
    SimpleDocTemplate(str(tmp_path / "book.pdf"), invariant=1).build(story)
    sections = extract(tmp_path / "book.pdf", IDENTITY).sections
    assert [section.heading for section in sections] == titles
    assert sections[-1].text.endswith(text)


def test_a_cell_divided_in_the_middle_of_its_words_is_one_row(tmp_path):
    rows = [bold("Food", "Portion"), ["Bell pepper, raw,", "half a cup"], ["chopped", ""], ["Grapes", "one cup"], ["Plums", ""]]
    text = text_of(tmp_path, table(rows, [("SPAN", (1, 1), (1, 2)), ("SPAN", (1, 3), (1, 4))]))
    assert text.splitlines()[1:] == [
        "Food: Bell pepper, raw, chopped | Portion: half a cup",
        "Food: Grapes | Portion: one cup",
        "Food: Plums | Portion: one cup",
    ]


@pytest.mark.parametrize(
    ("label", "leads", "quoted"),
    [
        ("What to eat", ("Some foods are safe. They include:", "Some foods harm you. They include:"), ""),
        # The columns alone would say the opposite
        ("Never eat", ("Soft cheese, such as:", "Raw fish, such as:"), "Never eat: "),
    ],
)
def test_lists_beside_each_other_are_led_by_their_own_sentences_or_also_by_their_label(tmp_path, label, leads, quoted):
    items = ("• cheese<br/>• bread", "• sushi<br/>• oysters")
    cells = [f"{lead}<br/>{item}" for lead, item in zip(leads, items, strict=True)]
    text = text_of(tmp_path, table([[label, ""], cells], [("SPAN", (0, 0), (1, 0))], widths=(200, 200)))
    quotations = [statement.quoted for statement in statements(text)]
    assert f"{quoted}{leads[0]} bread" in quotations
    assert f"{quoted}{leads[1]} sushi" in quotations
    assert label in text


def test_a_label_over_several_rows_is_in_each_of_them(tmp_path):
    rows = [bold("Group", "Food", "Advice"), ["Fish", "Sushi", "avoid"], ["", "Cod", "cook"]]
    text = text_of(tmp_path, table(rows, [("SPAN", (0, 1), (0, 2))]))
    assert text.splitlines()[1:] == ["Group: Fish | Food: Sushi | Advice: avoid", "Group: Fish | Food: Cod | Advice: cook"]


def test_a_row_over_all_columns_is_the_label_of_the_rows_below(tmp_path):
    rows = [["Not safe", ""], ["Sushi", "raw fish"], ["Safe", ""], ["Rice", "cooked"]]
    style = [("SPAN", (0, 0), (1, 0)), ("SPAN", (0, 2), (1, 2))]
    assert text_of(tmp_path, table(rows, style)) == "Not safe\nSushi | raw fish\nSafe\nRice | cooked"


def test_a_list_in_a_cell_is_led_by_its_rows_label_and_its_columns_head(tmp_path):
    rows = [bold("Sign", "What to do"), ["Fever", "• Rest.<br/>• Call us."], ["Cough", "• Drink tea.<br/>• Wait."]]
    assert text_of(tmp_path, table(rows)).endswith(
        "Fever | What to do:\n• Rest.\n• Call us.\n\nCough | What to do:\n• Drink tea.\n• Wait."
    )


def test_the_lines_of_drawings_in_cells_divide_nothing():
    def words(text: str, x: float, baseline: float) -> TextRun:
        return TextRun(text, x, x + 5 * len(text), baseline, 10.0, False)

    heights = (100.0, 160.0, 220.0)
    sides = [Area(x0, y, x1, y) for y in heights for x0, x1 in ((50, 250), (250, 450))]
    sides += [Area(x, top, x, top + 60) for x in (50, 450) for top in heights[:2]]
    # The last row is open below
    column = [Area(250, top, 250, top + 60) for top in heights]
    drawing = [Area(55 + 5 * step, top + 5, 55 + 5 * step, top + 80) for top in heights for step in range(8)]
    drawing += [Area(55, top + 5 + step, 90, top + 5 + step) for top in heights for step in range(0, 36, 6)]
    texts = [
        words(text, x, y + 30) for y, row in zip(heights, LABELLED, strict=True) for x, text in zip((92, 260), row, strict=True)
    ]
    # Below the drawing, words begin where it does
    below = [words("and what it says further below", 55, y + 50) for y in heights]
    page = PdfPage(1, 600.0, 800.0, (*texts, *below), tuple(column), (*sides, *drawing))
    (table,) = lines_and_tables(page)
    rows = [tuple(" ".join(line.text for line in cell) for cell in row) for row in table.table]
    assert rows == [(f"{label} and what it says further below", value) for label, value in LABELLED]


@pytest.mark.parametrize("heads", [("Low", "High"), ()])
def test_lists_beside_each_other_in_a_cell_keep_their_heads(tmp_path, heads):
    items = [("• Beans", "• Beets"), ("• Corn", "• Pumpkin"), ("• Okra", "• Spinach")]
    inner = Table([[Paragraph(text, BODY) for text in row] for row in ([heads] if heads else []) + items], colWidths=(120, 120))
    rows = [[Paragraph("Plants", BODY), inner], [Paragraph("Drinks", BODY), Paragraph("Water", BODY)]]
    text = text_of(tmp_path, Table(rows, colWidths=(100, 260), style=GRID))
    quoted = [statement.quoted for statement in statements(text)]
    assert f"Plants:{' Low:' if heads else ''} Okra" in quoted
    assert f"Plants:{' High:' if heads else ''} Beets" in quoted


@pytest.mark.parametrize("heads", [("DO", "DON'T"), ("Safe", "Not safe")])
def test_columns_of_advice_become_lists_that_never_mix(tmp_path, heads):
    rows = [
        bold(*heads),
        ["Drink clear soup and tea", "Drink alcohol or coffee"],
        ["Eat toast or dry rice", "Eat raw fish or eggs"],
    ]
    assert text_of(tmp_path, table(rows)) == (
        f"{heads[0]}:\n• Drink clear soup and tea\n• Eat toast or dry rice\n\n"
        f"{heads[1]}:\n• Drink alcohol or coffee\n• Eat raw fish or eggs"
    )


def test_a_table_that_goes_on_on_the_next_page_keeps_its_heads(tmp_path):
    first, second = [bold("Medicine", "Dose"), ["Tacrol", "2 mg"]], [["Predol", "5 mg"], ["Azathi", "1 mg"]]
    text = text_of(tmp_path, table(first), PageBreak(), table(second))
    assert text.splitlines()[-2:] == ["Medicine: Predol | Dose: 5 mg", "Medicine: Azathi | Dose: 1 mg"]


def test_a_frame_around_text_is_not_a_table(tmp_path):
    assert text_of(tmp_path, table([["Call us at once."]])).splitlines()[-1] == "Call us at once."


def test_a_table_without_rules_has_the_heads_of_its_bold_first_row(tmp_path):
    rows = [("Medicine", "Dose", "When"), ("Tacrol", "2 mg", "morning"), ("Predol", "5 mg", "evening")]
    cells = [
        at(text, LEFT + 150 * number, 200 + 20 * row, 10, row == 0)
        for row, line in enumerate(rows)
        for number, text in enumerate(line)
    ]
    pdf = write_pdf(tmp_path / "book.pdf", [[*column(["## Medicines", FILLER, FILLER]), *cells]])
    assert (
        extract(pdf, IDENTITY)
        .sections[0]
        .text.endswith(
            "\n\nMedicine | Dose | When\n"
            "Medicine: Tacrol | Dose: 2 mg | When: morning\nMedicine: Predol | Dose: 5 mg | When: evening"
        )
    )


def test_close_rows_of_figures_with_space_between_their_groups_stay_apart(tmp_path):
    rows = [
        ("Age", "", "", 0), ("18-29", "968 (30.3)", "1.10", 10), ("30-39", "826 (36.4)", "1.31", 20),
        ("Education", "", "", 38), ("At school", "707 (29.3)", "0.66", 48), ("Some college or", "803 (39.6)", "0.92", 58),
    ]  # fmt: skip
    cells = [
        at(text, LEFT + 150 * number, 200 + y, 8, y in (0, 38)) for *row, y in rows for number, text in enumerate(row) if text
    ]
    pdf = write_pdf(
        tmp_path / "book.pdf", [[*column(["## Figures", FILLER, FILLER]), *cells, at("university", LEFT + 4, 268, 8)]]
    )
    text = extract(pdf, IDENTITY).sections[0].text
    expected = ["18-29 | 968 (30.3) | 1.10", "30-39 | 826 (36.4) | 1.31", "At school | 707 (29.3) | 0.66"]
    assert [line for line in text.splitlines() if line in expected] == expected
    assert "Some college or university | 803 (39.6) | 0.92" in text


HANGING = [
    [(60, "Sign"), (130, "What it means"), (380, "What to do")],
    [],
    [(60, "Fever"), (130, "Your temperature is high, and it stays"), (380, "Call us the same day.")],
    [(150, "high for an hour.")],
    [(60, "Cough"), (130, "You cough for more than three days, at"), (380, "Rest, and drink more than you do on")],
    [(150, "night or when you lie down, and it does"), (400, "other days.")],
    [(150, "not get better.")],
    [(60, "Red wound"), (130, "The skin is warm."), (380, "Show it to a nurse.")],
]


def test_rows_whose_cells_go_on_further_in_are_whole_without_space_between_them(tmp_path):
    cells = [at(text, x, 200 + 12 * number, 10, number == 0) for number, row in enumerate(HANGING) for x, text in row]
    pdf = write_pdf(tmp_path / "book.pdf", [[*column(["## Signs", FILLER, FILLER]), *cells]])
    assert (
        extract(pdf, IDENTITY)
        .sections[0]
        .text.endswith(
            "\n\nSign | What it means | What to do\n"
            "Sign: Fever | What it means: Your temperature is high, and it stays high for an hour. | "
            "What to do: Call us the same day.\n"
            "Sign: Cough | What it means: You cough for more than three days, at night or when you lie down, and it does "
            "not get better. | What to do: Rest, and drink more than you do on other days.\n"
            "Sign: Red wound | What it means: The skin is warm. | What to do: Show it to a nurse."
        )
    )


def test_a_label_beside_the_middle_of_indented_lines_begins_no_row(tmp_path):
    rows = [
        [(150, "Your temperature is high")],
        [(60, "Fever"), (150, "for an hour.")],
        [(160, "Call us the same day,")],
        [(160, "and do not wait.")],
        [],
        [(150, "The skin is warm.")],
        [(60, "Wound"), (150, "It is red.")],
        [(160, "Show it to a nurse.")],
    ]
    cells = [at(text, x, 200 + 12 * number) for number, row in enumerate(rows) for x, text in row]
    pdf = write_pdf(tmp_path / "book.pdf", [[*column(["## Signs", FILLER, FILLER]), *cells]])
    assert (
        extract(pdf, IDENTITY)
        .sections[0]
        .text.endswith(
            "\n\nFever:\n• Your temperature is high for an hour.\n• Call us the same day, and do not wait."
            "\n\nWound:\n• The skin is warm. It is red.\n• Show it to a nurse."
        )
    )


def test_the_colon_of_a_head_is_not_doubled(tmp_path):
    text = text_of(tmp_path, table([bold("Medicine:", "Dose"), ["Tacrol", "2 mg"]]))
    assert text == "Medicine: | Dose\nMedicine: Tacrol | Dose: 2 mg"


def test_a_table_without_left_and_right_sides_is_a_table(tmp_path):
    open_sides = [("LINEABOVE", (0, 0), (-1, -1), 0.5, colors.black), ("LINEBELOW", (0, -1), (-1, -1), 0.5, colors.black)]
    inner = [*open_sides, ("LINEAFTER", (0, 0), (0, -1), 0.5, colors.grey)]
    cells = [
        [Paragraph(text, BODY) for text in row] for row in [bold("Grade", "Treatment"), ["1A", "Keep taking<br/>medicines."]]
    ]
    text = text_of(tmp_path, Table(cells, colWidths=[100, 200], style=inner))
    assert text.endswith("Grade | Treatment\nGrade: 1A | Treatment: Keep taking medicines.")


def test_cells_too_thin_for_text_are_a_drawing(tmp_path):
    hatched = Table([["", ""], ["", ""]], colWidths=[4, 4], rowHeights=[4, 4], style=GRID)
    assert text_of(tmp_path, hatched, Paragraph("Rest.", BODY)).endswith("Rest.")


def test_what_follows_an_open_sentence_in_a_cell_is_below_it(tmp_path):
    rows = [["• Eat rice<br/>• Eat eggs", "Never eat these foods:<br/><br/>Meat soups and broths"], ["• Drink tea", "• Beer"]]
    text = text_of(tmp_path, table(rows, widths=[200, 200]))
    assert "• Never eat these foods:\n  • Meat soups and broths" in text


# -- heads that are not bold, and heads of two rows ---------------------------------------------------------------------


PLAIN = [
    ["Food", "At home", "In hospital"],
    ["Honey", "no", "no"],
    ["Rye", "yes", "no"],
    ["Sushi", "no", "no"],
    ["Rice", "yes", "yes"],
]


def test_a_plain_first_row_above_words_that_are_repeated_is_the_head(tmp_path):
    rows = text_of(tmp_path, table(PLAIN)).splitlines()
    assert rows[:2] == ["Food | At home | In hospital", "Food: Honey | At home: no | In hospital: no"]
    assert len(rows) == len(PLAIN)


def test_a_plain_first_row_above_figures_is_the_head(tmp_path):
    rows = [
        ["Week", "Weight", "Steps"],
        ["one", "3 kg", "100"],
        ["two", "4 kg", "400"],
        ["three", "6 kg", "900"],
        ["four", "8 kg", "1000"],
    ]
    assert text_of(tmp_path, table(rows)).splitlines()[1] == "Week: one | Weight: 3 kg | Steps: 100"


@pytest.mark.parametrize(
    "rows",
    [
        # It may be a row like the others
        [["Honey", "depends"], ["Rye", "yes"], ["Sushi", "no"], ["Rice", "yes"], ["Eggs", "no"]],
        [["Honey", "no", "no"], ["Rye", "yes", "no"], ["Sushi", "no", "no"], ["Rice", "yes", "yes"], ["Eggs", "no", "yes"]],
        [["Sirolimus", "as told", "one"], ["Aspirin", "5 mg", "2"], ["Iron", "9 mg", "3"]],
    ],
)
def test_a_first_row_that_may_be_like_the_others_is_a_row(tmp_path, rows):
    assert text_of(tmp_path, table(rows)).splitlines() == [" | ".join(row) for row in rows]


def test_a_first_row_that_the_table_of_the_next_page_repeats_is_the_head(tmp_path):
    first, second = (
        [["Sign", "Do"], [*pair[:2]], [*pair[2:]]]
        for pair in (("Rash", "wait", "Cough", "call"), ("Chill", "rest", "Pain", "ring"))
    )
    text = text_of(tmp_path, table(first), PageBreak(), table(second))
    assert [line for line in text.splitlines() if line] == [
        "Sign | Do", "Sign: Rash | Do: wait", "Sign: Cough | Do: call", "Sign: Chill | Do: rest", "Sign: Pain | Do: ring",
    ]  # fmt: skip


def test_a_first_row_in_a_color_of_its_own_is_the_head(tmp_path):
    rows = [[f'<font color="white">{text}</font>' for text in ("Food", "Why")], ["Honey", "germs"], ["Sushi", "worms"]]
    dark = [("BACKGROUND", (0, 0), (-1, 0), colors.darkblue)]
    assert text_of(tmp_path, table(rows, dark)).splitlines() == [
        "Food | Why",
        "Food: Honey | Why: germs",
        "Food: Sushi | Why: worms",
    ]


def test_a_link_in_a_cell_does_not_hide_the_color_of_the_head(tmp_path):
    rows = [
        [f'<font color="white">{text}</font>' for text in ("Food", "Why")],
        ["Honey", "germs"],
        ["Tofu", "ok"],
        ["Eggs", "raw"],
    ]
    rows[1][1] = 'germs <font color="blue">(NHS)</font>'
    dark = [("BACKGROUND", (0, 0), (-1, 0), colors.darkblue)]
    assert text_of(tmp_path, table(rows, dark)).splitlines()[1] == "Food: Honey | Why: germs (NHS)"


def test_numbered_labels_are_those_of_rows_however_long_their_cells_are(tmp_path):
    effect = "Patients ate more, slept better and needed fewer tablets for their blood pressure than before they began to walk"
    rows = [
        bold("Benefit", "Effect"),
        *([f"{number}. {label}", effect] for number, label in enumerate(("Sleep", "Food", "Mood"), 1)),
    ]
    assert text_of(tmp_path, table(rows, GRID)).splitlines()[1] == f"Benefit: 1. Sleep | Effect: {effect}"


@pytest.mark.parametrize("corner", [("Tablet", ""), ("", "Tablet")])
@pytest.mark.parametrize("is_bold", [True, False])
def test_both_rows_of_a_head_are_kept_in_each_cell(tmp_path, corner, is_bold):
    heads = [[corner[0], "In the first year", "", "Later"], [corner[1], "morning", "night", "night"]]
    heads = [bold(*row) if is_bold else row for row in heads]
    spans = [("SPAN", (1, 0), (2, 0)), *([("SPAN", (0, 0), (0, 1))] if corner[0] else [])]
    body = [["Sirolimus", "2 mg", "1 mg", "none"], ["Iron", "none", "9 mg", "9 mg"]]
    assert text_of(tmp_path, table([*heads, *body], spans, (100, 100, 100, 100))).splitlines()[1:] == [
        "Tablet: Sirolimus | In the first year, morning: 2 mg | In the first year, night: 1 mg | Later, night: none",
        "Tablet: Iron | In the first year, morning: none | In the first year, night: 9 mg | Later, night: 9 mg",
    ]


def test_a_cell_over_two_columns_of_a_first_row_with_a_label_of_its_own_is_no_head(tmp_path):
    rows = [["Honey", "not allowed", ""], ["Rye", "yes", "no"], ["Rice", "no", "yes"]]
    text = text_of(tmp_path, table(rows, [("SPAN", (1, 0), (2, 0))]))
    assert text.splitlines() == ["Honey | not allowed", "Rye | yes | no", "Rice | no | yes"]


def test_the_title_above_a_label_is_kept(tmp_path):
    rows = [["What to eat", ""], ["Fruit", ""], ["Plums", "two"], ["Pears", "one"]]
    spans = [("SPAN", (0, 0), (1, 0)), ("SPAN", (0, 1), (1, 1))]
    assert text_of(tmp_path, table(rows, spans)).startswith("What to eat\nFruit\nPlums | two")


def test_two_rows_between_rules_with_labels_in_bold_are_rows_however_long(tmp_path):
    texts = ("You may not drive for a while, which is hard.", "A crash can hurt you and those around you.")
    cells = [at(label, LEFT, y, 10, True) for label, y in (("Freedom and", 200), ("mobility", 212), ("Safety", 320))]
    cells += [at(text, LEFT + 120, top + 12 * row) for text, top in zip(texts, (200, 320), strict=True) for row in range(8)]
    pages = [[*column(["## Advice", FILLER, FILLER]), *cells]]
    pdf = write_pdf(tmp_path / "book.pdf", pages, rules=[(LEFT, 520, y) for y in (186, 306, 420)])
    (section,) = extract(pdf, IDENTITY).sections
    rows = [statement.text for statement in statements(section.text) if statement.kind == "row"]
    assert rows == [
        f"{label} | {' '.join(8 * [text])}" for label, text in zip(("Freedom and mobility", "Safety"), texts, strict=True)
    ]


def test_items_with_amounts_beside_them_are_rows_whatever_space_a_note_leaves(tmp_path):
    foods = [("Bagel", "½"), ("Bread", "1 slice"), ("Rice", "½ cup"), ("Pita", "1"), ("Oats", "1 cup")]
    cells = [at(f"• {food}", LEFT, 200 + 14 * row + 3 * (row > 1)) for row, (food, _) in enumerate(foods)]
    cells += [at(amount, LEFT + 150, 200 + 14 * row + 3 * (row > 1)) for row, (_, amount) in enumerate(foods)]
    pdf = write_pdf(tmp_path / "book.pdf", [[*column(["## Starches", FILLER, FILLER]), *cells]])
    assert extract(pdf, IDENTITY).sections[0].text.endswith("\n".join(" | ".join(food) for food in foods))


def test_a_plain_first_row_that_is_tagged_as_a_head_is_the_head():
    def cell(text: str, kind: str) -> tuple[Line, ...]:
        return (Line(1, 100, 10, False, (TextCell(text, 60, 90),), tag=Tag(kind, 0, 1)),)

    rows = [(cell("Time", "head"), cell("Target", "head")), (cell("Bedtime", "cell"), cell("Below 180", "cell"))]
    (block,), _ = table_blocks(rows, Wording(1.2, frozenset()))
    assert block.text.splitlines()[-1] == "Time: Bedtime | Target: Below 180"


def test_a_bold_label_over_all_columns_takes_no_heads_away(tmp_path):
    rows = [
        bold("Which is it?", "Cold", "Flu"),
        ["How it starts", "slowly", "at once"],
        [*bold("Symptoms"), "", ""],
        ["Fever", "seldom", "often"],
        [*bold("Warning"), "", ""],
        ["Call us", "after two days in bed", ""],
    ]
    spans = [("SPAN", (0, 2), (-1, 2)), ("SPAN", (0, 4), (-1, 4)), ("SPAN", (1, 5), (2, 5))]
    text = text_of(tmp_path, table(rows, spans))
    assert "Symptoms\nWhich is it?: Fever | Cold: seldom | Flu: often" in text
    # A cell over both columns is said of neither alone
    assert "Which is it?: Call us | after two days in bed" in text


def test_a_head_above_figures_may_leave_the_column_between_them_empty(tmp_path):
    rows = [
        ["Pressure", "Upper", "", "Lower"],
        ["Normal", "below 120", "and", "below 80"],
        ["High", "130 to 139", "or", "80 to 89"],
    ]
    rows += [["Higher", "from 140", "or", "from 90"], ["Severe", "above 180", "or", "above 120"]]
    text = text_of(tmp_path, table(rows, widths=(100, 100, 60, 100)))
    assert "Pressure: High | Upper: 130 to 139 | or | Lower: 80 to 89" in text


def test_a_bold_row_with_a_shade_of_its_own_is_the_head_of_the_rows_below(tmp_path):
    shade = [("BACKGROUND", (0, 0), (-1, -1), colors.lightgrey), ("LINEAFTER", (0, 0), (0, 0), 1, colors.black)]
    head = Table([[Paragraph(text, BODY) for text in bold("Stage", "Alive after")]], colWidths=(140, 140), style=shade)
    rows = Table([["Localized", "92%"], ["Regional", "67%"], ["Distant", "15%"]], colWidths=(140, 140))
    said = [f"Stage: {stage} | Alive after: {share}" for stage, share in rows._cellvalues]
    assert text_of(tmp_path, head, rows).splitlines()[-3:] == said


def test_a_strip_that_holds_no_cell_of_its_own_is_no_column_and_tables_below_each_other_are_two():
    def rows(top: float, ends: tuple[float, ...]) -> list[Area]:
        uprights = [Area(x, top, x, top + 60) for x in (60, *ends)]
        return [*uprights, *(Area(60, y, ends[-1], y) for y in (top, top + 20, top + 40, top + 60))]

    def words(top: float, first: str) -> list[TextRun]:
        texts = [["Risk", "Impact", "Answer"], [first, "high", "rest"], ["Pain", "low", "wait"]]
        return [
            TextRun(text, x, x + 5 * len(text), top + 15 + 20 * number, 10, number == 0)
            for number, row in enumerate(texts)
            for text, x in zip(row, (65, 165, 265), strict=True)
        ]

    rulings = [*rows(100, (160, 260, 400)), *rows(190, (155, 255, 420)), Area(60, 160, 60, 190), Area(400, 160, 400, 190)]
    title = TextRun("Later", 65, 90, 180, 10, True)
    page = PdfPage(1, 600, 800, (*words(100, "Fever"), title, *words(190, "Cough")), tuple(rulings))
    tables = [line.table for line in lines_and_tables(page) if line.table]
    assert [[[" ".join(line.text for line in cell) for cell in row] for row in rows] for rows in tables] == [
        [["Risk", "Impact", "Answer"], [first, "high", "rest"], ["Pain", "low", "wait"]] for first in ("Fever", "Cough")
    ]
