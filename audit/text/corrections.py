"""Corrections of a handbook's text by people: one file a handbook beside its source, which outlives every extraction.

`HANDBOOK_ID.corrections.jsonl` has one correction a line. A correction names text by its page and its own words, never by the
number of a line, so it survives another engine, other line breaks and a line that moved. Where its words are not found, or are
there several times, nothing is guessed: the correction is not applied, and a sentence says so.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from audit.atomic_io import write_atomic
from audit.errors import DocumentError
from audit.text.documents import checked_file_name

SUFFIX = ".corrections.jsonl"
KEEP, DROP, HEADING, LEAD, ORDER = "keep", "drop", "heading", "lead", "order"
DEEDS = {
    KEEP: "is part of the text, though pages repeat it or a table of contents lists it",
    DROP: "is not part of the text",
    HEADING: "is a heading",
    LEAD: "introduces the list below it",
    ORDER: "is read before or after another line",
}
"""What a correction says of its words."""
MAX_LEVEL = 6
MAX_BYTES, MAX_WORDS = 2_000_000, 4_000
LOCK_TIMEOUT_S = 10
SHOWN = 60
FIELDS = ("do", "page", "words", "which", "level", "before", "after", "digest", "by", "at")
ALLOWED = (
    f"Allowed: one JSON object a line with do ({', '.join(DEEDS)}), words, and page where the source has pages; level (0 to "
    f"{MAX_LEVEL}, 0: no heading) with heading; before or after (the words of the other line) with order; which ([2, 3]: the "
    "second of three places); digest, by and at for information."
)


@dataclass(frozen=True)
class Correction:
    """One correction.

    do      one of DEEDS
    words   of the line or paragraph, which is found by its letters and digits alone
    page    counted from 1; None where the source has no pages
    which   (2, 3): the second of three places on the page with these words; None: there is one
    level   of a heading, from 1; 0: it is no heading
    before, after  words of the line on the same page before or after which it is read; one of them, with ORDER
    digest  sha256 of the source that the person saw; by, at: who, and when. For information only
    """

    do: str
    words: str
    page: int | None = None
    which: tuple[int, int] | None = None
    level: int | None = None
    before: str | None = None
    after: str | None = None
    digest: str | None = None
    by: str | None = None
    at: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What it does to which text, without who said so: two with one key are the same."""
        others = (letters_in_order(words) if words else None for words in (self.before, self.after))
        return (self.do, letters_in_order(self.words), self.page, self.which, self.level, *others)

    @property
    def name(self) -> str:
        """`drop “Kidney Care Leaflet” on page 3`."""
        return f"{self.do} {quoted(self.words)}{self.where}"

    @property
    def where(self) -> str:
        """` on page 3`; "" where the source has no pages."""
        return f" on page {self.page:,}" if self.page else ""


def quoted(words: str) -> str:
    """The first of these words in quotation marks."""
    text = " ".join(words.split())
    return f"“{text if len(text) <= SHOWN else f'{text[: SHOWN - 1].rstrip()}…'}”"


def corrections_path(source: Path, handbook_id: str, folder: Path | None = None) -> Path:
    """The file of a handbook's corrections: beside its source, or in the folder that is named.

    Raises DocumentError where the id cannot be the name of a file.
    """
    try:
        name = checked_file_name(handbook_id)
    except ValueError as error:
        raise DocumentError(f"{error}, so it has no file of corrections. Nothing was read or written.") from None
    return (folder or source.parent) / f"{name}{SUFFIX}"


# -- words -------------------------------------------------------------------------------------------------------------


