"""Web pages, DOCX, Markdown and plain text into the same sections, with lists that keep their leads and rows their heads."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.errors import DocumentError
from audit.pipeline.corpus.extraction.formats import read_source
from audit.pipeline.corpus.extraction.run import extract_all
from audit.text.documents import Document, read_document
from audit.text.statements import statements

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>After your transplant</title><link rel="canonical" href="https://alder.example/after?x=1#top"></head>
<body>
<nav><ul><li>Home</li><li>Visitors</li></ul></nav>
<header><p>Alder Clinic: call us</p></header>
<main>
<h1>After your transplant</h1>
<p>Rest, and drink
   enough <b>water</b>.<script>track()</script></p>
<h2 id="smoke">Smoking</h2>
<p>Never smoke:</p>
<ul><li>cigarettes</li><li>Any of these:<ul><li>pipes</li><li>cigars</li></ul></li></ul>
<section id="pills"><h2>Medicines</h2>
<table><thead><tr><th>Medicine</th><th>Allowed</th><th>Dose</th></tr></thead>
<tr><td>Ibuprofen</td><td>no</td><td></td></tr><tr><td>Paracetamol</td><td>yes</td><td>500 mg/m<sup>2</sup></td></tr></table>
<aside><p>Ask before you take anything new.</p></aside>
</section>
<details><summary>Can I swim?</summary><p>Not in the first month.</p></details>
</main>
<footer>Alder Clinic. All rights reserved.</footer>
</body></html>
"""
MARKDOWN = """---
title: ignored
---
# After your transplant

Rest, and drink enough **water**.

## Smoking

Never smoke:

- cigarettes
- Any of these:
  - pipes
  - cigars

## Medicines

| Medicine | Allowed |
|---|---|
| Ibuprofen | no |
| Paracetamol | yes |
"""
TEXT = """AFTER YOUR TRANSPLANT

Rest, and drink
enough water.

Smoking
-------

Never smoke:
- cigarettes
- pipes or
  cigars

2.1 Medicines

Ibuprofen is not allowed.
"""
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def paragraph(words: str, style: str = "", item: int | None = None) -> str:
    """A paragraph of a DOCX file: with a style, or as an item of a list at a depth from 0."""
    numbering = "" if item is None else f'<w:numPr><w:ilvl w:val="{item}"/><w:numId w:val="1"/></w:numPr>'
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{numbering}</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


def row(*cells: str, head: bool = False) -> str:
    mark = "<w:trPr><w:tblHeader/></w:trPr>" if head else ""
    return f"<w:tr>{mark}{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in cells)}</w:tr>"


DOCX_BODY = (
    paragraph("After your transplant", "Heading1") + paragraph("Rest, and drink enough water.")
    + paragraph("Smoking", "Heading2") + paragraph("Never smoke:")
    + paragraph("cigarettes", item=0) + paragraph("Any of these:", item=0)
    + paragraph("pipes", item=1) + paragraph("cigars", item=1)
    + paragraph("Medicines", "Heading2")
    + f"<w:tbl>{row('Medicine', 'Allowed', head=True)}{row('Ibuprofen', 'no')}{row('Paracetamol', 'yes')}</w:tbl>"
)  # fmt: skip


