"""`audit account log`: who signed in, failed to, changed an account or took data out."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from annotation.cli.account import terminal_user
from annotation.label_store.access_log import AccessEntry, Event, list_log, prune_log
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.studies.accounts import normal_username
from annotation.studies.people_tables import LOG_TABLE, log_frame
from audit.cli.conventions import OK, add_format, count, note
from audit.exports.table_model import Table
from audit.exports.text_writers import csv_text, markdown_rows
from audit.settings import Settings


def log_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit account log`."""
    parser.add_argument("--account", default="", metavar="NAME", help="only actions by or on this account")
    parser.add_argument("--event", action="append", choices=[str(event) for event in Event], help="only this event; repeatable")
    parser.add_argument("--days", type=count, metavar="N", help="only the last N days")
    parser.add_argument(
        "--prune", action="store_true", help="remove entries older than AUDIT_ACCESS_LOG_DAYS (default: 365) first, and log that"
    )
    add_format(parser)


def log(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account log`"""
    store, now = open_label_store(settings.studies_url), datetime.now(UTC)
    if arguments.prune:
        removed = prune_log(store, now - timedelta(days=settings.access_log_days), terminal_user(), now)
        note(f"{removed:,} entries older than {settings.access_log_days:,} days were removed.")
    print(_formatted(_selected(store, arguments, now), arguments.format).rstrip(), flush=True)
    return OK


def _selected(store: LabelStore, arguments: argparse.Namespace, now: datetime) -> list[AccessEntry]:
    since = now - timedelta(days=arguments.days) if arguments.days else None
    return list_log(store, since=since, events=arguments.event or (), account=normal_username(arguments.account))


def _formatted(entries: list[AccessEntry], form: str) -> str:
    if form == "json":
        return json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=1)
    frame = log_frame(entries)
    return csv_text(frame) if form == "csv" else markdown_rows(Table("", LOG_TABLE.title, frame, LOG_TABLE.columns).for_print())
