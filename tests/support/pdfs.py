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
) -> Path:
    """Draw the pages. `outline` has title, level (from 0) and page (from 1); `password` is the reader's.

    rules  (left end, right end, distance from the top) of horizontal lines on every page
    """
    locked: Any = {} if password is None else {"encrypt": StandardEncryption(password, ownerPassword="owner", strength=128)}
    canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT), invariant=1, **locked)
    marks = list(outline)
    for number, page in enumerate(pages, start=1):
        for title, level, _ in (mark for mark in marks if mark[2] == number):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level)
        for words, x, y, size, bold in page:
            canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size)
            canvas.drawString(x, HEIGHT - y, words)
        for x0, x1, y in rules:
            canvas.line(x0, HEIGHT - y, x1, HEIGHT - y)
        canvas.showPage()
    canvas.save()
    return path