def docx(body: str = DOCX_BODY, **others: str) -> bytes:
    """A DOCX file of this body; `others` are further files of the archive by name."""
    levels = "".join(f'<w:lvl w:ilvl="{depth}"><w:numFmt w:val="bullet"/></w:lvl>' for depth in range(3))
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    files = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships {packages}><Relationship Id="r1" Type="{kind}/officeDocument" '
        'Target="word/document.xml"/>'
        "</Relationships>",
        "word/_rels/document.xml.rels": f'<Relationships {packages}><Relationship Id="r1" Type="{kind}/numbering" '
        'Target="numbering.xml"/></Relationships>',
        "word/numbering.xml": f"<w:numbering {W}>{numbering}</w:numbering>",
        "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
    } | others  # fmt: skip
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def read(folder: Path, name: str, content: str | bytes) -> Document:
    """The document in a file of that content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    report = extract_all([path], folder / "out")
    assert report.failed == []
    return read_document(report.done[0])


@pytest.mark.parametrize(
    ("name", "content"),
    [("heart_alder_post.html", PAGE), ("heart_alder_post.md", MARKDOWN), ("heart_alder_post.docx", docx())],
)
def test_headings_lists_and_tables_are_the_same_in_every_format(tmp_path, name, content):
    document = read(tmp_path, name, content)
    sections = {section.heading: section for section in document.sections}
    assert sections["Medicines"].above == ("After your transplant",)
    assert sections["After your transplant"].text == "Rest, and drink enough water."
    assert sections["Smoking"].text == "Never smoke:\n• cigarettes\n• Any of these:\n  • pipes\n  • cigars"
    assert (
        sections["Medicines"]
        .text.split("\n\n")[0]
        .startswith("Medicine: Ibuprofen | Allowed: no\nMedicine: Paracetamol | Allowed: yes")
    )
    assert [statement.quoted for statement in statements(sections["Smoking"].text)] == [
        "Never smoke: cigarettes", "Never smoke: Any of these: pipes", "Never smoke: Any of these: cigars",
    ]  # fmt: skip
    assert (document.pages, document.language, document.source) == (None, "en", name)


def test_the_frame_of_a_web_page_is_left_out_and_its_notes_and_answers_are_kept(tmp_path):
    document = read(tmp_path, "heart_alder_post.html", PAGE)
    assert not any(words in document.full_text for words in ("Visitors", "call us", "All rights", "track"))
    assert "500 mg/m²" in document.full_text
    assert "Ask before you take anything new." in document.full_text
    assert document.sections[-1].heading == "Can I swim?"
    assert document.title == "After your transplant"


def test_a_section_of_a_web_page_has_a_link_to_its_heading(tmp_path):
    document = read(tmp_path, "heart_alder_post.html", PAGE)
    page = "https://alder.example/after?x=1"
    assert document.url == f"{page}#top"
    assert {section.heading: section.url for section in document.sections} == {
        "After your transplant": f"{page}#top", "Smoking": f"{page}#smoke", "Medicines": f"{page}#pills",
        "Can I swim?": f"{page}#top",
    }  # fmt: skip


def test_plain_text_has_headings_in_capitals_underlined_or_numbered(tmp_path):
    document = read(tmp_path, "heart_alder_post.txt", TEXT)
    assert [(section.heading, section.text) for section in document.sections] == [
        ("AFTER YOUR TRANSPLANT", "Rest, and drink enough water."),
        ("Smoking", "Never smoke:\n• cigarettes\n• pipes or cigars"),
        ("2.1 Medicines", "Ibuprofen is not allowed."),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [("heart_alder_post.html", "<h1>Steps</h1><ol><li>Wash</li><li>Dry<ul><li>gently</li></ul></li></ol>"),
     ("heart_alder_post.md", "# Steps\n\n1. Wash\n2. Dry\n   - gently")],
)  # fmt: skip
def test_steps_keep_their_numbers(tmp_path, name, content):
    assert read(tmp_path, name, content).sections[0].text == "Steps:\n1. Wash\n2. Dry:\n  • gently"


def test_columns_with_lists_keep_their_heads(tmp_path):
    cells = "".join(f"<td><ul><li>drink {drink}</li></ul></td>" for drink in ("water", "alcohol"))
    table = f"<tr><th>DO</th><th>DON'T</th></tr><tr>{cells}</tr>"
    document = read(tmp_path, "heart_alder_post.html", f"<h1>Stomach</h1><table>{table}</table>")
    quoted = [statement.quoted for statement in statements(document.sections[0].text)]
    assert quoted == ["DO: drink water", "DON'T: drink alcohol"]


def test_cells_that_span_rows_and_columns_count_for_all_of_them(tmp_path):
    table = (
        "<tr><th>Medicine</th><th>Time</th><th>Dose</th></tr><tr><td colspan=3>Every day</td></tr>"
        "<tr><td rowspan=2>A</td><td>8 am</td><td>5 mg</td></tr><tr><td>8 pm</td><td>2 mg</td></tr>"
    )
    document = read(tmp_path, "heart_alder_post.html", f"<h1>Pills</h1><table>{table}</table>")
    assert document.sections[0].text == "Every day\nMedicine: A | Time: 8 am | Dose: 5 mg\nMedicine: A | Time: 8 pm | Dose: 2 mg"


def test_a_row_without_a_label_has_that_of_the_row_above_and_names_no_other_rows(tmp_path):
    rows = "".join(
        f"<tr><td>{label}</td><td>{yes}</td><td>{no}</td></tr>"
        for label, yes, no in (
            ("Dairy", "* milk", "* raw milk"),
            ("&nbsp;", "", "* soft cheese"),
            ("Fish", "cooked fish", "raw fish"),
        )
    )
    heads = "<tr><th>Food</th><th>What to eat</th><th>What to avoid</th></tr>"
    document = read(tmp_path, "heart_alder_post.html", f"<h1>Food</h1><table>{heads}{rows}</table>")
    assert [statement.quoted for statement in statements(document.sections[0].text)] == [
        "Food: Dairy | What to eat: milk | What to avoid: raw milk", "Food: Dairy | What to avoid: soft cheese",
        "Food: Fish | What to eat: cooked fish | What to avoid: raw fish",
    ]  # fmt: skip


def test_a_row_of_one_cell_names_no_other_rows(tmp_path):
    rows = "<tr><td></td><td>* chips</td></tr><tr><td>Fish</td><td>cooked fish</td></tr>"
    table = f"<table><tr><th>Food</th><th>What to eat</th></tr>{rows}</table>"
    document = read(tmp_path, "heart_alder_post.html", f"<h1>Food</h1>{table}")
    assert [statement.quoted for statement in statements(document.sections[0].text)] == [
        "What to eat: chips", "Food: Fish | What to eat: cooked fish",
    ]  # fmt: skip


def test_bold_paragraphs_are_headings_where_there_are_no_others(tmp_path):
    bold = "<p><strong>Smoking</strong></p><p>Never smoke.</p><p><b>Warning.</b> Call us.</p>"
    document = read(tmp_path, "heart_alder_post.html", bold)
    assert [(section.heading, section.text) for section in document.sections] == [
        ("Smoking", "Never smoke.\n\nWarning. Call us.")
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_its_encoding(tmp_path, encoding):
    document = read(
        tmp_path, "heart_alder_post.txt", "Fièvre à 38 °C : appelez-nous tout de suite, jour et nuit.".encode(encoding)
    )
    assert document.full_text.startswith("Fièvre à 38 °C")
    assert document.language == "fr"


def test_a_folder_named_like_a_handbook_is_one_handbook_of_many_pages(tmp_path):
    folder = tmp_path / "web" / "heart_alder_post"
    (folder / "b").mkdir(parents=True)
    (folder / "1.html").write_text(PAGE)
    (folder / "b" / "2.html").write_text(
        "<title>Food</title><p>Eat well-cooked meat only, and wash all fruit before you eat it.</p>"
    )
    (folder / "1_files").mkdir()
    (folder / "1_files" / "style.css").write_text("p {}")
    report = extract_all([tmp_path / "web"], tmp_path / "out")
    document = read_document(report.done[0])
    assert [section.section_id for section in document.sections] == [f"s0000{number}" for number in range(1, 6)]
    assert (document.source, document.sections[-1].heading) == ("heart_alder_post", "Food")
    assert len(extract_all([tmp_path / "web"], tmp_path / "out").unchanged) == 1
    (folder / "b" / "2.html").write_text("<p>Eat well-cooked meat only.</p>")
    assert len(extract_all([tmp_path / "web"], tmp_path / "out").done) == 1


def test_other_files_of_a_folder_are_named_and_what_is_about_it_is_not(tmp_path, capsys):
    for name in ("heart_alder_post.md", "README.md"):
        (tmp_path / name).write_text(MARKDOWN)
    (tmp_path / "slides.pptx").write_bytes(b"PK")
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf")
    assert main(["extract", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    message = capsys.readouterr().err
    assert "links or their formats are not supported: old.doc, slides.pptx. Save them as one of .pdf, .html" in message
    assert "README" not in message


BOMB = docx("<w:p/>" + " " * 40_000_000)
LAUGHS = docx(**{
    "word/document.xml": f'<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><w:document {W}><w:body>&b;</w:body></w:document>'
})  # fmt: skip
OTHER_FILE = docx(**{
    "word/document.xml": f'<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/hosts">]><w:document {W}><w:body>&a;</w:body></w:document>'
})  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.docx", b"PK\x03\x04 cut", "it is not a DOCX file, or it is damaged"),
        ("a.docx", docx()[:900], "it is not a DOCX file, or it is damaged"),
        ("a.docx", BOMB, "it unpacks to 40 MB of XML"),
        ("a.docx", LAUGHS, "its part word/document.xml declares entities"),
        ("a.docx", OTHER_FILE, "its part word/document.xml declares entities"),
        ("a.docx", docx("<w:p>"), "it is not a DOCX file, or it is damaged"),
        ("a.html", "<div>" * 5_000 + "deep", "nested more than 1,000 levels deep"),
        ("a.html", "<p>x" * 600_000, "more than 500,000 elements"),
        ("a.html", "<table>" + ("<tr>" + "<td colspan=1000000>x" * 50) * 50, "more than 100,000 cells"),
        ("a.html", "<nav>Home</nav>", "no text was found"),
        ("a.txt", b"\x00\x01\x02", "it is not text: it begins with"),
        ("a.txt", " \n", "a.txt is empty"),
    ],
)
def test_a_hostile_or_broken_file_fails_in_a_sentence(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DocumentError, match=message):
        read_source(path)


def test_an_entity_of_a_web_page_reads_no_file(tmp_path):
    (tmp_path / "secret.txt").write_text("the secret")
    page = f'<!DOCTYPE html [<!ENTITY a SYSTEM "file://{tmp_path}/secret.txt">]><h1>Advice</h1><p>Rest well. &a;</p>'
    assert "the secret" not in read(tmp_path, "heart_alder_post.html", page).full_text