def letters_in_order(text: str) -> str:
    """The letters and digits of a text without case: no space, hyphen, bullet or line break tells two texts apart."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))


def find_words(texts: Sequence[str], words: str, which: tuple[int, int] | None = None) -> range | str:
    """The consecutive texts that have these words and no others; or why there is no such place, as the end of a sentence.

    texts  in reading order, those of one page
    """
    spans = list(_spans([letters_in_order(text) for text in texts], letters_in_order(words)))
    if not spans:
        return "these words are not there as a line or paragraph of their own"
    if which is not None:
        number, of = which
        return spans[number - 1] if of == len(spans) else f"these words are there {len(spans):,} times, and not {of:,} times"
    if len(spans) > 1:
        return f"these words are there {len(spans):,} times, and the correction does not say which it means"
    return spans[0]


def _spans(letters: Sequence[str], wanted: str) -> Iterator[range]:
    start = 0
    while start < len(letters):
        joined, end = "", start
        while end < len(letters) and letters[start] and len(joined) < len(wanted):
            joined, end = joined + letters[end], end + 1
        if joined == wanted:
            yield range(start, end)
            start = end
        else:
            start += 1


# -- reading -----------------------------------------------------------------------------------------------------------


def read_corrections(path: Path) -> tuple[Correction, ...]:
    """The corrections in a file, in its order, each once; none where there is no such file.

    Raises DocumentError in one sentence where a line is not a correction: none of the file is then used.
    """
    return tuple({correction.key: correction for correction in _read(path)}.values())


def _read(path: Path) -> list[Correction]:
    return [_correction(path, number, line) for number, line in enumerate(_text(path).split("\n"), start=1) if line.strip()]


def _text(path: Path) -> str:
    try:
        if not path.exists():
            return ""
        if path.stat().st_size > MAX_BYTES:
            raise _refusal(str(path), f"it has more than {MAX_BYTES / 1e6:,.0f} MB")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refusal(str(path), f"it is not UTF-8 (byte {error.start:,})") from None
    except OSError as error:
        raise _refusal(str(path), f"it cannot be read ({error.strerror})") from None


def _refusal(place: str, fault: str) -> DocumentError:
    return DocumentError(
        f"{place}: {fault}. {ALLOWED} None of the file was used, and nothing was made of its handbook. "
        "Correct the line or remove it, and run the same command again."
    )


def _correction(path: Path, number: int, line: str) -> Correction:
    place = f"{path}, line {number:,}"
    try:
        record = json.loads(line, object_pairs_hook=_object, parse_constant=_no_number)
        json.dumps(record, ensure_ascii=False).encode()  # half a character pair could be neither printed nor written
    except (ValueError, RecursionError) as error:
        raise _refusal(place, f"it cannot be read as JSON ({error})") from None
    if not isinstance(record, dict):
        raise _refusal(place, "it is not a JSON object")
    if fault := _fault(record):
        raise _refusal(place, fault)
    which = record.get("which")
    return Correction(**{name: record.get(name) for name in FIELDS} | {"which": tuple(which) if which else None})


def _object(items: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(items)) < len(items):
        raise ValueError("a name is there twice")
    return dict(items)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _fault(record: Mapping[str, Any]) -> str:
    """What is wrong with a record; "" where nothing is."""
    if unknown := [name for name in record if name not in FIELDS]:
        return f"there is no field {quoted(unknown[0])}"
    do = record.get("do")
    if not isinstance(do, str) or do not in DEEDS:
        return f"do is {quoted(json.dumps(do))}" if "do" in record else "it does not say what to do"
    texts = [name for name in ("words", "before", "after") if record.get(name) is not None]
    if bad := next((name for name in texts if not _are_words(record[name])), None) or ("words" not in texts and "words"):
        return f"{bad} must be a text of 1 to {MAX_WORDS:,} characters with a letter or digit"
    if any(not isinstance(record.get(name) or "", str) for name in ("digest", "by", "at")):
        return "digest, by and at must be texts"
    if record.get("page") is not None and not _is_integer(record["page"], 1):
        return "page must be an integer of at least 1"
    return _fault_of_deed(do, record)


def _fault_of_deed(do: str, record: Mapping[str, Any]) -> str:
    level, which = record.get("level"), record.get("which")
    if which is not None and not (
        isinstance(which, list)
        and len(which) == 2
        and _is_integer(which[1], 1)
        and _is_integer(which[0], 1)
        and which[0] <= which[1]
    ):
        return "which must be two integers, such as [2, 3]"
    if (do == HEADING) != _is_integer(level, 0, MAX_LEVEL) or (do != HEADING and level is not None):
        return f"level must be an integer from 0 to {MAX_LEVEL}, with heading and nothing else"
    anchors = sum(record.get(name) is not None for name in ("before", "after"))
    return "" if anchors == (do == ORDER) else "before or after, one of them, belongs to order and to nothing else"


def _are_words(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_WORDS and letters_in_order(value) != ""


def _is_integer(value: Any, least: int, most: int = 1_000_000) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def digest_of_corrections(corrections: Sequence[Correction]) -> str:
    """A sha256 that changes with what they do, and not with who made them or when; "" without any."""
    return hashlib.sha256(repr([one.key for one in corrections]).encode()).hexdigest() if corrections else ""


# -- writing -----------------------------------------------------------------------------------------------------------


def add_correction(path: Path, correction: Correction) -> bool:
    """Write one more correction; False where the file has it already. People who add at the same time lose nothing.

    Raises DocumentError where the correction is not allowed, the file cannot be read, or it cannot be written.
    """
    if fault := _fault(record := _record(correction)):
        raise DocumentError(f"This correction cannot be written: {fault}. Nothing was saved.")
    with _locked(path):
        if any(known.key == correction.key for known in _read(path)):
            return False
        before = _text(path)
        gap = "" if not before or before.endswith("\n") else "\n"
        write_atomic(path, f"{before}{gap}{json.dumps(record, ensure_ascii=False)}\n")
    return True


def withdraw_correction(path: Path, correction: Correction) -> bool:
    """Remove a correction from its file; False where it is not there any more. Raises DocumentError as `add_correction` does."""
    with _locked(path):
        lines = _text(path).removesuffix("\n").split("\n")
        kept = [line for number, line in enumerate(lines, start=1) if not _is(path, number, line, correction)]
        if len(kept) < len(lines):
            write_atomic(path, "".join(f"{line}\n" for line in kept))
    return len(kept) < len(lines)


def _is(path: Path, number: int, line: str, correction: Correction) -> bool:
    return bool(line.strip()) and _correction(path, number, line).key == correction.key


def _record(correction: Correction) -> dict[str, Any]:
    record = {name: value for name in FIELDS if (value := asdict(correction)[name]) is not None}
    return record | ({"which": list(correction.which)} if correction.which else {})


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time, over all processes of this machine."""
    try:
        with FileLock(path.with_name(f".{path.name}.lock"), timeout=LOCK_TIMEOUT_S):
            yield
    except Timeout:
        raise DocumentError(f"{path}: somebody else is writing to it. Nothing was saved. Try again in a moment.") from None
    except OSError as error:
        raise DocumentError(
            f"{path} cannot be written ({error.strerror}). Nothing was saved. Let the server write to this folder, or add the "
            "line by hand."
        ) from None
