"""Small PDFs with texts of our own, drawn line by line, so that a test knows where everything stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = 595, 842
LEFT, TOP, PITCH = 60, 110, 14
FILLER = "Wash your hands before you touch the dressing and keep the wound dry for a full day."
SHORT = "Wash your hands before you touch it, and dry them."

Text = tuple[str, float, float, float, bool]
"""Words, distance from the left and from the top in points, type size, bold."""


def at(words: str, x: float, y: float, size: float = 10, bold: bool = False) -> Text:
    return words, x, y, size, bold


def column(lines: Iterable[str], x: float = LEFT, y: float = TOP) -> list[Text]:
    """Lines below each other: `# ` before one makes it a chapter, `## ` a section; an empty one leaves room."""
    texts = []
    for words in lines:
        marks, _, rest = words.partition(" ")
        size, bold = {"#": (18, True), "##": (13, True)}.get(marks, (10, False))
        y += 2 * PITCH if bold else PITCH
        texts += [at(rest if bold else words, x, y, size, bold)] if words else []
    return texts


def write_pdf(
    path: Path,
    pages: Sequence[Iterable[Text]],
    *,
    password: str | None = None,
    outline: Iterable[tuple[str, int, int]] = (),
    rules: Sequence[tuple[float, float, float]] = (),
    panels: Sequence[tuple[float, float, float, float]] = (),
    size: tuple[float, float] = (WIDTH, HEIGHT),
) -> Path:
    """Draw the pages. `outline` has title, level (from 0) and page (from 1); `password` is the reader's.

    rules   (left end, right end, distance from the top) of horizontal lines on every page
    panels  (left end, top, right end, bottom) of filled areas on every page, from its top
    size    width and height of each page, in points
    """
    locked: Any = {} if password is None else {"encrypt": StandardEncryption(password, ownerPassword="owner", strength=128)}
    canvas = Canvas(str(path), pagesize=size, invariant=1, **locked)
    marks = list(outline)
    for number, page in enumerate(pages, start=1):
        for title, level, _ in (mark for mark in marks if mark[2] == number):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level)
        canvas.setFillGray(0.9)
        for left, top, right, bottom in panels:
            canvas.rect(left, size[1] - bottom, right - left, bottom - top, stroke=0, fill=1)
        canvas.setFillGray(0)
        for words, x, y, points, bold in page:
            canvas.setFont("Helvetica-Bold" if bold else "Helvetica", points)
            canvas.drawString(x, size[1] - y, words)
        for x0, x1, y in rules:
            canvas.line(x0, size[1] - y, x1, size[1] - y)
        canvas.showPage()
    canvas.save()
    return path


def shown(words: str, x: float = LEFT, y: float = 700, *, size: float = 11, how: str = "") -> str:
    """Operators of a page that draw words at a position in the PDF's own axes; `how` comes before them."""
    return f"q BT {how} /F1 {size} Tf {x} {y} Td ({words}) Tj ET Q\n"


def write_raw_pdf(
    path: Path,
    content: str | Sequence[str],
    *,
    annotations: Sequence[str] = (),
    page: str = "",
    resources: str = "",
    extra: Sequence[bytes] = (),
) -> Path:
    """A PDF of operators as any producer might write them, in Helvetica (F1) and Helvetica-Bold (F2).

    content      the operators of each page
    annotations  dictionaries without their brackets, all on the first page; those with /FT are fields of a form
    page         more entries of each page, such as /Rotate 90
    resources    more entries of its resources; they may name `extra` objects, which are numbered from 100
    """
    pages = [content] if isinstance(content, str) else list(content)
    first = 10
    objects: dict[int, bytes] = {
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        4: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    }
    notes = {50 + number: text for number, text in enumerate(annotations)}
    for number, text in notes.items():
        objects[number] = f"<< /Type /Annot {text} >>".encode("latin-1")
    objects |= dict(enumerate(extra, start=100))
    kids = []
    for number, operators in enumerate(pages):
        place = first + 2 * number
        kids.append(f"{place} 0 R")
        data = operators.encode("latin-1")
        annots = f"/Annots [{' '.join(f'{each} 0 R' for each in notes)}]" if number == 0 else ""
        box = "" if "/MediaBox" in page else f"/MediaBox [0 0 {WIDTH} {HEIGHT}]"
        objects[place] = (
            f"<< /Type /Page /Parent 2 0 R {box} /Contents {place + 1} 0 R {annots} {page} "
            f"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> {resources} >> >>"
        ).encode("latin-1")
        objects[place + 1] = b"<< /Length %d >>\nstream\n" % len(data) + data + b"\nendstream"
    fields = " ".join(f"{number} 0 R" for number, text in notes.items() if "/FT" in text)
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{fields}] /DR << /Font << /F1 3 0 R >> >> >> >>".encode()
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    path.write_bytes(_file_of(objects))
    return path


def _file_of(objects: dict[int, bytes]) -> bytes:
    """A PDF file of objects by their numbers; the first is its catalog."""
    output, offsets = b"%PDF-1.7\n", dict[int, int]()
    for number in sorted(objects):
        offsets[number] = len(output)
        output += b"%d 0 obj\n" % number + objects[number] + b"\nendobj\n"
    start, size = len(output), max(objects) + 1
    output += b"xref\n0 %d\n" % size
    for number in range(size):
        output += b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 65535 f \n"
    return output + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
