"""`audit study backup | restore`: copies of the studies, ratings and accounts."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from annotation.cli.account import terminal_user
from annotation.label_store.access_log import Event, record_event
from annotation.label_store.engine import open_label_store
from annotation.studies.backup import CheckedCopy, back_up, restore
from audit.cli.conventions import FINDINGS, OK, add_json, print_result
from audit.settings import Settings


def backup_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study backup`."""
    parser.epilog = (
        "The copy is consistent while people rate; `cp` of the live file is not. It has everybody's ratings and password hashes, "
        "so only its owner can read it. PostgreSQL: use pg_dump."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a new file; an existing one is never overwritten")
    add_json(parser)


def backup(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study backup FILE`"""
    checked = back_up(settings.studies_url, arguments.file)
    store = open_label_store(settings.studies_url)
    record_event(store, Event.EXPORT, terminal_user(), datetime.now(UTC), f"backup: {arguments.file}")
    store.close()
    return _print_checked(arguments, f"Wrote {arguments.file}", checked)


def restore_backup_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study restore`."""
    parser.epilog = "Stop the dashboard first. Everyone has to sign in again. PostgreSQL: use pg_restore."
    parser.add_argument("file", type=Path, metavar="FILE", help="a backup, of this version or an older one")
    parser.add_argument("--accept-faults", action="store_true", help="restore even if something in it was altered")
    add_json(parser)


def restore_backup(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study restore FILE`"""
    url, now = settings.studies_url, datetime.now(UTC)
    checked, replaced_copy = restore(url, arguments.file, now, accept_faults=arguments.accept_faults, actor=terminal_user())
    previous = f"The database that it replaced is kept as {replaced_copy}." if replaced_copy else "It replaced no database."
    return _print_checked(arguments, f"Restored {arguments.file}. {previous}", checked)


def _print_checked(arguments: argparse.Namespace, done: str, checked: CheckedCopy) -> int:
    contents = f"Studies: {checked.studies:,}. Ratings, revisions included: {checked.ratings:,}."
    integrity = "Some of them were altered after they were written." if checked.faults else "Nothing in them was altered."
    record = {"studies": checked.studies, "ratings": checked.ratings, "faults": list(checked.faults)}
    print_result(arguments, "\n".join([done, *checked.faults, f"{contents} {integrity}"]), record)
    return FINDINGS if checked.faults else OK
