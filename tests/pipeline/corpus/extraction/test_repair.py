"""Characters, spaces and pages that a PDF hides or garbles."""

from __future__ import annotations

import pytest
from reportlab.pdfgen.canvas import Canvas

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.layout import TextRun, lines_of
from audit.pipeline.corpus.extraction.repair import UNKNOWN, Ink, clean_text, from_font, resolved
from audit.pipeline.corpus.quality import quality_of
from audit.text.documents import UNREAD, Document, Loss, Section
from tests.support.pdfs import FILLER, HEIGHT, LEFT, WIDTH, column, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")


def run(text: str, x0: float, baseline: float = 100.0, size: float = 10.0, **fields: bool) -> TextRun:
    return TextRun(text, x0, x0 + 0.5 * size * len(text), baseline, size, False, **fields)


def line(*runs: TextRun) -> str:
    (only,) = lines_of(runs, 1)
    return only.text


@pytest.mark.parametrize(
    ("garbled", "text"),
    [
        ("ﬁrst diﬀerent oﬃce ﬂu", "first different office flu"),
        ("su\x0ecient \x1ccrst", "sufficient ficrst"),
        ("medicaƟon paƩern", "medication pattern"),
        ("in!nite", "in!nite"),
        ("Stop!call", "Stop!call"),
        ('say "nurse', 'say "nurse'),
        ("follow\xadup X\u2011ray", "follow-up X-ray"),
        ("dose \uf0a3 5 \uf06dg, 38\uf0b0C", "dose ≤ 5 µg, 38°C"),
        ("100.4⁰F or 38 ºC", "100.4°F or 38°C"),
        ("2¹⁄₂ cups", "2 1/2 cups"),
        ("Stop! Call us", "Stop! Call us"),
    ],
)
def test_characters_are_written_as_they_are_drawn(garbled, text):
    assert clean_text(garbled) == text


@pytest.mark.parametrize(
    ("raised", "behind", "text"),
    [
        ("3", "10", "10³"),
        ("2", "m", "m²"),
        ("®", "Prograf", "Prograf®"),
        ("th", "15", "15th"),
        ("7", "heart", "heart [7]"),
        ("2,3", "graft.", "graft. [2,3]"),
    ],
)
def test_raised_text_joins_no_word_or_number(raised, behind, text):
    word = run(behind, 50)
    assert line(word, run(raised, word.x1, 96, 6)) == text


def test_capitals_that_are_all_raised_are_read():
    word = run("Alder", 60, 100, 15)
    first = run("TM", word.x1, 91, 2)
    # So far behind the first sign that it is a cell of its own
    lines = lines_of([word, first, run("SM", first.x1 + 4, 91, 2)], 1)
    assert [line.text for line in lines] == ["AlderTM", "SM"]


@pytest.mark.parametrize(
    ("number", "up", "size", "text"),
    [
        ("2", 4, 6, "38²"),
        # Raised in type of the same size, or hardly smaller
        ("2", 4, 10, "38²"),
        ("4", 3, 9, "38⁴"),
        ("1,2,3", 4, 6, "38 [1,2,3]"),
        ("2", -2, 6, "38₂"),
    ],
)
def test_a_raised_or_lowered_number_never_becomes_digits_of_the_one_before_it(number, up, size, text):
    word = run("38", 50)
    assert line(word, run(number, word.x1, 100 - up, size)) == text


def test_a_number_above_another_one_is_a_fraction():
    word = run("1", 50)
    over, under = run("1", word.x1 + 2, 95.5, 6), run("2", word.x1 + 2, 104, 6)
    assert line(word, over, under, run("tablets", over.x1 + 3, space_after=True)) == "1 1/2 tablets"


def test_digits_at_the_height_of_the_line_are_one_number():
    word = run("38", 50)
    assert line(word, run("2", word.x1, 99.5)) == "382"


def test_an_index_stays_in_its_word():
    assert line(run("CO", 50), run("2", 60, 102, 6)) == "CO₂"


@pytest.mark.parametrize(("mark", "bullet"), [("\uf0b7", "•"), ("\uf0a7", "•"), ("\uf0fc", "✓"), ("\uf0fb", "✗"), ("o", "◦")])
def test_bullets_of_symbol_fonts_are_bullets(mark, bullet):
    assert line(run(mark, 50), run("Rest", 75)) == f"{bullet} Rest"


def test_a_bullet_of_another_size_belongs_to_the_text_behind_it():
    assert line(run("•", 50, 105, 20), run("Rest", 75)) == "• Rest"


