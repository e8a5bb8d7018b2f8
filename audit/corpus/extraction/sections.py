"""Blocks into the sections of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from audit.corpus.documents import Section
from audit.corpus.extraction.layout import Block


def sections(blocks: Iterable[Block]) -> Iterator[Section]:
    """One section per heading, and one without for what stands before the first; each names the headings above it.

    Where there is no heading at all, each page is a section: one of a hundred pages would be of use to nobody.
    """
    blocks = tuple(blocks)
    headed = any(block.kind == "heading" for block in blocks)
    above: list[Block] = []
    for number, stretch in enumerate(_headed(blocks) if headed else _by_page(blocks), start=1):
        first = stretch[0]
        if first.kind == "heading":
            above = [*(heading for heading in above if heading.level < first.level), first]
        yield _section(number, stretch, tuple(heading.text for heading in above[:-1]))


def _headed(blocks: tuple[Block, ...]) -> Iterator[list[Block]]:
    stretch: list[Block] = []
    for block in blocks:
        if stretch and block.kind == "heading":
            yield stretch
            stretch = []
        stretch.append(block)
    yield stretch


def _by_page(blocks: tuple[Block, ...]) -> Iterator[list[Block]]:
    return (list(group) for _, group in groupby(blocks, key=lambda block: block.page))


def _section(number: int, stretch: list[Block], above: tuple[str, ...]) -> Section:
    headed = stretch[0].kind == "heading"
    body = stretch[1:] if headed else stretch
    return Section(
        section_id=f"s{number:05}",
        heading=stretch[0].text if headed else "",
        text=_text(body),
        above=above if headed else (),
        pages=(stretch[0].page, max(block.last_page for block in stretch)),
    )


def _text(body: list[Block]) -> str:
    """Paragraphs with an empty line between them; the rows of a table below each other."""
    parts: list[str] = []
    for before, block in zip([None, *body], body, strict=False):
        together = before is not None and before.kind == block.kind == "row"
        parts.append(("\n" if together else "\n\n" if parts else "") + block.text)
    return "".join(parts)
