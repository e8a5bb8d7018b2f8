"""Finds the comparison files in which a field stands under another name than in the first file, or twice.

DuckDB is told the names of the first file and passes over every other key: a pair with `label` beside `classification` would
load with one of two labels, and a pair with `label` alone as unscored. Reading each key in Python takes longer than the load, so
values are counted first: a file with exactly as many values as DuckDB found has no key that was passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
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
SPACED_COLON = re.compile(rb'(?<!\\)"\s+:')
VALUES_OF_FILES = """
select file, 2 * count(*) + count({metadata}) + {values} from pairs where file between $first and $last group by file
"""
VALUES = ("label", "significance", "reasoning", "divergence_topic", "checks")


@dataclass
class OtherSpellings:
    """Examines files of which DuckDB was told that they are in the `form` of the first one."""

    form: PairFormat
    _buffer: bytearray = field(default_factory=bytearray)

    def values_of_files(self, con: Connection, first: int, last: int) -> dict[int, int]:
        """How many values were read of the pairs of each file."""
        usage = (*USAGE_TYPES, *(READING_TYPES if self.form.has_readings else ()))
        metadata = f"case when {' or '.join(f'{name} is not null' for name in usage)} then 1 end"
        values = " + ".join(f"count({name})" for name in (*VALUES, *usage))
        statement = VALUES_OF_FILES.format(metadata=metadata, values=values)
        return dict(rows(con, statement, {"first": first, "last": last}))

    def in_file(self, path: Path, values: int) -> bool:
        """Whether a field may stand there under another name, or one beside the pairs twice.

        values  how many values of a comparison, of its pairs and of their metadata were read from the file
        """
        try:
            raw = self._content(path)
        except UNREADABLE:  # reported when the file is read by record
            return True
        return count_values(raw) != values and self._named_otherwise(bytes(raw))

    def _content(self, path: Path) -> memoryview:
        """The content of a file, valid until the next call: a new buffer for each file would take longer than counting."""
        if path.name.endswith(".gz"):
            with open_bytes(path) as file:
                return memoryview(file.read())
        size = path.stat().st_size
        if len(self._buffer) < size:
            self._buffer = bytearray(size)
        content = memoryview(self._buffer)
        with path.open("rb", buffering=0) as file:
            length = 0
            while read := file.readinto(content[length:size]):
                length += read
        return content[:length]

    def _named_otherwise(self, raw: bytes) -> bool:
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


def count_values(text: bytes | memoryview) -> int:
    """How many keys of a JSON text have a value other than null; -1 where a key may be apart from its colon."""
    raw = np.frombuffer(text, np.uint8)
    quotes, following = raw[1:-3] == QUOTE, raw[2:-2]
    after = np.flatnonzero(quotes & (following == COLON)) + 3
    if np.any(quotes & (following <= SPACE)) and SPACED_COLON.search(text):
        return -1
    # Inside a text, a quote is escaped
    after = after[raw[after - 3] != ESCAPE]
    first = raw[after]
    first = np.where(first == SPACE, raw[after + 1], first)
    return int(np.count_nonzero(first != NULL))


def _other_names(kind: RecordKind, names: Mapping[str, str]) -> re.Pattern[bytes]:
    """Finds a key that is a name of one of the kind's fields and not the one in use."""
    spelled = {name.casefold().replace("_", "") for one in kind.fields for name in (one.name, *one.aliases)}
    others = "|".join(r"[ _\-\t]*".join(map(re.escape, word)) for word in sorted(spelled))
    used = "|".join(re.escape(names[one.name]) for one in kind.fields)
    return re.compile(rf'"(?!(?-i:{used})")[ _\-\t]*(?:{others})[ _\-\t]*"\s*:'.encode(), re.IGNORECASE)