def test_a_hyphen_that_belongs_to_the_word_stays(tmp_path):
    lines = ["## Tests", "You need an X-", "ray and a COVID-", "19 test. At the follow-", "up we follow what is up."]
    document = extract(write_pdf(tmp_path / "book.pdf", [column(lines)]), IDENTITY)
    assert document.sections[0].text == "You need an X-ray and a COVID-19 test. At the follow-up we follow what is up."


WIDE, NARROW, HIGH = Ink(0.5, 0.0, 0.72), Ink(0.12, 0.0, 0.72), Ink(0.26, 0.46, 0.72)


def drawn(text: str, ink: Ink, font: str = "Alder-Roman") -> str:
    """The text with each of its marks as a glyph that is drawn so."""
    return "".join(from_font(character, font, lambda: ink) for character in text)


@pytest.mark.parametrize(
    ("text", "ink"), [("Stop!call the clinic", NARROW), ('the "nurse" is there', HIGH), ("Stop! Rest.", NARROW)]
)
def test_a_mark_that_is_drawn_as_one_stays(text, ink):
    assert resolved([drawn(text, ink), "Stopfi, flnurse, flus"]) == [text, "Stopfi, flnurse, flus"]


def test_a_ligature_that_is_read_as_a_mark_is_what_the_documents_own_words_show():
    texts = [drawn("Con!rm the !rst dose", WIDE), drawn('Do not su"er', WIDE), "Confirm it. You suffer."]
    assert resolved(texts) == ["Confirm the first dose", "Do not suffer", "Confirm it. You suffer."]


def test_a_ligature_that_no_other_word_shows_is_unknown_and_counts_as_unreadable():
    (text,) = resolved([drawn("Drink plenty of !uids.", WIDE)])
    assert text == f"Drink plenty of {UNKNOWN}uids."
    document = Document("a", "heart", "alder", "pre", (Section("s1", "", text),))
    assert quality_of(document).unreadable > 0


def test_one_mark_stands_for_one_ligature_in_each_font():
    texts = [drawn("!nd", WIDE, "One"), drawn("a!er", Ink(0.6, 0.0, 0.72), "Two"), "find", "after"]
    assert resolved(texts)[:2] == ["find", "after"]


@pytest.mark.parametrize(
    ("texts", "read"),
    [
        (["They donít eat ìeggnogî", "It isnít safe."], ["They don’t eat “eggnog”", "It isn’t safe."]),
        # An apostrophe or another accent shows that the document can write it
        (["María Díaz", "Don’t eat it."], ["María Díaz", "Don’t eat it."]),
        (["El día después", "líquidos"], ["El día después", "líquidos"]),
    ],
)
def test_quotes_of_another_alphabet_are_mended_where_the_document_has_no_apostrophe_and_no_accents(texts, read):
    assert resolved(texts) == read


def test_turned_text_is_read_on_its_own_and_slanted_text_is_named(tmp_path):
    canvas = Canvas(str(tmp_path / "book.pdf"), pagesize=(WIDTH, HEIGHT), invariant=1)
    for number in range(6):
        canvas.drawString(LEFT, HEIGHT - 200 - 14 * number, FILLER)
    for angle, words in ((90, "Section tab"), (45, "DRAFT")):
        canvas.saveState()
        canvas.translate(400, 300)
        canvas.rotate(angle)
        canvas.drawString(0, 0, words)
        canvas.restoreState()
    canvas.save()
    document = extract(tmp_path / "book.pdf", IDENTITY)
    assert document.full_text == " ".join([FILLER] * 6) + "\n\nSection tab"
    assert document.lost == (Loss(UNREAD, 5, 1, "DRAFT"),)


@pytest.mark.parametrize("quarter", [90, 270])
def test_a_page_whose_text_is_turned_is_read_upright(tmp_path, quarter):
    canvas = Canvas(str(tmp_path / "book.pdf"), pagesize=(HEIGHT, WIDTH), invariant=1)
    canvas.translate(HEIGHT / 2, WIDTH / 2)
    canvas.rotate(quarter)
    for number, words in enumerate(("Rest at home.", "Then call us.")):
        canvas.drawString(-200, 100 - 14 * number, words)
    canvas.save()
    assert extract(tmp_path / "book.pdf", IDENTITY).full_text == "Rest at home. Then call us."


def test_words_without_spaces_in_the_file_are_parted_by_their_distance(tmp_path):
    canvas = Canvas(str(tmp_path / "book.pdf"), pagesize=(WIDTH, HEIGHT), invariant=1)
    canvas.setFont("Helvetica", 10)
    for row in range(4):
        x = float(LEFT)
        for word in FILLER.split():
            canvas.drawString(x, HEIGHT - 200 - 14 * row, word)
            x += canvas.stringWidth(word, "Helvetica", 10) + 1.8
    canvas.save()
    assert extract(tmp_path / "book.pdf", IDENTITY).full_text == " ".join([FILLER] * 4)
