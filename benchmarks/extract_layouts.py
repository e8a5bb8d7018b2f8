"""PDFs whose headings and texts are known: sections of the NIH handbooks, laid out in seven ways by two writers.

ReportLab sets each line as one piece of text; Chromium sets runs of glyphs, with an outline and structure tags, as word
processors do. Running headers, page numbers and the table of contents that a writer adds are not part of the truth.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

LAYOUTS = ("plain", "columns", "running", "numbered", "tables", "contents", "mixed")
WRITERS = ("reportlab", "chromium")
HEAD, FOOT = "Patient information handbook", "Ask your care team before you change a medicine"


@dataclass(frozen=True)
class Part:
    """A heading of level 1 or 2 as printed on the page, its paragraphs, and the rows of its table."""

    level: int
    heading: str
    paragraphs: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Layout:
    """The features of a layout; `mixed` has all of them."""

    columns: bool
    running: bool
    numbered: bool
    tables: bool
    contents: bool

    @classmethod
    def named(cls, name: str) -> Layout:
        return cls(*(name in (feature, "mixed") for feature in ("columns", "running", "numbered", "tables", "contents")))


def parts_of(path: Path, sections: int, layout: Layout) -> list[Part]:
    """The first `sections` sections of a handbook: a chapter for each subject, a section for each of its questions."""
    records = json.loads(gzip.decompress(path.read_bytes()))["sections"]
    chosen = [record for record in records if not record.get("distractor") and len(record["text"]) > 200][:sections]
    parts, subject = [], ""
    for number, record in enumerate(chosen):
        chapter, _, question = _latin_text(record["heading"]).partition(" > ")
        if chapter != subject:
            parts.append(Part(1, chapter))
            subject = chapter
        texts = re.split(r"\n\s*\n|\n(?=- )", record["text"][:6000])
        paragraphs = tuple(filter(None, map(_latin_text, texts)))
        rows = _table(chosen, number) if layout.tables and number % 3 == 0 else ()
        parts.append(Part(2, question or chapter, paragraphs, rows))
    return list(_numbered(parts)) if layout.numbered else parts


def _latin_text(text: str) -> str:
    # ReportLab's standard fonts have only the characters of this code page.
    return " ".join(text.encode("cp1252", "ignore").decode("cp1252").split())


def _table(records: list[dict[str, Any]], number: int) -> tuple[tuple[str, ...], ...]:
    """A table made of the next sections' subjects, kinds and lengths, because the corpus itself has no tables."""
    rows = [
        (_latin_text(record["focus"])[:30], record["qtype"] or "other", f"{len(record['text'].split())} words")
        for record in records[number : number + 4]
    ]
    return (("Subject", "Kind of question", "Length"), *rows)


def _numbered(parts: list[Part]) -> Iterator[Part]:
    chapter = section = 0
    for part in parts:
        chapter, section = (chapter + 1, 0) if part.level == 1 else (chapter, section + 1)
        yield replace(part, heading=f"{chapter} {part.heading}" if part.level == 1 else f"{chapter}.{section} {part.heading}")


# -- ReportLab ---------------------------------------------------------------------------------------------------------


def reportlab(parts: list[Part], layout: Layout, path: Path) -> None:
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate

    width, height = A4
    size = ((width - 130) / 2, height - 130) if layout.columns else (width - 110, height - 130)
    places = (55, 75 + size[0]) if layout.columns else (55,)
    frames = [Frame(x, 65, *size, leftPadding=0, rightPadding=0) for x in places]
    document = BaseDocTemplate(str(path), pagesize=A4, title=HEAD)
    document.addPageTemplates(PageTemplate(frames=frames, onPage=_running if layout.running else lambda *_: None))
    styles = _styles()
    story = _contents(styles) if layout.contents else []
    document.afterFlowable = lambda flowable: _notify(document, flowable)
    document.multiBuild(story + [piece for part in parts for piece in _pieces(part, styles, size[0])])


def _styles() -> dict[str, Any]:
    from reportlab.lib.styles import ParagraphStyle

    return {
        "1": ParagraphStyle(
            "1", fontName="Helvetica-Bold", fontSize=17, leading=21, spaceBefore=16, spaceAfter=8, keepWithNext=1
        ),
        "2": ParagraphStyle(
            "2", fontName="Helvetica-Bold", fontSize=12, leading=15, spaceBefore=10, spaceAfter=4, keepWithNext=1
        ),
        "body": ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=13, spaceAfter=6),
        "toc1": ParagraphStyle("toc1", fontName="Helvetica-Bold", fontSize=10, leading=14),
        "toc2": ParagraphStyle("toc2", fontName="Helvetica", fontSize=10, leading=13, leftIndent=12),
    }


