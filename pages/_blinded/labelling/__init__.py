"""Labelling by keyboard: session on the server, widget in the browser, and here the rubrics, taken from PROTOCOL.md."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path

import annotation
from annotation.schemes import PAIRS, Scheme

# Page and protocol share one text, so that they cannot differ.
PROTOCOL = Path(annotation.__file__).with_name("PROTOCOL.md")
FOR_ANNOTATORS = ("1", "4", "5", "11", "12")
"""Sections that annotators read. The others speak of strata, silent repeats and times: who knows them rates differently."""


def protocol_text() -> str:
    """The protocol as Markdown, without its title."""
    return PROTOCOL.read_text(encoding="utf-8").partition("\n")[2]


def annotators_text() -> str:
    """The sections of the protocol for those who label, as Markdown, without their numbers."""
    sections = re.findall(r"^## (\d+)\. ((?:.*\n?)(?:(?!## ).*\n?)*)", protocol_text(), flags=re.MULTILINE)
    return "\n".join(f"## {text}" for number, text in sections if number in FOR_ANNOTATORS)


@cache
def rubric_html(scheme: Scheme = PAIRS) -> str:
    """The tables of the protocol's sections on what a study of this scheme asks."""
    sections = re.split(r"^(?=## )", protocol_text(), flags=re.MULTILINE)
    own = "".join(section for section in sections if section.startswith(scheme.rubric))
    tables = re.findall(r"(?:^\|.*\n)+", own, flags=re.MULTILINE)
    return "".join(_table_html(table) for table in tables)


def _table_html(markdown: str) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in markdown.strip().splitlines()]
    head, _, *body = rows
    lines = "".join(f"<tr>{''.join(f'<td>{_bold_html(cell)}</td>' for cell in row)}</tr>" for row in body)
    return (
        f"<table><thead><tr>{''.join(f'<th>{_bold_html(cell)}</th>' for cell in head)}</tr></thead><tbody>{lines}</tbody></table>"
    )


def _bold_html(cell: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(cell))
