"""Text that a reader of the page does not see is no evidence: it is left out, and named with its page."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.quality import quality_of
from audit.text.documents import HIDDEN, STRUCK, Document
from tests.support.pdfs import FILLER, WIDTH, shown, write_raw_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")
ADVICE = "Keep your dressing dry for two days."
SECRET = "Swim every day from the first week."
BODY = shown(FILLER, y=780) + shown(ADVICE, y=740)


def read(path: Path, content: str, **options: object) -> Document:
    return extract(write_raw_pdf(path / "book.pdf", content, **options), IDENTITY)  # type: ignore[arg-type]


def lost(document: Document, kind: str) -> list[tuple[int | None, str]]:
    return [(loss.page, loss.example) for loss in document.lost if loss.kind == kind]


HIDDEN_WAYS = {
    "white as a shade of grey": shown(SECRET, how="1 g"),
    "white as red, green and blue": shown(SECRET, how="1 1 1 rg"),
    "white as inks": shown(SECRET, how="0 0 0 0 k"),
    "nearly white": shown(SECRET, how="0.99 0.99 0.98 rg"),
    "without ink": shown(SECRET, how="3 Tr"),
    "off the page": shown(SECRET, x=700),
    "above the page": shown(SECRET, y=900),
    "in the color of its box": "0.2 0.3 0.6 rg 50 690 400 30 re f " + shown(SECRET, how="0.2 0.3 0.6 rg"),
    "black on black": "0 g 50 690 400 30 re f " + shown(SECRET, how="0 g"),
    "below a white box": shown(SECRET) + "1 g 50 690 400 30 re f ",
    "below a white box with other text": shown(SECRET) + "1 g 50 690 400 30 re f 0 g " + shown("Ask us before you swim."),
    "cut off": f"q 50 600 100 20 re W n {shown(SECRET)} Q ",
    "transparent": "q /G0 gs " + shown(SECRET) + " Q ",
}


@pytest.mark.parametrize("way", HIDDEN_WAYS)
def test_text_that_nobody_sees_is_left_out_and_named(tmp_path, way):
    document = read(tmp_path, BODY + HIDDEN_WAYS[way], resources="/ExtGState << /G0 << /ca 0 >> >>")
    assert ADVICE in document.full_text
    assert "Swim every day" not in document.full_text
    assert lost(document, HIDDEN) == [(1, SECRET)]
    assert any("not visible to a reader" in sentence for sentence in quality_of(document).losses)
    assert ("Ask us before you swim." in document.full_text) == ("other text" in way)


SEEN_WAYS = {
    "white on a dark box": "0.1 0.2 0.5 rg 50 690 400 30 re f " + shown(SECRET, how="1 g"),
    "white on a picture": "q 400 0 0 40 50 685 cm /I0 Do Q " + shown(SECRET, how="1 g"),
    "grey": shown(SECRET, how="0.6 g"),
    "outlined": shown(SECRET, how="1 Tr 0.3 w"),
    "on a pale box": "0.93 0.95 1 rg 50 690 400 30 re f " + shown(SECRET, how="0 g"),
    "below a highlight": shown(SECRET) + "q /G1 gs 1 1 0 rg 50 690 400 30 re f Q ",
    "drawn twice for bold": shown(SECRET) + shown(SECRET, x=60.3),
    "in a clip around it": f"q 50 690 400 30 re W n {shown(SECRET)} Q ",
    "tiny": shown(SECRET, size=5),
}
PICTURE = b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>"


@pytest.mark.parametrize("way", SEEN_WAYS)
def test_text_that_is_seen_in_unusual_ways_is_read(tmp_path, way):
    document = read(
        tmp_path,
        BODY + SEEN_WAYS[way],
        resources="/ExtGState << /G1 << /ca 0.4 /BM /Multiply >> >> /XObject << /I0 100 0 R >>",
        extra=[PICTURE + b"\nstream\n\x20\nendstream"],
    )
    assert SECRET in document.full_text
    assert document.lost == ()


@settings(max_examples=25, deadline=None)
@given(grey=st.floats(0, 1), behind=st.floats(0, 1))
def test_what_is_read_and_what_is_named_are_all_that_the_page_has(tmp_path_factory, grey, behind):
    box = f"{behind:.3f} g 50 690 400 30 re f "
    document = read(tmp_path_factory.mktemp("page"), BODY + box + shown(SECRET, how=f"{grey:.3f} g"))
    named = " ".join(words for _, words in lost(document, HIDDEN))
    # At the border of what can be seen, a word that is drawn a little thicker may be read and the one beside it not
    assert all((word in document.full_text) or (word in named) for word in SECRET.rstrip(".").split())
    if abs(grey - behind) > 0.2:
        assert SECRET in document.full_text
    if abs(grey - behind) < 0.02:
        assert lost(document, HIDDEN) == [(1, SECRET)]


def scan(path: Path, layer: str, drawn: bool = True) -> Path:
    """A page that is a picture of words with an invisible text layer."""
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("L", (595, 842), 250)
    for number in range(12 if drawn else 0):
        ImageDraw.Draw(picture).text((60, 90 + 30 * number), FILLER[:60], fill=0, font=ImageFont.load_default(14))
    picture.save(path.with_suffix(".png"))
    canvas = Canvas(str(path), pagesize=(WIDTH, 842), invariant=1)
    canvas.drawImage(str(path.with_suffix(".png")), 0, 0, 595, 842)
    text = canvas.beginText(60, 740)
    text.setTextRenderMode(3)
    text.setFont("Helvetica", 14)
    for _ in range(12):
        text.textLine(layer)
    canvas.drawText(text)
    canvas.save()
    return path


@pytest.mark.parametrize("layer", ["Take the tablets with a glass of water.", "Tcke thc tab1ets wlth a gla55 0f wat3r"])
def test_the_text_layer_of_a_scan_is_read_and_named(tmp_path, layer):
    document = extract(scan(tmp_path / "book.pdf", layer), IDENTITY)
    assert layer in document.full_text
    assert document.ocr_pages == (1,)
    (sentence,) = quality_of(document).losses
    assert "The text of 1 of 1 pages is the text layer of a picture, recognised by a program (page 1)" in sentence


def test_invisible_text_beside_visible_text_on_an_empty_picture_is_left_out(tmp_path):
    picture = "q 595 0 0 842 0 0 cm /I0 Do Q "
    document = read(
        tmp_path,
        picture + "".join(shown(FILLER, y=780 - 20 * number) for number in range(3)) + shown(SECRET, y=500, how="3 Tr"),
        resources="/XObject << /I0 100 0 R >>",
        extra=[PICTURE + b"\nstream\n\xf8\nendstream"],
    )
    assert lost(document, HIDDEN) == [(1, SECRET)]
    assert SECRET not in document.full_text


STRIKES = {
    "a stroke": "0.8 w 60 704 m 250 704 l S ",
    "a thin filled box": "60 703.6 190 0.9 re f ",
    "a line for each word": "".join(f"{x} 704 m {x + 32} 704 l S " for x in range(58, 260, 32)),
    "two lines": "60 703 m 250 703 l S 60 705.5 m 250 705.5 l S ",
    "a dashed line": "[2 2] 0 d 60 704 m 250 704 l S ",
    "a thick bar": "60 702.4 190 3.6 re f ",
    "a line drawn by hand": "60 704 m 120 704.5 l 180 703.7 l 250 704.2 l S ",
    "a red line": "1 0 0 RG 60 704 m 250 704 l S ",
}


@pytest.mark.parametrize("way", STRIKES)
def test_text_with_a_line_through_it_is_withdrawn_and_named(tmp_path, way):
    document = read(tmp_path, BODY + shown(SECRET) + STRIKES[way])
    assert SECRET not in document.full_text
    assert lost(document, STRUCK) == [(1, SECRET)]


LINES_BESIDE = {
    "an underline": "60 698.5 m 250 698.5 l S ",
    "a rule above": "60 709.5 m 250 709.5 l S ",
    "a frame around it": "55 695 200 16 re S ",
    "a frame that touches its letters": "55 680 200 24 re S ",
    "a marker below its lower half": "1 1 0.4 rg 58 698 195 6 re f 0 g " + shown(SECRET),
    "a white line": "1 G 60 704 m 250 704 l S ",
    "a long line that goes on below a white box": "20 704 m 590 704 l S 1 g 55 690 220 25 re f 0 g " + shown(SECRET),
    "a line below a white box": "60 704 m 250 704 l S 1 g 58 695 200 16 re f 0 g " + shown(SECRET),
}


@pytest.mark.parametrize("way", LINES_BESIDE)
def test_a_line_that_is_not_seen_through_text_withdraws_nothing(tmp_path, way):
    document = read(tmp_path, BODY + ("" if SECRET in LINES_BESIDE[way] else shown(SECRET)) + LINES_BESIDE[way])
    assert SECRET in document.full_text
    assert document.lost == ()


def test_a_part_of_a_line_that_is_struck_goes_alone(tmp_path):
    # In Helvetica of 11 points, "Take " is 27.5 points wide, and "20" another 12.2
    document = read(tmp_path, BODY + shown("Take 20 10 mg every day.") + "1 w 87.5 704 m 99.8 704 l S ")
    assert "Take 10 mg every day." in document.full_text
    assert lost(document, STRUCK) == [(1, "20")]


@pytest.mark.parametrize("way", ["3 Tr (at most ) Tj 0 Tr", "1 g (at most ) Tj 0 g"])
def test_words_that_are_hidden_within_a_line_go_alone(tmp_path, way):
    document = read(tmp_path, BODY + f"BT /F1 11 Tf 60 700 Td (Take ) Tj {way} (5 mg.) Tj ET ")
    assert "Take 5 mg." in document.full_text
    assert lost(document, HIDDEN) == [(1, "at most")]


def test_text_of_a_layer_that_is_switched_off_is_left_out(tmp_path):
    layer = "/OC /MC0 BDC " + shown(SECRET) + " EMC "
    group = [b"<< /Type /OCG /Name (old) >>"]
    path = write_raw_pdf(tmp_path / "book.pdf", BODY + layer, resources="/Properties << /MC0 100 0 R >>", extra=group)
    off = b"/Type /Catalog /OCProperties << /OCGs [100 0 R] /D << /OFF [100 0 R] >> >>"
    path.write_bytes(path.read_bytes().replace(b"/Type /Catalog", off))
    assert lost(extract(path, IDENTITY), HIDDEN) == [(1, SECRET)]


def test_struck_text_on_a_page_that_is_turned_is_withdrawn(tmp_path):
    document = read(tmp_path, BODY + shown(SECRET) + STRIKES["a stroke"], page="/Rotate 90")
    assert SECRET not in document.full_text
    assert lost(document, STRUCK) == [(1, SECRET)]


def test_a_picture_whose_only_text_is_off_the_page_is_a_picture_without_text(tmp_path):
    content = ["q 500 0 0 500 40 100 cm /I0 Do Q " + shown(FILLER, y=900), BODY]
    picture = [PICTURE + b"\nstream\n\x80\nendstream"]
    path = write_raw_pdf(tmp_path / "book.pdf", content, resources="/XObject << /I0 100 0 R >>", extra=picture)
    assert extract(path, IDENTITY).silent_pages == (1,)


def test_text_outside_the_crop_box_is_left_out(tmp_path):
    document = read(tmp_path, BODY + shown(SECRET, y=60), page="/CropBox [0 100 595 842]")
    assert lost(document, HIDDEN) == [(1, SECRET)]


def test_the_lines_of_a_box_that_slants_a_little_are_read_one_after_the_other(tmp_path):
    lines = [
        "Blood pressure is the second most",
        "common cause of kidney disease. It is",
        "no cause of worry when it is treated",
        "each day for the rest of your life.",
    ]
    # Seven degrees, with each line fourteen points below the last
    shown_lines = "".join(
        f"BT /F1 11 Tf 0.99255 0.12187 -0.12187 0.99255 {90 + 1.7 * number} {500 - 13.9 * number} Tm ({line}) Tj ET "
        for number, line in enumerate(lines)
    )
    assert " ".join(lines) in " ".join(read(tmp_path, BODY + shown_lines).full_text.split())
