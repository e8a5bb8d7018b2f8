"""What passes between the steps: runs of glyphs, lines, and the blocks that a document is made of.

All positions are in points (1/72 inch) from the upper left corner of the page as it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

BETWEEN_CELLS = " | "
Progress = Callable[[int, int], None]
"""Called with the number of pages that are read, and the number there are."""


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text in one font on one baseline: a word, or several."""

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    bold: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page as a reader finds it; `number` counts from 1."""

    number: int
    width: float
    height: float
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """An entry of a PDF's outline (its bookmarks); `level` counts from 1, `page` is None where it leads nowhere."""

    level: int
    title: str
    page: int | None


@dataclass(frozen=True)
class Opened:
    """A PDF that could be opened. `sheets` is read once, page by page, so that a long one needs little memory."""

    count: int
    sheets: Iterator[Sheet]
    marks: tuple[Mark, ...] = ()
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """Text on one baseline without a wide gap in it."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Line:
    """What stands on one baseline within a column: one cell, or several where it is a row of a table."""

    page: int
    baseline: float
    size: float
    bold: bool
    cells: tuple[Cell, ...]

    @property
    def x0(self) -> float:
        """Its left end."""
        return self.cells[0].x0

    @property
    def x1(self) -> float:
        """Its right end."""
        return self.cells[-1].x1

    @property
    def text(self) -> str:
        """Its text, cells apart."""
        return BETWEEN_CELLS.join(cell.text for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Block:
    """A heading with its level (1 is outermost), a paragraph, or a row of a table."""

    kind: Literal["heading", "text", "row"]
    text: str
    page: int
    last_page: int
    level: int = 0


@dataclass(frozen=True)
class Blocks:
    """A whole document in reading order. `silent` are the pages on which no text was found."""

    blocks: tuple[Block, ...]
    pages: int
    title: str | None = None
    silent: tuple[int, ...] = ()
