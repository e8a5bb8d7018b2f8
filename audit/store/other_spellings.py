"""Finds the comparison files in which a field stands under another name than in the first file, or twice.

DuckDB is told the names of the first file and passes over every other key: a pair with `label` beside `classification` would
load with one of two labels, and a pair with `label` alone as unscored. Reading each key in Python takes longer than the load, so
values are counted first: a file with exactly as many values as DuckDB found has no key that was passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from audit.release.pair_kinds import COMPARISON, PAIR
from audit.release.record_kind import RecordKind
from audit.release.records import UNREADABLE, open_bytes
from audit.store.connection import Connection, rows
from audit.store.stage_pairs import READING_TYPES, USAGE_TYPES, PairFormat

QUOTE, COLON, SPACE, NULL, ESCAPE = b'": n\\'
# The object of the judge's metadata is a value too, besides those in it
ESCAPES, LINE_ENDS = tuple(b"ubf"), tuple(b"\t\n\r")
# At the start of a piece, the quote may be in the one before it
SPACED_COLON = re.compile(rb'(?:\A|(?<!\\)")\s+:')
CHUNK_BYTES, OVERLAP = 2**18, 4
VALUES_OF_FILES = """
select file, 2 * count(*) + count({metadata}) + {values} from pairs where file between $first and $last group by file
"""
VALUES = ("label", "significance", "reasoning", "divergence_topic", "checks")


@dataclass
class OtherSpellings:
    """Examines files of which DuckDB was told that they are in the `form` of the first one."""

    form: PairFormat

    def values_of_files(self, con: Connection, first: int, last: int) -> dict[int, int]:
        """How many values were read of the pairs of each file."""
        usage = (*USAGE_TYPES, *(READING_TYPES if self.form.has_readings else ()))
        metadata = f"case when {' or '.join(f'{name} is not null' for name in usage)} then 1 end"
        values = " + ".join(f"count({name})" for name in (*VALUES, *usage))
        statement = VALUES_OF_FILES.format(metadata=metadata, values=values)
        return dict(rows(con, statement, {"first": first, "last": last}))

    def in_file(self, path: Path, values: int) -> tuple[bool, bool]:
        """Whether a field may have another name there or be there twice; whether a control character may be there.

        values  how many values of a comparison, of its pairs and of their metadata were read from the file
        """
        counted, may_be_control = 0, False
        try:
            for chunk in _chunks(path):
                of_chunk = -1 if counted < 0 else count_values(chunk)
                counted = -1 if of_chunk < 0 else counted + of_chunk
                may_be_control = may_be_control or may_have_control(chunk)
            return counted != values and self._named_otherwise(path), may_be_control
        except UNREADABLE:  # reported when the file is read by record
            return True, True

    def _named_otherwise(self, path: Path) -> bool:
        with open_bytes(path) as file:
            raw = file.read()
        if self._of_pairs.search(raw):
            return True
        start, end = raw.find(f'"{self.form.names["pairs"]}"'.encode()), raw.rfind(b"]")
        beside = raw[: max(start, 0)] + raw[end:]
        own = (self.form.names[one.name].encode() for one in COMPARISON.fields)
        return self._beside_pairs.search(beside) is not None or any(beside.count(b'"%s":' % name) > 1 for name in own)

    @cached_property
    def _of_pairs(self) -> re.Pattern[bytes]:
        return _other_names(PAIR, self.form.names)

    @cached_property
    def _beside_pairs(self) -> re.Pattern[bytes]:
        return _other_names(COMPARISON, self.form.names)


def _chunks(path: Path) -> Iterator[bytes]:
    """A file in pieces that stay in a core's cache, each with the last bytes of the one before it."""
    with open_bytes(path) as file:
        tail = b""
        while read := file.read(CHUNK_BYTES):
            yield (chunk := tail + read)
            tail = chunk[-OVERLAP:]


def count_values(text: bytes) -> int:
    """How many keys of a JSON text have a value other than null; -1 where a key may be apart from its colon.

    Its first byte and its last three are context: they are counted with the text before it or after it.
    """
    raw = np.frombuffer(text, np.uint8)
    colons, blanks, nulls = raw == COLON, raw <= SPACE, raw == NULL
    if np.any(blanks[:-1] & colons[1:]) and SPACED_COLON.search(text):
        return -1
    keys = raw[1:-3] == QUOTE
    keys &= colons[2:-2]
    if b"\\" in text:  # inside a text, a quote is escaped
        keys &= raw[:-4] != ESCAPE
    without = blanks[3:-1] & nulls[4:]
    without |= nulls[3:-1]
    without &= keys
    return int(np.count_nonzero(keys)) - int(np.count_nonzero(without))


def may_have_control(text: bytes) -> bool:
    """Whether a JSON text may have a character of `audit.formatting.UNPRINTABLE` in it, escaped or not."""
    # Asking DuckDB for each text takes a sixth of the time of parsing them
    raw = np.frombuffer(text, np.uint8)
    if b"\\" in text:
        escaped = raw[np.minimum(np.flatnonzero(raw == ESCAPE) + 1, len(raw) - 1)]
        if np.isin(escaped, ESCAPES).any():
            return True
    if b"\x7f" in text or (raw.min() < SPACE and not np.isin(raw[raw < SPACE], LINE_ENDS).all()):
        return True
    if text.isascii():
        return False
    # In UTF-8, U+0080 to U+009F are C2 and a byte below A0, U+FFFE and U+FFFF are EF BF and one from BE on
    beyond = np.flatnonzero(raw >= 0x80)
    first, second, third = (raw[np.minimum(beyond + step, len(raw) - 1)] for step in range(3))
    noncharacter = (first == 0xEF) & (second == 0xBF) & (third >= 0xBE)
    return bool((((first == 0xC2) & (second < 0xA0)) | noncharacter).any())


def _other_names(kind: RecordKind, names: Mapping[str, str]) -> re.Pattern[bytes]:
    """Finds a key that is a name of one of the kind's fields and not the one in use."""
    spelled = {name.casefold().replace("_", "") for one in kind.fields for name in (one.name, *one.aliases)}
    others = "|".join(r"[ _\-\t]*".join(map(re.escape, word)) for word in sorted(spelled))
    used = "|".join(re.escape(names[one.name]) for one in kind.fields)
    return re.compile(rf'"(?!(?-i:{used})")[ _\-\t]*(?:{others})[ _\-\t]*"\s*:'.encode(), re.IGNORECASE)
