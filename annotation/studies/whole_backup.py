"""One archive of what people and models made here and nothing can make again; anybody can verify it, and it never shrinks."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import audit
from annotation.label_store.engine import StudyError, sqlite_path
from annotation.label_store.held import FIRST_ACCOUNT, refuse_less
from annotation.studies.backup import OWNER_ONLY, check_copy, copy_database
from audit.atomic_io import atomic_file, sha256_of
from audit.closed_folder import is_inside
from audit.errors import AuditError
from audit.settings import Settings
from audit.text.corrections import SUFFIX

MANIFEST, STUDIES, JOURNAL = "backup.json", "studies.db", ".journal"
CHUNK = 2**20
TABLES = {
    "accounts": "users", "studies": "studies", "ratings": "ratings", "decisions": "decisions", "edits of themes": "theme_acts",
    "settings": "app_settings",
}  # fmt: skip
"""What the label store holds, by table."""
CORRECTIONS, REPLIES = "corrections", "replies of models"
MAY_SHRINK = {"settings"}
"""What people also take away: a setting that has its default again."""


@dataclass(frozen=True)
class Backup:
    """What an archive holds.

    holds   accounts, studies, ratings and the rest -> how many, counted in the archive itself
    parts   name of each part -> its size in bytes
    faults  what does not agree, one sentence each: a digest, a count, a study or log that was altered
    store   the first account of its label store, which tells two stores apart; "" without one
    """

    holds: Mapping[str, int]
    parts: Mapping[str, int]
    faults: tuple[str, ...]
    store: str = ""


def write_backup(settings: Settings, file: Path) -> Backup:
    """Write label store, files of corrections and journals to the archive `file`, each as of one moment, while people rate.

    Of studies in PostgreSQL only pg_dump makes a copy, so they are not in it.

    Raises StudyError, with nothing replaced, where `file` is there and is no backup, or is one that holds more; AuditError where
    the store has lost accounts or studies, or a part cannot be copied.
    """
    with TemporaryDirectory(dir=file.absolute().parent) as folder:
        parts = dict(_copies(settings, Path(folder)))
        holds = _count(parts)
        if file.exists():
            _refuse_to_shrink(file, holds, _first_account(parts))
        listed = {name: {"sha256": sha256_of(path), "bytes": path.stat().st_size} for name, path in parts.items()}
        manifest = {"made_by": f"audit {audit.__version__}", "holds": holds, "parts": listed}
        with atomic_file(file) as draft:
            draft.touch(OWNER_ONLY)
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1))
                for name, path in parts.items():
                    archive.write(path, name)
    return read_backup(file)


def read_backup(file: Path) -> Backup:
    """What an archive holds, and whether each part is as it was written. Needs nothing but the file.

    Raises StudyError where it is no backup.
    """
    with TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(file) as archive:
                told = json.loads(archive.read(MANIFEST))
                listed, noted = dict(told["parts"]), dict(told["holds"])
                others = sorted(set(archive.namelist()) - {MANIFEST} - listed.keys())
                faults = [f"{name} is in the archive and not in its list." for name in others]
                parts = dict(_unpacked(archive, listed, Path(folder), faults))
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise StudyError(f"{file} is not a backup that can be read ({type(error).__name__}). Nothing was changed.") from None
        holds = _count(parts)
        if not faults and holds != noted:
            faults.append("What it holds is not what was noted when it was written.")
        if STUDIES in parts:
            faults += check_copy(parts[STUDIES]).faults
        return Backup(holds, {name: path.stat().st_size for name, path in parts.items()}, tuple(faults), _first_account(parts))


def _copies(settings: Settings, folder: Path) -> Iterator[tuple[str, Path]]:
    """Name in the archive, as below the data folder, and a copy in `folder`."""
    store = sqlite_path(settings.studies_url)
    if store is not None:
        refuse_less(store)
    sources = {f"sources/{path.relative_to(settings.sources_dir)}": path for path in _plain(settings.sources_dir, f"*{SUFFIX}")}
    journals = {str(path.relative_to(settings.data_dir)): path for path in _plain(settings.data_dir, f"*{JOURNAL}")}
    stores = {STUDIES: store} if store is not None and store.is_file() else {}
    for number, (name, path) in enumerate({**stores, **sources, **journals}.items()):
        copy = folder / str(number)
        if name in sources:
            shutil.copyfile(path, copy)
        else:
            copy_database(path, copy)
        yield name, copy


def _plain(folder: Path, pattern: str) -> list[Path]:
    return [path for path in sorted(folder.rglob(pattern)) if is_inside(path, folder)]


def _unpacked(
    archive: zipfile.ZipFile, listed: Mapping[str, Mapping[str, object]], folder: Path, faults: list[str]
) -> Iterator[tuple[str, Path]]:
    """The parts that are as they were written, under names of ours; `faults` gets a sentence for each other one."""
    for number, (name, told) in enumerate(listed.items()):
        path, left = folder / str(number), int(str(told["bytes"]))
        try:
            with archive.open(name) as packed, path.open("wb") as file:
                while (chunk := packed.read(CHUNK)) and left >= 0:
                    left -= file.write(chunk)
            sound = sha256_of(path) == told["sha256"]
        except (KeyError, zipfile.BadZipFile, OSError, ValueError, EOFError):
            sound = False
        if sound:
            yield name, path
        else:
            faults.append(f"{name} is missing or was changed after it was written: its SHA-256 does not agree.")


def _count(parts: Mapping[str, Path]) -> dict[str, int]:
    """What the parts hold."""
    holds = dict.fromkeys([*(TABLES if STUDIES in parts else ()), CORRECTIONS, REPLIES], 0)
    for name, path in parts.items():
        if name.endswith(SUFFIX):
            holds[CORRECTIONS] += sum(bool(line.strip()) for line in path.read_bytes().splitlines())
        else:
            tables = TABLES if name == STUDIES else {REPLIES: "replies"}
            holds |= {what: holds[what] + _rows(path, table) for what, table in tables.items()}
    return holds


def _rows(path: Path, table: str) -> int:
    there = _first_value(path, f"select 1 from sqlite_master where type = 'table' and name = '{table}'")
    return int(str(_first_value(path, f"select count(*) from {table}"))) if there else 0


def _first_account(parts: Mapping[str, Path]) -> str:
    return str(_first_value(parts[STUDIES], FIRST_ACCOUNT) or "") if STUDIES in parts else ""


def _first_value(path: Path, query: str) -> object:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as con:
            row = con.execute(query).fetchone()
            return row and row[0]
    except sqlite3.DatabaseError as error:
        raise AuditError(f"A part of the backup cannot be counted: {error}. Nothing was replaced.") from None


def _refuse_to_shrink(file: Path, holds: Mapping[str, int], store: str) -> None:
    there = read_backup(file)
    if there.faults:
        raise StudyError(f"{file} is a backup with a fault: {there.faults[0]} Nothing was replaced. Choose another name.")
    if there.store and there.store != store:
        raise StudyError(f"{file} is a backup of another label store. Nothing was replaced. Choose another name.")
    kept = {what: count for what, count in there.holds.items() if what not in MAY_SHRINK}
    less = [f"{count:,} {what} (now {holds.get(what, 0):,})" for what, count in kept.items() if holds.get(what, 0) < count]
    if less:
        raise StudyError(f"{file} holds more than there is now: {', '.join(less)}. Nothing was replaced. Choose another name.")