def _contents(styles: dict[str, Any]) -> list[Any]:
    from reportlab.platypus import PageBreak, Paragraph
    from reportlab.platypus.tableofcontents import TableOfContents

    return [
        Paragraph("Contents", styles["body"]),
        TableOfContents(levelStyles=[styles["toc1"], styles["toc2"]], dotsMinLevel=0),
        PageBreak(),
    ]


def _notify(document: Any, flowable: Any) -> None:
    """Add an entry to the table of contents."""
    name = getattr(getattr(flowable, "style", None), "name", "")
    if name in ("1", "2"):
        document.notify("TOCEntry", (int(name) - 1, html.escape(flowable.getPlainText()), document.page))


def _pieces(part: Part, styles: dict[str, Any], width: float) -> Iterator[Any]:
    from reportlab.lib import colors
    from reportlab.platypus import Paragraph, Spacer, Table

    yield Paragraph(html.escape(part.heading), styles[str(part.level)])
    for text in part.paragraphs:
        yield Paragraph(html.escape(text), styles["body"])
    if part.rows:
        cells = [[Paragraph(html.escape(cell), styles["body"]) for cell in row] for row in part.rows]
        yield Table(
            cells, colWidths=[width * share for share in (0.42, 0.33, 0.25)], style=[("GRID", (0, 0), (-1, -1), 0.5, colors.grey)]
        )
        yield Spacer(1, 8)


def _running(canvas: Any, document: Any) -> None:
    canvas.saveState()
    canvas.setFont("Helvetica", 8)
    canvas.drawString(55, 810, HEAD)
    canvas.drawString(55, 35, FOOT)
    canvas.drawRightString(540, 35, f"Page {document.page}")
    canvas.restoreState()


# -- Chromium ----------------------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 10pt/1.35 "Liberation Serif", "DejaVu Serif", serif; margin: 0; {columns} }}
h1 {{ font-size: 17pt; margin: 16pt 0 8pt }} h2 {{ font-size: 12pt; margin: 10pt 0 4pt }} p {{ margin: 0 0 6pt }}
h1, h2 {{ break-after: avoid; font-family: "Liberation Sans", "DejaVu Sans", sans-serif }}
table {{ border-collapse: collapse; width: 100%; margin-bottom: 8pt }} td {{ border: .5pt solid #888; padding: 2pt 4pt }}
nav {{ break-after: page; column-span: all }} nav p {{ display: flex; margin: 0 }}
nav i {{ flex: 1; overflow: hidden; white-space: nowrap; font-style: normal; direction: ltr; margin: 0 4pt }}
</style><body>{body}</body></html>"""


def chromium(parts: list[Part], layout: Layout, path: Path) -> None:
    from playwright.sync_api import sync_playwright

    body = "".join(_html(part) for part in parts)
    text = PAGE.format(
        title=HEAD,
        columns="columns: 2; column-gap: 20pt" if layout.columns else "",
        body=(_nav(parts) if layout.contents else "") + body,
    )
    small = "font-size: 8pt; width: 100%; margin: 0 55pt; font-family: serif"
    foot = f'{FOOT} <span style="float: right">Page <span class="pageNumber"></span></span>'
    with sync_playwright() as run:
        browser = run.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content(text)
        page.pdf(
            path=path, format="A4", outline=True, tagged=True, display_header_footer=layout.running,
            margin={"top": "0.9in", "bottom": "0.9in", "left": "0.76in", "right": "0.76in"},
            header_template=f'<div style="{small}">{HEAD}</div>', footer_template=f'<div style="{small}">{foot}</div>',
        )  # fmt: skip
        browser.close()


def _html(part: Part) -> str:
    cells = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in part.rows)
    texts = "".join(f"<p>{html.escape(text)}</p>" for text in part.paragraphs)
    return f"<h{part.level}>{html.escape(part.heading)}</h{part.level}>{texts}" + (f"<table>{cells}</table>" if cells else "")


def _nav(parts: list[Part]) -> str:
    """Chromium cannot print page numbers in a text, so these numbers only increase."""
    lines = (f"<p>{html.escape(part.heading)}<i>{'. ' * 120}</i>{2 + number // 3}</p>" for number, part in enumerate(parts))
    return f"<nav><p>Contents</p>{''.join(lines)}</nav>"


WRITE: dict[str, Callable[[list[Part], Layout, Path], None]] = {"reportlab": reportlab, "chromium": chromium}
