"""`audit account add | password | list`: the accounts of the people who sign in."""

from __future__ import annotations

import argparse
import getpass
import sys
from datetime import UTC, datetime

from annotation.label_store.engine import StudyError, open_label_store
from annotation.studies.accounts import ROLES, add_account, change_password, list_accounts
from audit.cli.conventions import OK, add_json, print_result
from audit.settings import Settings


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit account add`."""
    parser.add_argument("--role", required=True, help=", ".join(ROLES))
    parser.add_argument("--name", default="", help="the person's name (default: the username)")
    parser.add_argument("--no-password", action="store_true", help="the person signs in through the identity provider only")
    password_options(parser)


def add(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account add NAME --role ROLE`"""
    password = None if arguments.no_password else _read_password(arguments)
    store = open_label_store(settings.studies_url)
    account = add_account(store, arguments.username, arguments.role, password, datetime.now(UTC), name=arguments.name)
    text = f"Account '{account.username}' has the role {account.role}."
    print_result(arguments, text, {"username": account.username, "role": str(account.role)})
    return OK


def password_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit account password`, and of `audit account add`."""
    parser.add_argument("username")
    parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
    add_json(parser)


def password(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit account password NAME`"""
    change_password(open_label_store(settings.studies_url), arguments.username, _read_password(arguments))
    text = f"Account '{arguments.username}' has a new password, and its sessions have ended."
    print_result(arguments, text, {"username": arguments.username})
    return OK


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
    listed = list_accounts(open_label_store(settings.studies_url))
    text = "\n".join(f"{account.username:<32}{account.role:<14}{account.name}" for account in listed)
    records = [{"username": account.username, "role": str(account.role), "name": account.name} for account in listed]
    print_result(arguments, text, records)
    return OK
