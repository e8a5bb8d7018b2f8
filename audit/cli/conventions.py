"""Conventions of all commands: exit codes, types of option values with their bounds, `--json`, printing of results."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from audit.formatting import printable
from audit.settings import MAX_PORT

OK, FINDINGS, FAILED = 0, 1, 2
"""Exit codes: success; done, but with findings to look at; nothing, or not everything, was done."""
MAX_COUNT = 1_000_000_000


def count(text: str) -> int:
    """An integer of at least 1."""
    return _integer(text, 1)


def count_or_zero(text: str) -> int:
    """An integer of at least 0."""
    return _integer(text, 0)


def port(text: str) -> int:
    """A port that a server can listen on."""
    return _integer(text, 1, MAX_PORT, f"must be a port from 1 to {MAX_PORT}")


def share(text: str) -> float:
    """A number from 0 to 1."""
    return _decimal(text, 1)


def not_negative(text: str) -> float:
    """A number of at least 0."""
    return _decimal(text, MAX_COUNT, "must be a number of at least 0")


def cosine(text: str) -> float:
    """A cosine similarity above 0."""
    similarity = _decimal(text, 1, "must be a cosine similarity above 0 and at most 1")
    if similarity == 0:
        raise argparse.ArgumentTypeError(f"must be a cosine similarity above 0 and at most 1, not {text}")
    return similarity


def distance(text: str) -> float:
    """A cosine distance."""
    return _decimal(text, 2, "must be a cosine distance from 0 to 2")


def temperature(text: str) -> float:
    """A temperature of a language model."""
    return _decimal(text, 2, "must be a temperature from 0 to 2")


def _integer(text: str, smallest: int, largest: int = MAX_COUNT, rule: str = "") -> int:
    # isascii: str.isdigit also accepts superscripts and digits of other scripts
    if not (text.isascii() and text.isdigit() and smallest <= int(text) <= largest):
        raise argparse.ArgumentTypeError(f"{rule or f'must be an integer of at least {smallest}'}, not {text}")
    return int(text)


def _decimal(text: str, largest: float, rule: str = "") -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= largest:  # false for nan too
        raise argparse.ArgumentTypeError(f"{rule or f'must be a number from 0 to {largest:g}'}, not {text}")
    return number


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`, with the same meaning for every command."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add `--run`, with the same meaning for every command."""
    parser.add_argument("--run", metavar="RUN", help="run id or key (default: the newest complete run)")


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add `--format` for a command that prints a table, and `--json` as its short form."""
    parser.add_argument("--format", choices=("json", "csv", "md"), default="md", help="how the table is printed (default: md)")
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="the same as --format json")


def print_result(arguments: argparse.Namespace, text: str, result: Mapping[str, Any] | Sequence[Any]) -> int:
    """Print `result` as JSON where `--json` asks for it, else `text`; the exit code of a command that succeeded."""
    if arguments.json:
        print(json.dumps(result, indent=1, ensure_ascii=False, default=str))
    elif text:
        # flush: `audit demo` goes on as the dashboard by an exec, which would lose what is still in the buffer
        print(printable(text).rstrip(), flush=True)
    return OK


def print_before_result(arguments: argparse.Namespace, text: str) -> None:
    """Print text that is not part of the JSON form of the result; with `--json` it goes to standard error."""
    print(printable(text), file=sys.stderr if arguments.json else sys.stdout)


def note(message: str) -> None:
    """Print a note on standard error, so it never mixes with the result that a program reads."""
    print(printable(message), file=sys.stderr)
