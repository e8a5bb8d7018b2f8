"""`audit account ...`: the accounts of the people who sign in, and the log of changes to them."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from annotation.label_store.access_log import COMMAND_LINE, AccessEntry, Actor, Event, list_log, log_faults, prune_log
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.studies import signing_in
from annotation.studies.accounts import (
    ONE_TIME_PASSWORD_LENGTH,
    ROLES,
    add_account,
    change_password,
    change_role,
    disable_account,
    enable_account,
    list_account_states,
    normal_username,
    reset_password,
    sign_out_everywhere,
)
from annotation.studies.people_tables import LOG_TABLE, log_frame
from audit.cli.conventions import FINDINGS, OK, add_format, add_json, count, note, print_result
from audit.exports.table_model import Table
from audit.exports.text_writers import csv_text, markdown_rows
from audit.settings import Settings


def terminal_user() -> Actor:
    """Who uses the command line, as the operating system knows them."""
    try:
        return Actor(f"{COMMAND_LINE} {getpass.getuser()}")
    except (KeyError, OSError):  # a container may run under a number that has no name
        return Actor(COMMAND_LINE)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit account add`."""
    parser.add_argument("--role", required=True, help=", ".join(ROLES))
    parser.add_argument("--name", default="", help="the person's name (default: the username)")
    parser.add_argument("--no-password", action="store_true", help="the person signs in through the identity provider only")
    password_options(parser)


def add(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account add NAME --role ROLE`"""
    password = None if arguments.no_password else _read_password(arguments)
    store, now = open_label_store(settings.studies_url), datetime.now(UTC)
    account = add_account(store, arguments.username, arguments.role, password, now, name=arguments.name, actor=terminal_user())
    text = f"Account '{account.username}' has the role {account.role}."
    return print_result(arguments, text, {"username": account.username, "role": str(account.role)})


def password_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit account password`, and of `audit account add`."""
    parser.add_argument("username")
    parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
    add_json(parser)


def password(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account password NAME`"""
    store, new_password = open_label_store(settings.studies_url), _read_password(arguments)
    change_password(store, arguments.username, new_password, datetime.now(UTC), terminal_user())
    text = f"Account '{arguments.username}' has a new password, and its sessions have ended."
    return print_result(arguments, text, {"username": arguments.username})


def _read_password(arguments: argparse.Namespace) -> str:
    # A pipe, such as from a secret store, gets no prompt; a password is never an option, which other users could list.
    if arguments.password_stdin or not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass(f"Password for {arguments.username}: ")
    if getpass.getpass("Repeat the password: ") != first:
        raise StudyError("The two passwords differ. Nothing was changed. Run the command again.")
    return first


def list_all_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit account list`."""
    add_json(parser)


def list_all(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account list`"""
    states = list_account_states(open_label_store(settings.studies_url), datetime.now(UTC))
    lines = [f"{state.account.username:<32}{state.account.role:<14}{state.state:<20}{state.account.name}" for state in states]
    records = [
        {
            "username": state.account.username, "role": str(state.account.role), "name": state.account.name, "state": state.state,
            "last_sign_in_at": state.last_sign_in_at, "sessions": state.sessions,
        }
        for state in states
    ]  # fmt: skip
    return print_result(arguments, "\n".join(lines), records)


# -- changing an account -----------------------------------------------------------------------------------------------


def _account_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("username")
    add_json(parser)


disable_options = enable_options = sign_out_options = reset_options = rebind_options = _account_options


def disable(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account disable NAME`"""
    _apply(disable_account, arguments, settings)
    return _report(arguments, "is disabled, and its sessions have ended. Its ratings stay", state="disabled")


def enable(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account enable NAME`"""
    _apply(enable_account, arguments, settings)
    return _report(arguments, "is enabled and can sign in again", state="enabled")


def role_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit account role`."""
    parser.add_argument("username")
    parser.add_argument("role", metavar="ROLE", help=", ".join(ROLES))
    add_json(parser)


def role(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account role NAME ROLE`"""
    store = open_label_store(settings.studies_url)
    change_role(store, arguments.username, arguments.role, datetime.now(UTC), terminal_user())
    return _report(arguments, f"has the role {arguments.role}", role=arguments.role)


def sign_out(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account sign-out NAME`"""
    ended = _apply(sign_out_everywhere, arguments, settings)
    return _report(arguments, "is signed out everywhere", sessions_ended=ended)


def reset(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account reset NAME`"""
    new_password = _apply(reset_password, arguments, settings)
    text = (
        f"has the one-time password {new_password} and its sessions have ended. It is shown only here, can be used for "
        f"{ONE_TIME_PASSWORD_LENGTH.days} days, and has to be changed at the first sign-in"
    )
    return _report(arguments, text, one_time_password=new_password)


def rebind(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account rebind NAME`"""
    _apply(signing_in.rebind, arguments, settings)
    return _report(arguments, "is bound again by the next verified sign-in at the identity provider")


def _apply(
    change: Callable[[LabelStore, str, datetime, Actor], object], arguments: argparse.Namespace, settings: Settings
) -> object:
    return change(open_label_store(settings.studies_url), arguments.username, datetime.now(UTC), terminal_user())


def _report(arguments: argparse.Namespace, text: str, **record: object) -> int:
    username = normal_username(arguments.username)
    return print_result(arguments, f"Account '{username}' {text}.", {"username": username, **record})


# -- `audit account log`: who signed in, failed to, changed an account or took data out ----------------------


def log_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit account log`."""
    parser.add_argument("--account", default="", metavar="NAME", help="only actions by or on this account")
    parser.add_argument("--event", action="append", choices=[str(event) for event in Event], help="only this event; repeatable")
    parser.add_argument("--days", type=count, metavar="N", help="only the last N days")
    parser.add_argument(
        "--prune", action="store_true", help="remove entries older than AUDIT_ACCESS_LOG_DAYS (default: 365) first, and log that"
    )
    parser.add_argument("--verify", action="store_true", help="only say whether an entry was changed or removed by hand")
    add_format(parser)


def log(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account log`"""
    store, now = open_label_store(settings.studies_url), datetime.now(UTC)
    if arguments.verify:
        faults = log_faults(store)
        print("\n".join(faults) or "The access log is as it was written.")
        return FINDINGS if faults else OK
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
