"""The entry point of `audit`: finds the command in the table, imports it alone, and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import audit
from audit.cli.commands import COMMANDS, GROUPS, Command
from audit.cli.execution import execute
from audit.errors import AuditError
from audit.settings import Settings


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 when there is something to look at, or 2 when nothing was done."""
    words = list(sys.argv[1:] if argv is None else argv)
    return execute("audit", lambda: _run(words))


def _run(words: list[str]) -> int:
    arguments = parse(words)
    code: int = arguments.function(arguments, Settings())
    return code


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command line, with its function as `function`. Raises AuditError for an unknown command."""
    return parser(_named(words)).parse_args(words)


def _named(words: Sequence[str]) -> Command | None:
    """The command that the words begin with; None where help or the version is asked for."""
    by_name = {command.name: command for command in COMMANDS}
    names = [word for word in words[:2] if not word.startswith("-")]
    for name in (" ".join(names), names[0] if names else ""):
        if name in by_name:
            return by_name[name]
    if names and names[0] not in GROUPS:
        raise AuditError(_unknown(names[0], {name.partition(" ")[0] for name in by_name}, "audit --help"))
    if len(names) == 2:
        group = {name.partition(" ")[2] for name in by_name if name.startswith(f"{names[0]} ")}
        raise AuditError(_unknown(names[1], group, f"audit {names[0]} --help", f"{names[0]} "))
    return None


def _unknown(word: str, allowed: set[str], lister: str, group: str = "") -> str:
    from difflib import get_close_matches  # costs 10 ms, and only a mistake needs it

    close = get_close_matches(word, sorted(allowed), 1)
    hint = f" Did you mean 'audit {group}{close[0]}'?" if close else ""
    return f"'audit {group}{word}' is not a command.{hint} Nothing was done. `{lister}` lists the commands."


def parser(named: Command | None = None, *, complete: bool = False) -> argparse.ArgumentParser:
    """The commands with their help; options only for the command `named`, or for every one with `complete`."""
    top = argparse.ArgumentParser(
        prog="audit",
        description="See where institutions' handbooks disagree.",
        epilog=f"Settings, each an environment variable.\n\n{Settings.__doc__}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=audit.__version__)
    commands = _subparsers(top)
    groups: dict[str, Any] = {}
    # Only the named command is imported: help and mistakes must not wait for pandas and DuckDB.
    for command in (command for command in COMMANDS if command.listed or command == named):
        group, _, name = command.name.rpartition(" ")
        if group and group not in groups:
            groups[group] = _subparsers(commands.add_parser(group, help=GROUPS[group], description=GROUPS[group]))
        _add(groups[group] if group else commands, command, name, options=complete or command == named)
    return top


def _subparsers(parent: argparse.ArgumentParser) -> Any:
    return parent.add_subparsers(title="commands", required=True, metavar="COMMAND")


def _add(commands: Any, command: Command, name: str, *, options: bool) -> None:
    command_parser = commands.add_parser(
        name, help=command.help, description=command.help, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if options:
        function, add_options = command.load()
        command_parser.set_defaults(function=function, prog=command_parser.prog)
        add_options(command_parser)
