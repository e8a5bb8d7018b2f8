"""Tables that people fill in or that other tools export, through one strict reader: CSV, JSON and JSON Lines.

Cells stay the texts that the file has: no number, date or missing value is guessed. What could be read in two ways, such as a
column that appears twice, is refused in one sentence; what is left out without loss, such as empty cells behind the last
column, is named in the notes.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from audit.errors import AuditError, describe_error
from audit.formatting import plain_cell, safe_cell, some_of

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
# The first line by which spreadsheets are told the separator; saved again by another program, it may end in separators
SEPARATOR_LINE = re.compile(r'"?sep=([^\w\s"]|\t)"?[,;\t]*[ ]*(?:\r\n|\r|\n|$)', re.IGNORECASE)
# Soft hyphens, zero-width characters, marks of direction, byte order marks
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]")
INVISIBLE_ENDS = re.compile(f"^(?:{INVISIBLE.pattern}|\\s)+|(?:{INVISIBLE.pattern}|\\s)+$")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,(?:\d{1,2}|\d{4,})")
WHOLE_NUMBER = re.compile(r"(\d+)\.0+")
ANNOTATOR = "annotator"
"""How the name of every rater's column begins."""
RATER_FIELDS = ("significance", "seconds", "order", "comment")
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CSV = "a CSV table"
WORKBOOK = b"PK\x03\x04"
csv.field_size_limit(2**27)

Known = Callable[[str], bool]
"""Whether a plain name is that of a column which the caller knows."""
Lines = list[list[str]]
"""The cells of a file, row by row, the column names among them."""


@dataclass(frozen=True)
class TableSource:
    """The file of a table, and what a refusal says of it.

    name     of the file, with which messages begin
    outcome  what happened to the data, in a sentence: "Nothing was computed."
    error    the class of the refusal
    """

    name: str
    outcome: str
    error: type[AuditError] = AuditError

    def refusal(self, place: str, fault: str, advice: str = "Correct the file and try again.") -> AuditError:
        """The error to raise: where, what is wrong, what happened to the data, what to do next."""
        return self.error(f"{self.name}{', ' if place else ''}{place}: {fault}. {self.outcome} {advice}".strip())


@dataclass(frozen=True)
class TableRow:
    """A row of a table: where it is in the file (`row 3`, as spreadsheets count), and plain column name -> cell."""

    place: str
    cells: Mapping[str, str]


@dataclass(frozen=True)
class PeopleTable:
    """A table as its file has it.

    columns  plain name -> the name as written, in the order of the file
    rows     every row with a cell that is not blank
    notes    what was left out without loss, in sentences
    """

    columns: Mapping[str, str]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()


# -- names -------------------------------------------------------------------------------------------------------------


@lru_cache(4096)
def plain_name(name: str) -> str:
    """A column name without case, invisible characters and surrounding blanks; blanks and hyphens within are underscores."""
    return re.sub(r"[\s_-]+", "_", visible(name)).casefold()


def trimmed(text: str) -> str:
    """`text` without what nobody can see at its ends: blanks of every kind, zero-width characters, byte order marks."""
    # The first test takes a tenth of the time, and nearly every cell passes it
    return text.strip() if text.isascii() else INVISIBLE_ENDS.sub("", text)


def visible(text: str) -> str:
    """`text` trimmed, in composed form (NFC), so that a letter with its accent is one character wherever it was typed."""
    return trimmed(text) if text.isascii() else unicodedata.normalize("NFC", trimmed(text))


def rater_columns(names: Iterable[object]) -> list[str]:
    """The columns of human raters: all that begin with `annotator`, but not those about another rater's ratings."""
    begin = [name for name in map(str, names) if name.startswith(ANNOTATOR)]
    about = {f"{rater}_{name}" for rater in begin for name in RATER_FIELDS}
    return [name for name in begin if name not in about]


def rater_key(rater: str) -> str:
    """What is behind `annotator` in the name of a rater's column; other columns about that rater end in it."""
    return rater.removeprefix(ANNOTATOR).strip("_")


def alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Two of `names` that a reader takes for one: they differ in case, blanks, invisible characters, or 1 and 1.0 only."""
    first: dict[str, str] = {}
    for name in names:
        key = " ".join(INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).split()).casefold()
        key = whole[1] if (whole := WHOLE_NUMBER.fullmatch(key)) else key
        if first.setdefault(key, name) != name:
            yield first[key], name


def decimal_number(text: str) -> float:
    """The number in a cell; NaN for any other text. `1,5` is 1.5; `1,500` may be 1.5 or 1500, so it is not read."""
    try:
        return float(text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text)
    except ValueError:
        return math.nan


# -- text --------------------------------------------------------------------------------------------------------------


def read_bytes(path: Path, source: TableSource, kind: str) -> bytes:
    """The content of a file; `kind` says what it should have been, for the refusal: "a CSV table"."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise source.refusal("", f"cannot be read as {kind} ({describe_error(error)})", "Check its name.") from None


