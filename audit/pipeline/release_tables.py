"""Tables of a release folder that a command reads, or adds records to and writes again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from audit.atomic_io import atomic_file, write_atomic
from audit.errors import ReleaseError
from audit.release.layout import Layout, find_layout
from audit.release.record_kind import Record, RecordKind
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.schema import MANIFEST as MANIFEST_KIND
from audit.release.values import Reject
from audit.release.write import write_jsonl

MANIFEST = "manifest.json"


def release_layout(folder: Path) -> Layout:
    """The files of the release in `folder`. Raises ReleaseError where it is not the folder of a release."""
    if not folder.is_dir():
        raise ReleaseError(f"{folder} is not a folder. Nothing was written. Unpack the release, and name its folder.")
    return find_layout(folder, folder)


def valid_records(layout: Layout, kind: RecordKind, max_bytes: int, reject: Callable[[], None]) -> Iterator[Record]:
    """The records of a table that can be read; `reject` is called for each of the others, which `audit check` names."""
    for path in layout.parts[kind.name]:
        for _, raw in RecordFile(path, max_bytes).rows():
            try:
                yield _validated(raw, kind)
            except Reject:
                reject()


def records_to_keep(layout: Layout, kind: RecordKind, file_name: str, max_bytes: int) -> Iterator[tuple[Any, Record]]:
    """Each record of a table that is written again: as it is in the file, and as it is understood.

    Raises ReleaseError where the table is in another file than `file_name` or has a record that cannot be read: writing it again
    would lose some.
    """
    for path in layout.parts[kind.name]:
        if path.name != file_name:
            raise ReleaseError(
                f"{path} has {kind.name} records, but they can only be added to {file_name}. Nothing was written. "
                f"Convert the file to {file_name}, or move it away."
            )
        for position, raw in RecordFile(path, max_bytes).rows():
            try:
                yield raw, _validated(raw, kind)
            except Reject as reject:
                raise ReleaseError(
                    f"{path}, {position}: {reject} Nothing was written, as the record would be lost. Correct it or remove it."
                ) from reject


def _validated(raw: Any, kind: RecordKind) -> Record:
    if isinstance(raw, UnreadableRecord):
        raise Reject(raw.code, raw.message)
    return kind.read(raw, [])


def write_table(folder: Path, file_name: str, declared: str, records: Iterable[Record]) -> int:
    """Write a table of the release in `folder`, and return how many records it has.

    Where the manifest declares the count of the table, under the name `declared`, it is corrected. Raises OSError.
    """
    with atomic_file(folder / file_name) as draft:
        count = write_jsonl(draft, records)
    _declare(folder / MANIFEST, declared, count)
    return count


def store_prompts(folder: Path, prompts: Iterable[Record]) -> None:
    """Add prompts in full to the manifest of the release in `folder`; nothing where there is none. Raises OSError."""
    path = folder / MANIFEST
    if not path.is_file():
        return
    manifest = json.loads(path.read_text("utf-8-sig"))
    known = [record for record in manifest.get("prompts") or () if isinstance(record, dict)]
    merged = known + [record for record in prompts if record not in known]
    if merged != known:
        write_atomic(path, json.dumps(manifest | {"prompts": merged}, ensure_ascii=False, indent=1) + "\n")


def _declare(path: Path, declared: str, count: int) -> None:
    try:
        manifest = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        # Without a manifest in JSON nothing declares a count that could be wrong
        return
    name = MANIFEST_KIND.spelling(manifest).get(declared) if isinstance(manifest, dict) else None
    if name and manifest[name] != count:
        write_atomic(path, json.dumps(manifest | {name: count}, ensure_ascii=False, indent=1) + "\n")
