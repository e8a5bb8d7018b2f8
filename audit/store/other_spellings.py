"""Finds the comparison files in which a field stands under another name than in the first file, or twice.

DuckDB is told the names of the first file and passes over every other key: a pair with `label` beside `classification` would
load with one of two labels, and a pair with `label` alone as unscored. Reading each key in Python takes longer than the load, so
values are counted first: a file with exactly as many values as DuckDB found has no key that was passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from audit.release.pair_kinds import COMPARISON, PAIR
from audit.release.record_kind import RecordKind
from audit.release.records import UNREADABLE, open_bytes
from audit.store.connection import Connection, rows
from audit.store.stage_pairs import GROUND_NAMES, READING_TYPES, USAGE_TYPES, PairFormat

QUOTE, COLON, SPACE, NULL, ESCAPE = b'": n\\'
# The object of the judge's metadata is a value too, besides those in it
# By byte: whether an escape of a control character may begin with it, and whether it is one itself, of those below the space
BEGINS_CONTROL, IS_CONTROL = np.zeros((2, 256), bool)
BEGINS_CONTROL[[*b"ubf"]] = IS_CONTROL[:SPACE] = True
IS_CONTROL[[*b"\t\n\r"]] = False
# At the start of a piece, the quote may be in the one before it
SPACED_COLON = re.compile(rb'(?:\A|(?<!\\)")\s+:')
PIECE_BYTES, OVERLAP = 2**17, 4
Flags = npt.NDArray[np.bool_]
VALUES_OF_FILES = """
select file, 2 * count(*) + count({metadata}) + {values} from pairs where file between $first and $last group by file
"""
VALUES = ("label", "significance", "reasoning", "divergence_topic", "checks")


@dataclass
class OtherSpellings:
    """Examines files of which DuckDB was told that they are in the `form` of the first one."""

    form: PairFormat
    _piece: bytearray = field(default_factory=lambda: bytearray(OVERLAP + PIECE_BYTES))
    _flags: Flags = field(default_factory=lambda: np.empty((4, OVERLAP + PIECE_BYTES), bool))

    def values_of_files(self, con: Connection, first: int, last: int) -> dict[int, int]:
        """How many values were read of the pairs of each file."""
        usage = (*USAGE_TYPES, *(READING_TYPES if self.form.has_readings else ()))
        metadata = f"case when {' or '.join(f'{name} is not null' for name in usage)} then 1 end"
        grounds = GROUND_NAMES if self.form.has_grounds else ()
        values = " + ".join(f"count({name})" for name in (*VALUES, *grounds, *usage))
        statement = VALUES_OF_FILES.format(metadata=metadata, values=values)
        return dict(rows(con, statement, {"first": first, "last": last}))

    def in_file(self, path: Path, values: int) -> tuple[bool, bool]:
        """Whether a field may have another name there or be there twice; whether a control character may be there.

        values  how many values of a comparison, of its pairs and of their metadata were read from the file
        """
        counted, may_be_control = 0, False
        try:
            for piece in self._pieces(path):
                of_piece = -1 if counted < 0 else count_values(piece, self._flags)
                counted = -1 if of_piece < 0 else counted + of_piece
                may_be_control = may_be_control or may_have_control(piece)
            return counted != values and self._named_otherwise(path), may_be_control
        except UNREADABLE:  # reported when the file is read by record
            return True, True

    def _pieces(self, path: Path) -> Iterator[bytearray]:
        """A file in pieces that stay in a core's cache, each with the last bytes of the one before it; valid until the next."""
        # The same memory for every piece: memory of this size is given back to the system each time, at ten times the cost
        piece = self._piece
        piece[:OVERLAP] = b" " * OVERLAP
        with open_bytes(path) as file, memoryview(piece)[OVERLAP:] as rest:
            while length := file.readinto(rest):  # type: ignore[attr-defined]
                yield piece if length == PIECE_BYTES else piece[: OVERLAP + length]
                piece[:OVERLAP] = piece[length : OVERLAP + length]

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


def count_values(text: bytes | bytearray, flags: Flags | None = None) -> int:
    """How many keys of a JSON text have a value other than null; -1 where a key may be apart from its colon.

    Its first byte and its last three are context only, so that pieces of a text with OVERLAP are counted once.

    flags  memory to work in, 4 x at least the length of the text
    """
    raw, size = np.frombuffer(text, np.uint8), len(text)
    if size <= OVERLAP:
        return 0
    colons, blanks, nulls, found = np.empty((4, size), bool) if flags is None else flags[:, :size]
    np.equal(raw, COLON, out=colons)
    np.less_equal(raw, SPACE, out=blanks)
    if np.logical_and(blanks[:-1], colons[1:], out=found[:-1]).any() and SPACED_COLON.search(text):
        return -1
    np.equal(raw, NULL, out=nulls)
    keys, without = np.equal(raw[1:-3], QUOTE, out=found[1:-3]), np.logical_and(blanks[3:-1], nulls[4:], out=blanks[3:-1])
    keys &= colons[2:-2]
    if ESCAPE in text:  # inside a text, a quote is escaped
        keys &= np.not_equal(raw[:-4], ESCAPE, out=colons[:-4])
    without |= nulls[3:-1]
    return int(np.count_nonzero(np.greater(keys, without, out=keys)))


def may_have_control(text: bytes | bytearray) -> bool:
    """Whether a JSON text may have a character of `audit.formatting.UNPRINTABLE` in it, escaped or not."""
    # Asking DuckDB for each text takes a sixth of the time of parsing them
    raw = np.frombuffer(text, np.uint8)
    if ESCAPE in text:
        after = np.flatnonzero(raw == ESCAPE) + 1
        if BEGINS_CONTROL[raw[after[after < len(raw)]]].any():
            return True
    if b"\x7f" in text:
        return True
    # As signed numbers: those beyond ASCII are below zero
    lowest = raw.view(np.int8).min() if text else 0
    if lowest < SPACE and IS_CONTROL[raw[raw < SPACE]].any():
        return True
    if lowest >= 0:
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
