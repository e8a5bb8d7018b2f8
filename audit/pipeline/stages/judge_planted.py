"""Planted changes of a run or a release folder: the pairs they start from, and planted.jsonl written."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.errors import AuditError, describe_error
from audit.evaluation.planted_changes import StartPair
from audit.pipeline.release_tables import records_to_keep, release_layout, write_table
from audit.queries.planted import start_pairs
from audit.release.layout import Layout
from audit.release.rating_kinds import PLANTED
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.load import load_release
from audit.store.runs import find_run

PLANTED_FILE = "planted.jsonl"
Record = dict[str, Any]
Key = tuple[str, str | None]
"""Item id and judge."""


@dataclass(frozen=True)
class PlantedTarget:
    """Where planted changes start from, and the folder that planted.jsonl is written to.

    is_release  the folder is that of a release, which then has them when it is loaded
    """

    pairs: list[StartPair]
    folder: Path
    is_release: bool


def planted_target(source: str, out: Path | None, settings: Settings, seed: int) -> PlantedTarget:
    """The pairs of a release folder, or of a loaded run, and where their planted changes are written.

    Raises AuditError where a run has no folder to write to, or no pair of two answers with a label.
    """
    path = Path(source)
    if not path.is_dir() and out is None:
        raise AuditError(
            f"{source} is not the folder of a release. Nothing was asked. For a loaded run, name the folder for {PLANTED_FILE} "
            "with --out: that of its release, so that the planted changes are loaded with it."
        )
    if out is not None and out.exists() and not out.is_dir():
        raise AuditError(f"{out} is a file. Nothing was asked. Name a folder with --out.")
    folder = (out or path).resolve()
    with _store_of(path, source, settings) as store, open_store(store) as con:
        pairs = start_pairs(con, seed)
    if not pairs:
        raise AuditError(f"{source} has no pair of two answers with a label, so nothing can be planted. Nothing was asked.")
    return PlantedTarget(pairs, folder, out is None or (folder / "manifest.json").is_file())


@contextmanager
def _store_of(path: Path, source: str, settings: Settings) -> Iterator[Path]:
    if not path.is_dir():
        yield find_run(settings.store_dir, source).path
        return
    # Loaded into a temporary store: the release need not be among the loaded runs
    with tempfile.TemporaryDirectory(prefix="audit-planted-") as scratch:
        yield load_release(path, replace(settings, data_dir=Path(scratch))).run.path


def earlier_planted(target: PlantedTarget, max_bytes: int) -> dict[Key, object]:
    """The records that planted.jsonl has already, as they are in the file.

    Raises ReleaseError where they are in another file, or cannot all be read: writing the file again would lose some.
    """
    file = target.folder / PLANTED_FILE
    layout = release_layout(target.folder) if target.is_release else Layout(target.folder, {"planted": [file] * file.is_file()})
    existing = records_to_keep(layout, PLANTED, PLANTED_FILE, max_bytes)
    return {(record["item_id"], record["judge"]): raw for raw, record in existing}


def write_planted(target: PlantedTarget, earlier: dict[Key, Any], judge: str, records: Iterable[Record]) -> int:
    """Write planted.jsonl: the records of other judges, and these in place of all earlier ones of this judge.

    Returns how many records it has. Raises AuditError where the file cannot be written.
    """
    others = [raw for (_, name), raw in earlier.items() if name != judge]
    try:
        target.folder.mkdir(parents=True, exist_ok=True)
        return write_table(target.folder, PLANTED_FILE, "planted", [*others, *records])
    except OSError as error:
        raise AuditError(
            f"{target.folder / PLANTED_FILE} cannot be written ({describe_error(error)}). The file is unchanged. "
            "Run this again where the folder can be written; stored replies are not asked for again."
        ) from error
