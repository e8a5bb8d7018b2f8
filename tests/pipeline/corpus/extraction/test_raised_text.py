"""Raised and lowered text: the same sentence in every format gives the same text, in which the same amounts are read."""

from __future__ import annotations

import re

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph, SimpleDocTemplate

from audit.text.quantity import find_quantities
from tests.pipeline.corpus.extraction.test_formats import docx, read

LEAD = "Your team explains every step before you go home, and answers each of your questions. "
# With raised and lowered text as in HTML, then as it is to be read
SENTENCES = [
    ("Call us above 39<sup>2</sup> at any time.", "Call us above 39² at any time."),
    ("Keep platelets above 50 x 10<sup>9</sup>/L before it.", "Keep platelets above 50 x 10⁹/L before it."),
    ("Drink 2 litres<sup>1,3</sup> of water.", "Drink 2 litres [1,3] of water."),
    ("A surface of 1.73 m<sup>2</sup> is usual.", "A surface of 1.73 m² is usual."),
    ("Take 1<sup>1</sup>/<sub>2</sub> tablets.", "Take 1 1/2 tablets."),
    ("Keep your SpO<sub>2</sub> above 92 percent.", "Keep your SpO₂ above 92 percent."),
]
AMOUNTS = [39], [], [2e0], [1.73], [1.5], [0.92]


def as_docx(sentence: str) -> bytes:
    runs = ""
    for piece in re.split(r"(<su[pb]>.*?</su[pb]>)", sentence):
        place = {"<sup>": "superscript", "<sub>": "subscript"}.get(piece[:5])
        properties = f'<w:rPr><w:vertAlign w:val="{place}"/></w:rPr>' if place else ""
        runs += f'<w:r>{properties}<w:t xml:space="preserve">{piece[5:-6] if place else piece}</w:t></w:r>'
    return docx(f"<w:p>{runs}</w:p>")


def as_markdown(sentence: str) -> bytes:
    marked = re.sub(r"<sup>(.*?)</sup>(?!/)", r"^\1^", sentence)
    return re.sub(r"(?<=[A-Za-z])<sub>(.*?)</sub>", r"~\1~", marked).encode()


def as_pdf(sentence: str, folder) -> bytes:
    path = folder / "drawn.pdf"
    text = sentence.replace("sup>", "super>")
    SimpleDocTemplate(str(path)).build([Paragraph(text, ParagraphStyle("text", fontSize=11, leading=15))])
    return path.read_bytes()


@pytest.mark.parametrize("suffix", ["html", "docx", "md", "pdf"])
@pytest.mark.parametrize(("written", "expected"), SENTENCES)
def test_the_same_sentence_gives_the_same_text(tmp_path, suffix, written, expected):
    sentence = LEAD + written
    makers = {"docx": as_docx, "md": as_markdown, "pdf": lambda text: as_pdf(text, tmp_path)}
    content = makers[suffix](sentence) if suffix in makers else f"<p>{sentence}</p>".encode()
    document = read(tmp_path, f"heart_alder_post.{suffix}", content)
    assert document.full_text == LEAD + expected


def test_the_amounts_of_these_sentences_are_read():
    read_amounts = [[quantity.low for quantity in find_quantities(expected)] for _, expected in SENTENCES]
    assert read_amounts == list(AMOUNTS)
