"""`audit backup write | verify`: one archive of what nothing can make again."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from annotation.cli.account import terminal_user
from annotation.label_store.access_log import Event, record_event
from annotation.label_store.engine import open_label_store, sqlite_path
from annotation.studies.whole_backup import STUDIES, Backup, read_backup, write_backup
from audit.cli.conventions import FINDINGS, OK, add_json, print_result
from audit.settings import Settings


def write_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit backup write`."""
    parser.epilog = (
        "It holds the label store with the settings that PIs made, files of corrections, and journals of models' replies. "
        "A backup that is there is replaced where the new one holds as much or more. It has everybody's ratings and password "
        "hashes, so only its owner can read it. Studies in PostgreSQL are not in it: use pg_dump."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a new file, or an earlier backup")
    add_json(parser)


def write(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit backup write FILE`"""
    backup = write_backup(settings, arguments.file)
    if sqlite_path(settings.studies_url) is None or STUDIES in backup.parts:
        store = open_label_store(settings.studies_url)
        record_event(store, Event.EXPORT, terminal_user(), datetime.now(UTC), f"backup: {arguments.file}")
        store.close()
    return _print(arguments, f"Wrote {arguments.file}", backup)


def verify_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit backup verify`."""
    parser.epilog = "Needs nothing but the file: no data folder, no account, no settings."
    parser.add_argument("file", type=Path, metavar="FILE", help="a backup")
    add_json(parser)


def verify(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit backup verify FILE`"""
    return _print(arguments, f"{arguments.file} is a backup that can be read.", read_backup(arguments.file))


def _print(arguments: argparse.Namespace, done: str, backup: Backup) -> int:
    parts = [f"{name}: {size:,} bytes, its SHA-256 agrees." for name, size in backup.parts.items()]
    holds = f"It holds {', '.join(f'{what} {count:,}' for what, count in backup.holds.items())}."
    without = [] if STUDIES in backup.parts else ["It has no studies and no accounts: they are in PostgreSQL, or there are none."]
    print_result(arguments, "\n".join([done, *parts, *backup.faults, holds, *without]), asdict(backup))
    return FINDINGS if backup.faults else OK
