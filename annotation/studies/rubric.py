"""The rubric of a scheme: the tables of PROTOCOL.md on what a study asks, for the labelling page and for packets."""

from __future__ import annotations

import re
from pathlib import Path

import annotation
from annotation.schemes import Scheme

# Page, packet and protocol share one text, so they cannot differ.
PROTOCOL = Path(annotation.__file__).with_name("PROTOCOL.md")
RubricTable = list[list[str]]
"""Rows of cells, the headings first; `**` marks what is bold."""


def protocol_text() -> str:
    """The protocol as Markdown, without its title."""
    return PROTOCOL.read_text(encoding="utf-8").partition("\n")[2]


def rubric_tables(scheme: Scheme) -> list[RubricTable]:
    """The tables of the protocol's sections on what a study of this scheme asks."""
    sections = re.split(r"^(?=## )", protocol_text(), flags=re.MULTILINE)
    own = "".join(section for section in sections if section.startswith(scheme.rubric))
    return [_cells(table) for table in re.findall(r"(?:^\|.*\n)+", own, flags=re.MULTILINE)]


def _cells(markdown: str) -> RubricTable:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in markdown.strip().splitlines()]
    return [rows[0], *rows[2:]]  # the second line of a table in Markdown is a rule
