"""Reading a file of any accepted format record by record, each with its position.

A record, or a file, that cannot be read becomes an UnreadableRecord with a sentence; nothing is raised.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from audit.closed_folder import open_plain
from audit.formatting import UNPRINTABLE
from audit.release.layout import CHUNK, format_suffix
from audit.release.report import WHOLE_FILE
from audit.release.values import CONTROL_CHARACTER, DoubledKeys, Objects, clean_json

DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}
DELIMITERS = tuple(DELIMITER_NAMES)
BOM = b"\xef\xbb\xbf"
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[,;\t]*\r?\n', re.IGNORECASE)
UNREADABLE = EOFError, zlib.error, OSError
"""Exceptions that reading a file to its end may raise, even while unpacking."""
# JSON shrinks to a tenth, one pair repeated over and over to a hundredth. Unpacking a small file is harmless whatever its ratio.
MAX_UNPACKING, HARMLESS_BYTES = 200, 64 * 2**20
BLANK = object()
# Lines that may be taken at once
CHUNK_LINES, CHUNK_BYTES = 10_000, 4 * 2**20
Take = Callable[[list[bytes]], bool]
"""Whether the records in some lines were loaded at once, so that they need not be read by record."""
# More consecutive lines without a record than accidents produce; a small .gz may contain billions of them
MAX_UNREADABLE_LINES = 10_000
ENDLESS_LINES = f"{MAX_UNREADABLE_LINES:,} lines in a row up to line {{number:,}} contain no record; the rest was not read."
# The default limit of 128 KB is shorter than some answers and than the JSON cells of a table.
csv.field_size_limit(2**27)


@dataclass(frozen=True)
class UnreadableRecord:
    """A record, or a whole file, that could not be read."""

    code: str
    message: str


@dataclass
class RecordFile:
    """One file of a release. After `rows()` is consumed, `repairs` counts the repairs made while reading."""

    path: Path
    max_bytes: int
    take: Take = lambda _: False
    repairs: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # One decoder for all records: building it takes longer than reading a short record.
        self._objects = Objects()
        self._decoder = json.JSONDecoder(parse_constant=self._constant, object_pairs_hook=self._objects)

    def rows(self) -> Iterator[tuple[str, Any]]:
        """(position, record) for each record, and (position, Bad) where one cannot be read."""
        read = {".csv": self._csv_records, ".parquet": self._parquet_records, ".json": self._json_records}.get(
            format_suffix(self.path), self._lines
        )
        try:
            yield from read()
        except UnicodeDecodeError as error:
            yield (
                WHOLE_FILE,
                UnreadableRecord("not_utf8", f"the text is not UTF-8 (byte {error.start:,}); save the file as UTF-8."),
            )
        except UNREADABLE as error:
            yield WHOLE_FILE, UnreadableRecord("unreadable_file", f"the file cannot be read to its end ({error}).")

    def _text(self) -> str | UnreadableRecord:
        with open_bytes(self.path) as file:
            # The size of a .gz is not known in advance, so one byte more than allowed shows that it is too large.
            raw = file.read(self.max_bytes + 1)
        if len(raw) > self.max_bytes:
            return self._too_large()
        if raw.startswith(BOM):
            self._mend("byte order mark skipped")
        return raw.decode("utf-8-sig")

    def _too_large(self) -> UnreadableRecord:
        return UnreadableRecord(
            "too_large", f"a single object of more than {self.max_bytes / 2**20:,.0f} MB; split it, or raise AUDIT_MAX_OBJECT_MB."
        )

    def _json_records(self) -> Iterator[tuple[str, Any]]:
        text = self._text()
        value = text if isinstance(text, UnreadableRecord) else self._parse(text)
        if isinstance(value, UnreadableRecord):
            yield WHOLE_FILE, value
            return
        listed = _only_list(value)
        if listed is not None and isinstance(value, DoubledKeys) and value.own:
            yield WHOLE_FILE, UnreadableRecord("doubled_field", f"the key '{value.own[0]}' occurs twice.")
            return
        records = value if isinstance(value, list) else listed
        if records is None:
            yield "record 1", value
        else:
            yield from ((f"record {i}", record) for i, record in enumerate(records, 1))

    def _lines(self) -> Iterator[tuple[str, Any]]:
        with open_bytes(self.path) as file:
            in_a_row = number = 0
            for lines in self._chunks(file):
                if len(lines[-1]) <= self.max_bytes and self.take(lines):
                    in_a_row, number = 0, number + len(lines)
                    continue
                for raw in lines:
                    number += 1
                    if raw.startswith(BOM):
                        self._mend("byte order mark skipped")
                    record = self._line(raw, file)
                    in_a_row = 0 if isinstance(record, dict) else in_a_row + 1
                    if in_a_row > MAX_UNREADABLE_LINES:
                        yield WHOLE_FILE, UnreadableRecord("unreadable_file", ENDLESS_LINES.format(number=number))
                        return
                    if record is not BLANK:
                        yield f"line {number}", record

    def _chunks(self, file: IO[bytes]) -> Iterator[list[bytes]]:
        """The lines, some at a time; one that is too long ends a chunk, as the rest of it is still in `file`."""
        lines: list[bytes] = []
        size = 0
        try:
            # One byte more than allowed, as above
            for raw in iter(partial(file.readline, self.max_bytes + 1), b""):
                lines.append(raw)
                size += len(raw)
                if len(lines) >= CHUNK_LINES or size >= CHUNK_BYTES or len(raw) > self.max_bytes:
                    yield lines
                    lines, size = [], 0
        except UNREADABLE:
            if lines:
                yield lines
            raise
        if lines:
            yield lines

    def _line(self, raw: bytes, file: IO[bytes]) -> Any:
        """The record in a line, or BLANK. Of a line that is too long, the rest is skipped in `file`."""
        if len(raw) > self.max_bytes:
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(CHUNK)
            return self._too_large()
        try:
            return self._parse(raw.decode("utf-8-sig")) if raw.strip() else BLANK
        except UnicodeDecodeError as error:
            return UnreadableRecord(
                "not_utf8", f"the text is not UTF-8 (byte {error.start:,} of the line); save the file as UTF-8."
            )

    def _parse(self, text: str) -> Any:
        text, repairs = clean_json(text)
        for repair in repairs:
            self._mend(repair)
        self._objects.any_doubled = False
        try:
            return self._decoder.decode(text)
        except (ValueError, RecursionError) as error:
            return UnreadableRecord("broken_json", _broken(text, error))

    # NaN and Infinity are not JSON, but Python's own json writes them
    def _constant(self, name: str) -> None:
        self._mend(f"{name} read as no value")

    def _csv_records(self) -> Iterator[tuple[str, Any]]:
        text = self._text()
        if isinstance(text, UnreadableRecord):
            yield WHOLE_FILE, text
            return
        delimiter, table, first = self._separated(self._printable(text))
        # newline="": a cell may contain line ends, which only the csv module can tell from the end of a row
        reader = csv.reader(io.StringIO(table, newline=""), delimiter=delimiter)
        try:
            header = tuple(name.strip() for name in next(reader, ()))
            doubled = tuple(name for name in dict.fromkeys(header) if name and header.count(name) > 1)
            yield from ((f"line {reader.line_num + first}", _row(header, doubled, cells)) for cells in reader if any(cells))
        except csv.Error as error:
            where = f"line {reader.line_num + first}"
            yield where, UnreadableRecord("broken_csv", f"the rest of the table cannot be read ({error}).")

    def _separated(self, text: str) -> tuple[str, str, int]:
        """The separator of the cells, the table, and how many lines are above it: Excel may write `sep=;` there."""
        named = SEPARATOR_LINE.match(text)
        delimiter = named[1] if named else delimiter_of(text)
        if named:
            self._mend("the first line, which names the separator, was skipped")
        if delimiter != DELIMITERS[0]:
            self._mend(f"cells are separated by {DELIMITER_NAMES.get(delimiter, repr(delimiter))}")
        return (delimiter, text[named.end() :], 1) if named else (delimiter, text, 0)

    def _parquet_records(self) -> Iterator[tuple[str, Any]]:
        import pyarrow as pa  # here: 170 MB that only parquet releases need
        import pyarrow.parquet as pq

        try:
            number = 0
            with open_plain(self.path) as file:  # pyarrow cannot open a name that is not UTF-8
                table = pq.ParquetFile(file)
                if doubled := [name for name, times in Counter(table.schema_arrow.names).items() if times > 1]:
                    yield WHOLE_FILE, UnreadableRecord("doubled_column", f"the column '{doubled[0]}' occurs twice.")
                    return
                for batch in table.iter_batches(batch_size=10_000):
                    for record in batch.to_pylist():
                        number += 1
                        yield f"row {number}", self._cleaned(record)
        except pa.ArrowException as error:
            yield (
                WHOLE_FILE,
                UnreadableRecord("unreadable_file", f"this is not a readable parquet file ({str(error).splitlines()[0]})."),
            )

    def _cleaned(self, value: Any) -> Any:
        """A value of a parquet file with printable texts; its schema bounds how deep it is."""
        if isinstance(value, str):
            return self._printable(value)
        if isinstance(value, list):
            return [self._cleaned(item) for item in value]
        return {name: self._cleaned(item) for name, item in value.items()} if isinstance(value, dict) else value

    def _printable(self, text: str) -> str:
        text, times = UNPRINTABLE.subn(" ", text)
        if times:
            self._mend(CONTROL_CHARACTER, times)
        return text

    def _mend(self, what: str, times: int = 1) -> None:
        self.repairs[what] = self.repairs.get(what, 0) + times


def open_bytes(path: Path) -> IO[bytes]:
    """The content of a file, unpacked if its name ends in .gz; reading it may raise one of UNREADABLE."""
    return io.BufferedReader(_Unpacking(path), CHUNK) if path.name.endswith(".gz") else open_plain(path)


class _Unpacking(io.RawIOBase):
    """The content of a .gz. Reading raises OSError where it unpacks to far more than a table would: 1 MB may contain 1 GB."""

    def __init__(self, path: Path) -> None:
        self._packed = open_plain(path)
        self._file = gzip.open(self._packed)  # noqa: SIM115 - closed with this one
        self._limit = self._left = max(HARMLESS_BYTES, MAX_UNPACKING * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        length = self._file.readinto1(buffer)
        self._left -= length
        if self._left < 0:
            raise OSError(
                f"it unpacks to more than {self._limit / 2**20:,.0f} MB, which is too large for a table; if it is correct, "
                f"unpack it yourself"
            )
        return length

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def delimiter_of(text: str) -> str:
    """The separator in a table's first line: a comma, or what spreadsheets write where the comma is decimal."""
    return max(DELIMITERS, key=text.partition("\n")[0].count)


def _only_list(value: Any) -> list[Any] | None:
    """The records of `{"answers": [...]}`: an object whose single value is a list of objects."""
    inside = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None
    return inside if isinstance(inside, list) and inside and isinstance(inside[0], dict) else None


def _row(header: tuple[str, ...], doubled: tuple[str, ...], cells: list[str]) -> Any:
    """One row of a table; an UnreadableRecord where its cells cannot be told apart."""
    if len(cells) != len(header):
        gap = len(cells) - len(header)
        words = f"the row has {abs(gap)} {'more' if gap > 0 else 'fewer'} cells than the header."
        return UnreadableRecord("broken_csv", words)
    values = {name: cell if cell != "" else None for name, cell in zip(header, cells, strict=True)}
    return DoubledKeys(values, doubled) if doubled else values


def _broken(text: str, error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError) and error.pos >= len(text.rstrip()) - 1:
        return f"the JSON ends prematurely (line {error.lineno}, column {error.colno}): the file looks truncated."
    return f"this is not JSON ({error})."