def text_of(data: bytes, source: TableSource, kind: str) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a byte order mark."""
    fault = "it is a workbook" if data.startswith(WORKBOOK) else ""
    try:
        text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        row = data[: error.start].count(b"\n") + 1
        fault = fault or f"near row {row} the text is not UTF-8"
        text = ""
    if fault or "\0" in text:
        fault = fault or "the text has null characters, which UTF-16 without a byte order mark has"
        raise source.refusal("", f"cannot be read as {kind} ({fault})", "Save the file as 'CSV UTF-8', or JSON in UTF-8.")
    return text


def text_lines(text: str) -> list[tuple[int, str]]:
    """(number from 1, line) of each line that is not blank. Only line feeds end a line: U+2028 and U+0085 are characters."""
    return [(number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


# -- CSV ---------------------------------------------------------------------------------------------------------------


def read_csv(path: Path, source: TableSource, known: Known) -> PeopleTable:
    """The table in a file of comma, semicolon or tab separated values, see `csv_lines` and `table_of`."""
    return csv_table(read_bytes(path, source, CSV), source, known)


def csv_table(data: bytes, source: TableSource, known: Known) -> PeopleTable:
    """The table in the content of such a file."""
    return table_of(csv_lines(text_of(data, source, CSV), source, known), source)


def csv_lines(text: str, source: TableSource, known: Known) -> Lines:
    """The cells of a CSV file.

    The separator is the one that a first line `sep=;` names, else the one of comma, semicolon and tab that separates known
    column names; it is never found from values. Raises the source's error where two separators do so equally well.
    """
    named = SEPARATOR_LINE.match(text)
    text = text[named.end() :] if named else text
    separator = named[1] if named else _separator(text, source, known)
    # `a, b` is read as `a` and `b` only where the header has blanks too: elsewhere they are part of the text
    header = _header(text, separator)
    blanks = len(header) > 1 and all(cell.startswith(" ") for cell in header[1:])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=blanks, strict=True)
    lines: Lines = []
    try:
        lines.extend(reader)
    except csv.Error as error:
        fault = f"cannot be read as a CSV table ({error})"
        raise source.refusal(f"row {len(lines) + 1}", fault, "Check the quotation marks of this row.") from None
    return lines


def _separator(text: str, source: TableSource, known: Known) -> str:
    headers = {separator: _header(text, separator) for separator in SEPARATORS}
    found = {separator: sum(known(plain_name(cell)) for cell in cells) for separator, cells in headers.items()}
    most = max(found.values())
    best = [separator for separator in SEPARATORS if found[separator] == most and len(headers[separator]) > 1]
    if most and len(best) > 1:
        words = " or ".join(SEPARATORS[separator] for separator in best)
        raise source.refusal("row 1", f"the columns may be separated by {words}", "Save the file with one of them.")
    # Without a known column the file is refused later; its columns are named as whoever wrote it meant them
    return best[0] if best and most else max(SEPARATORS, key=lambda separator: len(headers[separator]))


def _header(text: str, separator: str) -> list[str]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        return next((row for row in rows if any(map(visible, row))), [])
    except csv.Error:
        return []


def table_of(lines: Sequence[Sequence[str]], source: TableSource, *, fill: bool = False) -> PeopleTable:
    """The table in the cells of a file; the first row that is not blank has the column names.

    fill  cells that are missing at the end of a row are empty, as spreadsheets leave them out; else such a row is refused

    Rows without a text are skipped, and so are empty cells behind the last column. Texts that were escaped for spreadsheets
    (`'=1+1`) are as they were. Raises the source's error for a file without column names, two columns with one name, a column
    that has texts and no name, and a row that is too long or too short.
    """
    numbered = [(number, line) for number, line in enumerate(lines, 1) if any(map(visible, line))]
    if not numbered:
        raise source.refusal("", "cannot be read as a CSV table (it is empty)", "The first row must name the columns.")
    first, header = numbered[0]
    body = numbered[1:]
    notes = list(_checked_lengths(len(header), body, source, fill))
    kept, more = _named_columns(header, [line for _, line in body], first, source)
    rows = tuple(
        TableRow(f"row {number}", {name: plain_cell(line[index]) if index < len(line) else "" for name, index in kept.items()})
        for number, line in body
    )
    return PeopleTable({name: visible(header[index]) for name, index in kept.items()}, rows, (*notes, *more))


def _checked_lengths(width: int, body: Sequence[tuple[int, Sequence[str]]], source: TableSource, fill: bool) -> Iterator[str]:
    longer = 0
    for number, line in body:
        extra = next((cell for cell in line[width:] if visible(cell)), None)
        if extra is not None or (len(line) < width and not fill):
            fault = f"it has {len(line):,} cells, and the first row names {width:,} columns"
            behind = "" if extra is None else f"; '{visible(extra)[:40]}' is in none of them"
            advice = "A text that contains the separator needs quotation marks." if behind else "Fill in the cells or separators."
            raise source.refusal(f"row {number}", fault + behind, advice)
        longer += len(line) > width
    if longer:
        rows = f"{longer:,} row ends" if longer == 1 else f"{longer:,} rows end"
        yield f"{rows} with a comma (or other separator) more than the first row; the empty cells behind it were ignored."


def _named_columns(
    header: Sequence[str], body: Sequence[Sequence[str]], number: int, source: TableSource
) -> tuple[dict[str, int], list[str]]:
    """Plain name -> index of each column, and a note on each column without a name that is left out."""
    kept: dict[str, int] = {}
    notes = []
    for index, written in enumerate(header):
        name = plain_name(plain_cell(written))
        if name in kept:
            fault = _twice(visible(header[kept[name]]), visible(written))
            raise source.refusal(f"row {number}", fault, "Rename one of them or delete it.")
        if name:
            kept[name] = index
            continue
        texts = [visible(line[index]) if index < len(line) else "" for line in body]
        if index == 0 and _counts_rows(texts):
            notes.append("The first column has no name; it counts the rows and was ignored.")
        elif any(texts):
            example = next(filter(None, texts))[:40]
            raise source.refusal(f"row {number}", f"column {index + 1} has no name, but texts such as '{example}'", "Name it.")
    return kept, notes


def _twice(first: str, second: str) -> str:
    return f"column '{second}' appears twice" if first == second else f"columns '{first}' and '{second}' have the same name"


def _counts_rows(texts: Sequence[str]) -> bool:
    """Whether these are the row numbers that pandas and R write into a first column without a name."""
    return any(list(texts) == list(map(str, range(start, start + len(texts)))) for start in (0, 1))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]], separator: str = ",") -> str:
    """A table that `csv_lines` and `table_of` read back unchanged, and that no spreadsheet takes for a formula."""
    out = io.StringIO(newline="")
    # With "\n" alone the csv module leaves a carriage return within a text without quotes, where it ends the row
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerow([safe_cell(name) for name in columns])
    # Quoted where blank rows and lone carriage returns would otherwise not be a row with this text
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


# -- JSON --------------------------------------------------------------------------------------------------------------


class RepeatedKey(dict[str, Any]):
    """An object of JSON that has a key twice, with that key."""

    key: str = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) == len(pairs):
        return record
    repeated = RepeatedKey(record)
    names = [name for name, _ in pairs]
    repeated.key = next(name for index, name in enumerate(names) if name in names[:index])
    return repeated


def repeated_key(value: object) -> str | None:
    """A key that an object in a value of `parse_json` has twice; None where there is none."""
    if isinstance(value, RepeatedKey):
        return value.key
    inside: Iterable[object] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((key for item in inside if (key := repeated_key(item)) is not None), None)


def parse_json(text: str) -> Any:
    """A value of JSON, in which an object with a key twice is a RepeatedKey. Raises ValueError."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def strict_json(text: str) -> Any:
    """A value of JSON. Raises ValueError, also for an object with a key twice: nobody knows which value is right."""
    value = parse_json(text)
    if (key := repeated_key(value)) is not None:
        raise ValueError(f"the key '{key}' appears twice in one object")
    return value


