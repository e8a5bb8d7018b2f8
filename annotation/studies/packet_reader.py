"""Reads the cells of a completed packet in a process of its own with limits, so no file can exhaust the server.

`read_lines` starts `python -m annotation.studies.packet_reader`, which imports neither the label store nor the dashboard.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO
from xml.parsers import expat

from audit.errors import AuditError
from audit.own_process import environment, limit_memory
from audit.people_tables import CSV, Lines, TableSource, csv_lines, text_of

MAX_PACKET_BYTES, MAX_UNPACKED_BYTES = 20 * 2**20, 200 * 2**20
MAX_CHARACTERS = 50_000_000
"""Text of a whole packet. Cells may share one text, so a small file can hold more than it unpacks to."""
MAX_ROWS, MAX_COLUMNS, MAX_EMPTY_ROWS = 20_000, 50, 1_000
MAX_SECONDS, MAX_MEMORY_BYTES = 30, 2**30
READ_BYTES = 2**16
OUT_OF_MEMORY = 3
"""Exit code of the process of its own."""
XML_ENDINGS = (".xml", ".rels", ".vml")
XLSX_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
NOTHING_STORED = "No rating was stored."

COLUMNS_OF_ALL = ("item", "order", "question", "label", "comment")
"""Columns of the packets of every scheme, by which the separator of a CSV file is found."""


class UnreadablePacketError(AuditError):
    """The file is not a packet that can be read, in one sentence; no rating was stored."""


def read_lines(name: str, data: bytes) -> Lines:
    """The cells of a `.csv` or `.xlsx` file, row by row; formulas as their text.

    Of a workbook it reads the sheet `packet`, or else the first one: 50 columns, and down to 1,000 empty rows in a row. A fill to
    the end of a column declares a million rows, and those are not read.

    Raises UnreadablePacketError when the file is damaged, or needs more than MAX_SECONDS or MAX_MEMORY_BYTES to be read.
    """
    command = [sys.executable, "-m", "annotation.studies.packet_reader", str(MAX_MEMORY_BYTES)]
    # The name as JSON: an uploaded file may have a name that no command line can hold.
    sent = json.dumps(name).encode() + b"\n" + data
    # OpenBLAS, which numpy and with it openpyxl loads, would otherwise reserve memory for each processor that the machine has.
    env = environment(OPENBLAS_NUM_THREADS="1")
    try:
        done = subprocess.run(command, check=False, input=sent, capture_output=True, timeout=MAX_SECONDS, env=env)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise UnreadablePacketError(f"{name} could not be read within {MAX_SECONDS} seconds. {NOTHING_STORED}") from None
    # Below 0: ended by the system, which is how some systems enforce the limit.
    if done.returncode == OUT_OF_MEMORY or done.returncode < 0:
        raise UnreadablePacketError(
            f"{name} needs more than {MAX_MEMORY_BYTES >> 20:,} MB of memory to be read, so it is not a packet. {NOTHING_STORED}"
        )
    if done.returncode:
        raise RuntimeError(f"the reader of packets failed: {done.stderr.decode(errors='replace')[-2_000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    if fault := answer.get("fault"):
        raise UnreadablePacketError(str(fault))
    lines: Lines = answer["lines"]
    return lines


# -- inside the process of its own -------------------------------------------------------------------------------------


def main(max_memory_bytes: str) -> None:
    """Print the cells of the file on standard input, or its fault, as JSON."""
    limit_memory(int(max_memory_bytes))
    name = json.loads(sys.stdin.buffer.readline())
    try:
        json.dump({"lines": parse_lines(name, sys.stdin.buffer.read())}, sys.stdout)
    except UnreadablePacketError as error:
        json.dump({"fault": str(error)}, sys.stdout)
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)


def parse_lines(name: str, data: bytes) -> Lines:
    """`read_lines` in this process. Raises UnreadablePacketError, and MemoryError under a memory limit."""
    if name.lower().endswith(".csv"):
        return _csv_lines(name, data)
    try:
        _check_archive(name, data)
        return list(_text_of_rows(name, _rows_of_sheet(name, data)))
    except (UnreadablePacketError, MemoryError):
        raise
    # Whatever the libraries raise on a damaged workbook: this process does nothing else.
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UnreadablePacketError(
            f"{name} cannot be read as a workbook ({reason}). {NOTHING_STORED} Save it as .xlsx."
        ) from None


def _csv_lines(name: str, data: bytes) -> Lines:
    source = TableSource(name, NOTHING_STORED, UnreadablePacketError)
    return csv_lines(text_of(data, source, CSV), source, COLUMNS_OF_ALL.__contains__)


def _check_archive(name: str, data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        # Summed before anything is unpacked: a small archive can unpack to gigabytes.
        if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED_BYTES:
            raise UnreadablePacketError(f"{name} unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB. {NOTHING_STORED}")
        for member in archive.infolist():
            if member.filename.lower().endswith(XML_ENDINGS):
                with archive.open(member) as source:
                    _refuse_doctype(name, source)  # type: ignore[arg-type]


def _refuse_doctype(name: str, source: BinaryIO) -> None:
    """Read the XML down to its first element: a workbook declares no document type, and an entity needs one."""
    parser, started = expat.ParserCreate(), False

    def start(*_: object) -> None:
        nonlocal started
        started = True

    def refuse(*_: object) -> None:
        raise UnreadablePacketError(f"{name} contains a document type declaration, which no workbook has. {NOTHING_STORED}")

    parser.StartElementHandler, parser.StartDoctypeDeclHandler = start, refuse
    while not started and (part := source.read(READ_BYTES)):
        parser.Parse(part)


def _rows_of_sheet(name: str, data: bytes) -> Iterator[tuple[object, ...]]:
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), read_only=True)  # without data_only, a formula is read as its text
    sheet = book["packet"] if "packet" in book.sheetnames else book.worksheets[0]
    _refuse_merged_cells(name, data, sheet._worksheet_path)  # type: ignore[attr-defined]  # of a read-only sheet
    # Both bounds are given, because the dimension that the file declares may be the whole sheet.
    yield from sheet.iter_rows(max_row=MAX_ROWS + 1, max_col=MAX_COLUMNS, values_only=True)


def _refuse_merged_cells(name: str, data: bytes, sheet: str) -> None:
    """Of merged cells only the first has a text, so an item would silently lose its label."""
    merged: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "mergeCell":
            merged.append(attributes.get("ref", ""))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(sheet) as source:
        parser.ParseFile(source)
    if match := re.match(r"([A-Z]+)(\d+)", merged[0]) if merged else None:
        raise UnreadablePacketError(
            f"{name}, row {match[2]}, column {match[1]}: cells {merged[0]} are merged, so all but the first have no text. "
            f"{NOTHING_STORED} Unmerge them, fill in each row, and import the file again."
        )


def _text_of_rows(name: str, rows: Iterable[tuple[object, ...]]) -> Iterator[list[str]]:
    characters, empty = 0, 0
    for number, row in enumerate(rows, start=1):
        line = [_cell_text(value) for value in row]
        while line and not line[-1]:
            line.pop()
        empty = 0 if line else empty + 1
        characters += sum(map(len, line))
        if empty > MAX_EMPTY_ROWS:
            return
        if number > MAX_ROWS or characters > MAX_CHARACTERS:
            raise UnreadablePacketError(
                f"{name} has more than {MAX_ROWS:,} rows or {MAX_CHARACTERS:,} characters. {NOTHING_STORED} "
                "Save it as 'CSV UTF-8', and import that."
            )
        yield line


def _cell_text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else XLSX_ESCAPED.sub(lambda match: chr(int(match[1], 16)), str(value))


if __name__ == "__main__":
    main(*sys.argv[1:])
