"""Sections that lead elsewhere: contents, indexes, lists of links. They hold every word and answer nothing."""

from __future__ import annotations

import re

from audit.corpus.documents import Section

HEADINGS = re.compile(
    r"(table of )?contents|(subject |alphabetical )?index|glossary|references|bibliography|(useful |related )?links|"
    r"navigation|menu|site ?map|list of (figures|tables)|about this (handbook|guide|book)|acknowledge?ments?|notes",
    re.IGNORECASE,
)
LEADER = re.compile(r"(\.\s?){4,}|…|\s\d{1,3}\s*$", re.MULTILINE)
"""Dots that lead to a page number, or a line that ends in one."""
LINES, SHARE = 4, 0.5


def navigates(section: Section) -> bool:
    """Whether the section is navigation: by its heading, or because half of its lines, four at least, end in page numbers."""
    if HEADINGS.fullmatch(section.heading.strip(" .:")):
        return True
    lines = [line for line in section.text.splitlines() if line.strip()]
    leading = sum(bool(LEADER.search(line)) for line in lines)
    return len(lines) >= LINES and leading >= SHARE * len(lines)