def json_records(path: Path, source: TableSource) -> list[tuple[str, Any]]:
    """(place, value) for each record of a JSON or JSON Lines file; objects with a key twice are RepeatedKey.

    A .json file has a list, or an object with a list for each column; other files have one record a line.
    """
    text = text_of(read_bytes(path, source, "JSON"), source, "JSON")
    if path.suffix.lower() != ".json":
        return [(f"line {number}", _parsed(line, f"line {number}", source)) for number, line in text_lines(text)]
    value = _parsed(text, "", source)
    if isinstance(value, RepeatedKey):
        raise source.refusal("", f"the key '{value.key}' appears twice in one object")
    if isinstance(value, dict):
        columns = list(value.values())
        if not columns or not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
            fault = "a list of records was expected, or an object with a list of the same length for each column"
            raise source.refusal("", fault, "Export the labels again.")
        value = [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]
    if not isinstance(value, list):
        raise source.refusal("", "a list of records was expected", "Export the labels again.")
    return [(f"record {number}", record) for number, record in enumerate(value, 1)]


def _parsed(text: str, place: str, source: TableSource) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise source.refusal(place, f"cannot be read as JSON ({error})", "Export the file again.") from None


def cell_of(value: object) -> str:
    """A value of JSON as a cell; a list or an object as JSON, so that it is not a label by accident. The number 1.0 is 1."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and len(value) == 1:
        return cell_of(value[0])
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else str(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else str(value)


def records_table(records: Sequence[tuple[str, Mapping[str, str]]], source: TableSource) -> PeopleTable:
    """Records, each with its place, as a table. Raises the source's error where two keys of a record are one column."""
    columns: dict[str, str] = {}
    rows = []
    for place, record in records:
        cells: dict[str, str] = {}
        written: dict[str, str] = {}
        for key, value in record.items():
            name = plain_name(key)
            if name in cells:
                raise source.refusal(place, f"keys '{written[name]}' and '{key}' have the same name", "Rename one of them.")
            cells[name], written[name] = value, key
            columns.setdefault(name, visible(key))
        rows.append(TableRow(place, cells))
    return PeopleTable(columns, tuple(rows))


def listed(names: Iterable[str]) -> str:
    """The first few of some names, in quotation marks."""
    return some_of([f"'{name}'" for name in names])
