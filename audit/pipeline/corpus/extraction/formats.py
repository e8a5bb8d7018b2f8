"""Handbooks that are not PDF files: web pages, DOCX, Markdown and plain text, into the same sections.

HTML is read by lxml (BSD-3-Clause), DOCX by mammoth (BSD-2-Clause) and Markdown by markdown-it-py (MIT), which both make HTML.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from audit.closed_folder import is_inside
from audit.errors import DocumentError
from audit.pipeline.corpus.extraction.characters import LINE_ENDS, plain_text
from audit.pipeline.corpus.extraction.corrected import Corrections, TextLine, corrected_text
from audit.pipeline.corpus.extraction.docx_reader import read_docx
from audit.pipeline.corpus.extraction.encodings import declared_label, decoded
from audit.pipeline.corpus.extraction.engines import STRUCTURE_VERSION
from audit.pipeline.corpus.extraction.html_reader import WebBlock, WebPage, lines_as_text, may_lead, read_html
from audit.pipeline.corpus.extraction.layout import Block
from audit.pipeline.corpus.extraction.losses import loss
from audit.pipeline.corpus.extraction.markdown_reader import read_markdown
from audit.pipeline.corpus.extraction.structure import sections_of
from audit.text.corrections import KEEP, Correction
from audit.text.documents import CORRECTED, Corrected, Loss, Section
from audit.text.statements import ITEM_MARK

MAX_BYTES = 50_000_000
PAGE_BREAK = re.compile(r"\n?\f")
PAGE_BREAK_IN_SENTENCE = re.compile(r"(?<=[^\W_])(?<![.!?:])\n?\f(?=[a-zß-ÿ])|(?<=[,;])\n?\f(?=\S)")
# A heading of plain text: underlined, numbered ("2.1 Medicines"), or in capitals
UNDERLINE = re.compile(r"[=\-~^]{3,}")
NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2})*)\.?\s+[^\W\d_].{1,80}(?<![.,;:?!])")
MAX_HEADING = 80


@dataclass(frozen=True)
class Format:
    """One format of files. `package` is the library whose version decides whether a file must be read again; "": none."""

    name: str
    package: str
    read: Callable[[bytes, Sequence[str]], WebPage]
    """Takes the content, and words that are kept where they would be left out as what pages of a site repeat."""

    @property
    def version(self) -> str:
        """Name, package and version, as a document records them."""
        try:
            library = f"{self.package} {version(self.package)}, " if self.package else ""
        except PackageNotFoundError:
            library = f"{self.package} not installed, "
        return f"{self.name} ({library}structure {STRUCTURE_VERSION})"


@dataclass(frozen=True)
class SourceText:
    """The sections of a file, its title, the address that it gives itself, the sha256 of its bytes, and what was left out."""

    sections: tuple[Section, ...]
    digest: str
    title: str | None = None
    url: str | None = None
    lost: tuple[Loss, ...] = ()
    corrections: Corrected | None = None


def format_of(source: Path) -> Format | None:
    """The format of a file by the end of its name, of a folder by its first file; None for a PDF and anything else."""
    file = next(iter(files_of(source)), source)
    return FORMATS.get(file.suffix.casefold())


def files_of(source: Path) -> list[Path]:
    """The files of one handbook: the file itself, or the pages in a folder by name, subfolders last."""
    if not source.is_dir():
        return [source]
    pages = [path for path in source.rglob("*") if path.suffix.casefold() in FORMATS and is_inside(path, source)]
    return sorted(pages, key=lambda path: (len(path.parts), path.parts))


def digest_of_source(source: Path) -> str:
    """The sha256 of a file, or of the names and contents of a folder's pages. Raises DocumentError where one cannot be read."""
    if not source.is_dir():
        return hashlib.sha256(_content(source)).hexdigest()
    parts = [(path.relative_to(source).as_posix(), hashlib.sha256(_content(path)).hexdigest()) for path in files_of(source)]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def read_source(source: Path, url: str | None = None, given: tuple[Correction, ...] = ()) -> SourceText:
    """The sections of a file, or of all pages of a folder one after the other.

    url    its address, where it is known from a catalog; headings with an id get a link of their own
    given  corrections of people, which name words without a page

    Raises DocumentError, with the reason as a clause, where it cannot be read or has no text.
    """
    corrections = Corrections(given)
    files = files_of(source)
    pages = list(zip(files, corrected_pages(corrections, [_read(path, given) for path in files]), strict=True))
    sections: list[Section] = []
    for path, page in pages:
        sections += _sections(page, page.url or url, len(sections), path.name if source.is_dir() else None)
    if not any(character.isalpha() for section in sections for character in f"{section.heading}{section.text}"):
        raise DocumentError("no text was found in it")
    _, first = pages[0]
    lost = tuple(loss for _, page in pages for loss in page.lost)
    return SourceText(tuple(sections), digest_of_source(source), first.title, first.url, lost, corrections.result)


def _content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DocumentError(f"{path.name} has {size / 1e6:,.0f} MB, and at most {MAX_BYTES / 1e6:,.0f} MB can be read")
        return path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path.name} cannot be opened ({error.strerror})") from error


def _read(path: Path, given: tuple[Correction, ...]) -> WebPage:
    content = _content(path)
    if not content.strip():
        raise DocumentError(f"{path.name} is empty")
    kept = tuple(one.words for one in given if one.do == KEEP)
    return FORMATS[path.suffix.casefold()].read(content, kept)


