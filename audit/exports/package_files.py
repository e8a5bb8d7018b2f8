"""README.txt of an export package, and the archive that is the same whenever it is made."""

from __future__ import annotations

import hashlib
import io
import re
import textwrap
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

LATEX = "cd tables/latex && pdflatex all_tables.tex && pdflatex all_tables.tex"
CONTENTS = {
    "report.html": "a single page with every table, figure and definition; works offline and can be printed",
    "tables/xlsx, tables/csv": "numbers as numbers, ends of intervals in columns of their own; one workbook has a sheet for "
    "each table and one of notes",
    "methods_and_results.md": "with a study: paragraphs for a paper, with the numbers of the tables",
    "tables/latex, tables/markdown": "typeset, with n, 95 % intervals and footnotes; all_tables.tex compiles as it is",
    "tables/json": "in full precision",
    "figures/svg, figures/png, figures/html": "180 mm wide, 300 dpi; the HTML is interactive, with plotly.min.js beside it",
    "datasheet.md": "datasheet of the release in seven parts, with the questions its makers have not answered yet",
    "manifest.json": "which data, which versions, the command, the SHA-256 of every file",
}
COMPILE = (
    "To compile every table into one PDF, twice, so that wide columns settle (pdflatex or lualatex; it needs array, booktabs, "
    "graphicx, longtable and pdflscape; on Debian, apt-get install texlive-latex-recommended):"
)
ONE_TABLE = (
    r"To include one table in a paper: \usepackage{array,booktabs,graphicx,longtable,pdflscape}, then \input{NAME.tex}; its "
    "label is tab:NAME, with NAME as in the list below."
)
NOTE_ON_CELLS = (
    "In a CSV file, text that a spreadsheet would run as a formula is prefixed with an apostrophe. A workbook needs none, but "
    "its cells hold 32,767 letters at most: where a text is cut, the cell and the sheet Notes say so; the CSV file has it whole. "
    "An empty cell of a CSV and a dash elsewhere mean that a value is not known. Neither is zero."
)
NAMES = "Tables and figures, by the names of their files:"
WIDTH = 96
Files = Mapping[str, bytes]
"""Path inside the package, with slashes -> content."""
# The earliest time that a ZIP archive can store
EARLIEST = (1980, 1, 1, 0, 0, 0)


def readme(title: str, notices: Sequence[str], command: str, parts: Mapping[str, Sequence[str]]) -> str:
    """The text of README.txt; `parts`: heading -> a line for each table and figure under it."""
    listed = [_wrapped(f"{path}: {words}", "- ") for path, words in CONTENTS.items()]
    named = ["\n".join([heading, *(_wrapped(line, "- ") for line in lines)]) for heading, lines in parts.items() if lines]
    paragraphs = [
        *map(_wrapped, (title, *notices, "Begin with report.html.")), "\n".join(listed), _wrapped(COMPILE), f"    {LATEX}",
        _wrapped(ONE_TABLE), _wrapped(NOTE_ON_CELLS), "To create the same package again:", f"    {command}", NAMES, *named,
    ]  # fmt: skip
    return "\n\n".join(paragraphs) + "\n"


def _wrapped(text: str, bullet: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=bullet, subsequent_indent=" " * len(bullet), break_long_words=False, break_on_hyphens=False
    )


def zipped(files: Files) -> bytes:
    """An archive of the files, sorted by path, without the time at which it was made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, EARLIEST)
            # 3 is Unix: zipfile would write the platform it runs on, and the same files would give another archive.
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, files[path])
    return buffer.getvalue()


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


# -- Names of files and sheets from names of a release, which may be alike once they are short and plain -----


def unique_stems(
    names: Iterable[str], other: re.Pattern[str], instead: str, max_length: int, taken: Iterable[str] = ()
) -> list[str]:
    """Each name with `instead` for what matches `other`, cut to `max_length`; one that is taken already ends in a number.

    Upper and lower case count as equal, as in the files of Windows and macOS and in the sheets of a workbook.

    taken  names that none of these may have
    """
    used, stems = {name.casefold() for name in taken}, list[str]()
    for name in names:
        stem = other.sub(instead, name)
        numbered = (stem[: max_length - len(ending)] + ending for ending in _endings())
        stems.append(next(text for text in numbered if text and text.casefold() not in used))
        used.add(stems[-1].casefold())
    return stems


def _endings() -> Iterable[str]:
    yield ""
    yield from (f"-{number}" for number in count(2))
