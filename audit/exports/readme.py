"""What is in a package and how to use it: README.txt inside it, and the list on the page Downloads."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

LATEX = "cd tables/latex && pdflatex all_tables.tex && pdflatex all_tables.tex"
CONTENTS = {
    "report.html": "one page to mail, with every table, figure and definition; opens without a network, and prints",
    "tables/xlsx, tables/csv": "numbers as numbers, ends of intervals in columns of their own; workbooks have a sheet of notes",
    "tables/latex, tables/markdown": "typeset, with n, 95 % intervals and footnotes; all_tables.tex compiles as it is",
    "tables/json": "in full precision",
    "figures/svg, figures/png, figures/html": "180 mm wide, 300 dpi; the HTML is interactive",
    "manifest.json": "which data, which versions, the command, the SHA-256 of every file",
}
COMPILE = (
    "To compile every table into one PDF, twice, so that wide columns settle (pdflatex or lualatex; it needs array, booktabs, "
    "graphicx, longtable and pdflscape; on Debian, apt-get install texlive-latex-recommended):"
)
ONE_TABLE = (
    r"To take one table into a paper: \usepackage{array,booktabs,graphicx,longtable,pdflscape}, then \input{organs.tex}; its "
    "label is tab:organs."
)
NOTE_ON_CELLS = (
    "A text that a spreadsheet would run as a formula has an apostrophe before it. An empty cell of a CSV and a dash elsewhere "
    "mean that a value is not known. Neither is zero."
)
NAMES = "Tables and figures, by the names of their files:"
WIDTH = 96


def readme(title: str, notices: Sequence[str], command: str, parts: Mapping[str, Sequence[str]]) -> str:
    """The text of README.txt; `parts`: heading -> a line for each table and figure under it."""
    listed = [_wrapped(f"{path}: {words}", "- ") for path, words in CONTENTS.items()]
    named = ["\n".join([heading, *(_wrapped(line, "- ") for line in lines)]) for heading, lines in parts.items() if lines]
    paragraphs = [
        *map(_wrapped, (title, *notices, "Begin with report.html.")), "\n".join(listed), _wrapped(COMPILE), f"    {LATEX}",
        _wrapped(ONE_TABLE), _wrapped(NOTE_ON_CELLS), "To make the same package again:", f"    {command}", NAMES, *named,
    ]  # fmt: skip
    return "\n\n".join(paragraphs) + "\n"


def _wrapped(text: str, bullet: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=bullet, subsequent_indent=" " * len(bullet), break_long_words=False, break_on_hyphens=False
    )