def corrected_pages(corrections: Corrections, pages: list[WebPage]) -> list[WebPage]:
    """The pages of a handbook, as people corrected them: words are looked for in all of them at once."""
    if not corrections.given:
        return pages
    blocks = [(number, block) for number, page in enumerate(pages) for block in page.blocks]
    lines = [
        TextLine(block.kind, text, number, block.level)
        for number, (_, block) in enumerate(blocks)
        for text in block.text.split("\n")
    ]
    corrected = corrected_text(corrections, lines)
    own: list[list[WebBlock]] = [[] for _ in pages]
    last = 0
    for group in corrected.blocks:
        first = group[0]
        last, before = blocks[first.block] if first.block < len(blocks) else (last, None)
        anchor = before.anchor if before is not None and before.kind == first.kind else None
        own[last].append(WebBlock("heading" if first.kind == "heading" else "text", "\n".join(line.text for line in group),
                                  first.level, anchor))  # fmt: skip
    dropped = loss(CORRECTED, " ".join(line.text for line in corrected.dropped))
    lost = [page.lost + ((dropped,) if dropped and not number else ()) for number, page in enumerate(pages)]
    return [page._replace(blocks=tuple(own[number]), lost=lost[number]) for number, page in enumerate(pages)]


def _sections(page: WebPage, url: str | None, before: int, page_name: str | None) -> Iterator[Section]:
    blocks = [Block(block.kind, block.text, 1, 1, block.level) for block in page.blocks]
    anchors = [block.anchor for block in page.blocks if block.kind == "heading"]
    # Text before the first heading is a section without one
    starts_with_text = bool(blocks) and blocks[0].kind != "heading"
    for number, section in enumerate(sections_of(blocks), start=1):
        index = number - 1 - starts_with_text
        anchor = anchors[index] if 0 <= index < len(anchors) else None
        link = f"{url.partition('#')[0]}#{anchor}" if url and anchor else url
        heading = section.heading or (page.title or page_name or "" if page_name and number == 1 else "")
        yield replace(section, section_id=f"s{before + number:05}", heading=heading, pages=(), page_starts=(), url=link)


# -- the formats -------------------------------------------------------------------------------------------------------


def _html(content: bytes, kept: Sequence[str]) -> WebPage:
    return read_html(decoded(content, declared_label(content)), kept)


def _docx(content: bytes, _kept: Sequence[str]) -> WebPage:
    html, lost = read_docx(content)
    page = read_html(html)
    return page._replace(lost=page.lost + lost)


def _markdown(content: bytes, _kept: Sequence[str]) -> WebPage:
    html, lost = read_markdown(decoded(content))
    page = read_html(html)
    return page._replace(lost=page.lost + lost)


def _plain_text(content: bytes, _kept: Sequence[str]) -> WebPage:
    blocks: list[WebBlock] = []
    for paragraph in re.split(r"\n\s*\n", _with_line_ends(decoded(content))):
        lines = [_line(line) for line in paragraph.split("\n") if plain_text(line)]
        level = _heading_level(lines)
        if level:
            blocks.append(WebBlock("heading", lines[0].strip(), level))
        below = lines[_heading_lines(lines) if level else 0 :]
        if below:
            _add_text(blocks, lines_as_text(below))
    return WebPage(tuple(blocks))


def _with_line_ends(text: str) -> str:
    """Text whose only line ends are line feeds. A new page begins a new paragraph, unless it goes on with a sentence."""
    return PAGE_BREAK.sub("\n\n", PAGE_BREAK_IN_SENTENCE.sub("\n", text)).translate(LINE_ENDS)


def _line(line: str) -> str:
    """A line in plain characters, with its indent."""
    expanded = line.expandtabs(4)
    return " " * (len(expanded) - len(expanded.lstrip())) + plain_text(line)


def _add_text(blocks: list[WebBlock], text: str) -> None:
    # An empty line between a lead and its list does not part them
    if blocks and blocks[-1].kind == "text" and may_lead(blocks[-1].text) and text.startswith(ITEM_MARK):
        blocks[-1] = WebBlock("text", f"{blocks[-1].text}\n{text}")
    else:
        blocks.append(WebBlock("text", text))


def _heading_lines(lines: list[str]) -> int:
    return 2 if len(lines) > 1 and UNDERLINE.fullmatch(lines[1].strip()) else 1


def _heading_level(lines: list[str]) -> int:
    """The level of the heading that a paragraph begins with; 0: none."""
    if not lines or len(lines[0]) > MAX_HEADING:
        return 0
    if len(lines) > 1 and UNDERLINE.fullmatch(lines[1].strip()):
        return 1 if lines[1].strip()[0] == "=" else 2
    if len(lines) == 1 and (numbered := NUMBERED.fullmatch(lines[0].strip())):
        return 1 + numbered["number"].count(".")
    return 1 if len(lines) == 1 and lines[0].isupper() and sum(map(str.isalpha, lines[0])) > 2 else 0


_HTML, _DOCX = Format("html", "lxml", _html), Format("docx", "mammoth", _docx)
_MARKDOWN, _TEXT = Format("markdown", "markdown-it-py", _markdown), Format("text", "", _plain_text)
FORMATS: dict[str, Format] = {
    ".html": _HTML, ".htm": _HTML, ".xhtml": _HTML, ".docx": _DOCX, ".md": _MARKDOWN, ".markdown": _MARKDOWN, ".txt": _TEXT,
}  # fmt: skip
