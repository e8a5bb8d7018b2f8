"""What the layout of a page leaves in doubt, on a PDF that Chromium makes of HTML as authors of leaflets do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from audit.pipeline.corpus.extraction.doubts import PageBoxes, copied_pages, divided_boxes
from audit.pipeline.corpus.extraction.drawings import Box
from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.layout import Block, Line, TextCell
from audit.pipeline.corpus.extraction.reconciliation import PageSource
from audit.pipeline.corpus.quality import quality_of
from audit.text.documents import BOX, COLUMNS, COPIED, LEADLESS, REPEATED, Document, Doubt, read_document, write_document

IDENTITY = Identity("kidney_alder_combined", "kidney", "alder", "combined")
TITLE = "High Potassium Foods: Avoid"
STYLE = """@page { size: A4; margin: 12mm } body { font: 12pt sans-serif; margin: 0 } h1 { font-size: 20pt; margin: 0 }
.p { break-after: page; position: relative; height: 265mm; display: flow-root } ul { margin: 0 }
.box { border: 1pt solid #000; padding: 6pt; width: 80mm } .two { display: grid; grid-template-columns: 60mm 60mm }
.at { position: absolute; top: 60mm; line-height: 20pt }"""
PAGES = (
    """<p>These foods have much potassium. Your dietitian gave you this sheet at the clinic.</p>
<h2>Fruits</h2><p>Fruit is sweet, and many people like to eat it after dinner with their family.</p>
<ul><li>bananas<li>oranges<li>kiwis</ul><p>Ask your dietitian about any other kind of fruit.</p>
<div class="box">Whole box<br>of two lines</div>""",
    """<h2>Vegetables</h2><p>Many vegetables have potassium too, and some of them have more than others do.</p>
<div class="two"><span>spinach</span><span>lettuce</span><span>potatoes</span><span>cucumber</span><span>tomatoes</span>
<span>cabbage</span><span>pumpkin</span><span>green beans</span></div><p>Cook them in plenty of water.</p>""",
    """<h2>Where to call</h2><p>Call the unit at any time of the day if you have a fever of more than 38 degrees.</p>
<div class="box at">Call today if you vomit<br>Call today if you shake<br>Call today if you faint</div>
<div class="at" style="left: 95mm; border: 1pt solid transparent; padding: 6pt">weekdays<br>telephone<br>Sundays</div>""",
)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Three pages with one title: a list without a lead, two lists beside each other, and a box beside other text."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium: apt-get install chromium")
    folder = tmp_path_factory.mktemp("leaflet")
    pages = "".join(f'<div class="p"><h1>{TITLE}</h1>{page}</div>' for page in PAGES)
    (folder / "leaflet.html").write_text(f'<meta charset="utf-8"><style>{STYLE}</style>{pages}')
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/p"]
    target = [f"--print-to-pdf={folder / 'leaflet.pdf'}", str(folder / "leaflet.html")]
    subprocess.run([*command, *target], check=True, capture_output=True, timeout=120)
    return extract(folder / "leaflet.pdf", IDENTITY)


def test_each_kind_of_doubt_is_quoted_with_its_pages(document: Document):
    found = {(doubt.kind, doubt.quote, doubt.pages) for doubt in quality_of(document).doubts}
    repeated = {pages for kind, quote, pages in found if (kind, quote) == (REPEATED, TITLE)}
    # Where a title is repeated, the text has it once, or on each page
    assert repeated <= {(2, 3)}
    assert repeated or document.full_text.count(TITLE) == len(PAGES)
    assert (LEADLESS, "• bananas", (1,)) in found
    assert (COLUMNS, "spinach | lettuce", (2,)) in found
    # The lines of the box are together in the text, or the box is in doubt; the other box, which is whole, is never
    together = "Call today if you shake Call today if you faint" in " ".join(document.full_text.split())
    assert [quote[:23] for kind, quote, _ in found if kind == BOX] == ([] if together else ["Call today if you vomit"])
    assert not any(kind == COPIED for kind, *_ in found)


def test_the_letters_of_the_page_are_those_of_the_sections_but_for_what_is_left_out(document: Document):
    quality = quality_of(document)
    left_out = sum(loss.letters for loss in document.lost)
    assert quality.letters is not None
    assert quality.section_letters + left_out == quality.letters


def test_doubts_are_in_the_document_and_documents_without_them_are_read(document: Document, tmp_path: Path):
    path = write_document(document, tmp_path / "a.json")
    assert read_document(path) == document
    path.write_text(
        '{"handbook_id": "a", "center": "b", "sections": [{"text": "x"}], "doubts": [{"kind": "later"}, {"kind": "box"}]}'
    )
    assert read_document(path).doubts == (Doubt(BOX, ""),)
    assert read_document(path).letters is None


BOXED = Box(50, 100, 250, 200)


def line(words: str, x0: float, baseline: float, *others: TextCell) -> Line:
    return Line(1, baseline, 10, False, (TextCell(words, x0, x0 + 80), *others))


INSIDE = [line(f"line {number} of the box", 60, 100 + 20 * number) for number in range(1, 5)]
OUTSIDE = [line(f"beside it {number}", 300, 100 + 20 * number) for number in range(1, 5)]


@pytest.mark.parametrize(
    ("lines", "quotes"),
    [
        ([*INSIDE, *OUTSIDE], []),
        ([*OUTSIDE[:2], *INSIDE, *OUTSIDE[2:]], []),
        ([*INSIDE[:2], OUTSIDE[0], *INSIDE[2:]], ["line 1 of the box"]),
        ([*INSIDE[:3], line("line 4", 60, 180, TextCell("beside it", 300, 380))], ["line 1 of the box"]),
        ([INSIDE[0], *OUTSIDE], []),
        ([], []),
    ],
)
def test_a_box_is_in_doubt_where_its_lines_are_not_together(lines: list[Line], quotes: list[str]):
    assert [doubt.quote for doubt in divided_boxes([PageBoxes(1, (BOXED,)), PageBoxes(2, (BOXED,))], lines)] == quotes


def test_a_page_whose_sections_have_its_text_twice_is_in_doubt():
    text = "Tofu, soft cheese and nuts may be had twice a week by those whose levels are low. " * 3
    pages = [PageSource(number, text, (), False) for number in (1, 2)]
    blocks = [Block("text", text * 2, 1, 1), Block("text", text, 2, 2)]
    assert [(doubt.kind, doubt.pages) for doubt in copied_pages(pages, blocks)] == [(COPIED, (1,))]
