"""The entry point of `audit`: finds the command in the table, imports only that command, runs it, and reports errors."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import audit
from audit.cli.conventions import FAILED, OK, add_json, print_result
from audit.commands import COMMANDS, GROUPS, Command
from audit.errors import AuditError, describe_error
from audit.formatting import printable
from audit.settings import Settings
from audit.vocabulary import composed

FULL, REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG), (errno.EACCES, errno.EPERM, errno.EROFS)
UNCHANGED = "Everything that was loaded, stored or completely written before is unchanged."
SHELLS = ("bash", "zsh", "tcsh")
ABOUT_COMPLETION = """To load it in every new shell:
  bash   audit completion bash > ~/.local/share/bash-completion/completions/audit
  zsh    audit completion zsh > DIR/_audit, where DIR is one of the folders in $fpath
  tcsh   audit completion tcsh > ~/.audit.tcsh, and add to ~/.tcshrc: source ~/.audit.tcsh"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 if there are findings to look at, or 2 if nothing was done."""
    words = list(sys.argv[1:] if argv is None else argv)
    return execute("audit", lambda: _run(words))


def _run(words: list[str]) -> int:
    arguments = parse(words)
    code: int = arguments.function(arguments, Settings())
    return code


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command line, with its function as `function`. Raises AuditError for an unknown command."""
    named = _find_command(words)
    # Below a command that is none of GROUPS, such as `judge`, argparse knows both words as one name
    alone = named is not None and " " in named.name and words[0] not in GROUPS
    arguments = parser(named).parse_args([named.name, *words[2:]] if named and alone else words)
    for name, value in vars(arguments).items():
        setattr(arguments, name, _composed(value))
    return arguments


def _composed(value: Any) -> Any:
    """A name, or each of a list, in composed form; a path stays as it is, since file systems tell the forms apart."""
    if isinstance(value, list):
        return [_composed(item) for item in value]
    return composed(value) if isinstance(value, str) and not Path(value).exists() else value


def _find_command(words: Sequence[str]) -> Command | None:
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
    from difflib import get_close_matches  # imported here: it costs 10 ms, and only a mistyped command needs it

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
        group, name = (group, name) if group in GROUPS else ("", command.name)
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


# -- how a command ends ------------------------------------------------------------------------------------------------


def execute(program: str, command: Callable[[], int]) -> int:
    """Run `command` and return its exit code; errors are printed as one message on standard error."""
    try:
        try:
            return command()
        finally:
            _flush()
    except BrokenPipeError:  # `audit ... | head`
        _drop_output()
        return OK
    except KeyboardInterrupt:
        message = f"stopped. {UNCHANGED}"
    except AuditError as error:
        message = str(error)
    except OSError as error:
        _drop_output()
        message = _system_error(error)
    except Exception as error:
        if not _is_of_duckdb(error):
            raise
        reason = str(error).splitlines()[0].rstrip(".")
        message = f"The store cannot be read or written: {reason}. {UNCHANGED} {_remedy(str(error))}"
    print(f"{program}: {printable(message)}", file=sys.stderr)
    return FAILED


def _is_of_duckdb(error: Exception) -> bool:
    # From sys.modules: importing the class for an `except` clause would cost every command DuckDB's import.
    connection = sys.modules.get("audit.store.connection")
    return connection is not None and isinstance(error, connection.DuckDBError)


def _system_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{describe_error(error)}. The command stopped there. {UNCHANGED} {_remedy(str(error))}"


def _remedy(reason: str) -> str:
    if any(os.strerror(number) in reason for number in FULL):
        return "Free some disk space, or name a folder on another disk (AUDIT_DATA_DIR, --out), and run the same command again."
    if any(os.strerror(number) in reason for number in REFUSED):
        return "Name a folder that you may write to (AUDIT_DATA_DIR, --out), and run the same command again."
    return "Correct that, and run the same command again."


def _flush() -> None:
    # A full disk or a closed pipe is then reported here and not when the interpreter exits.
    if sys.stdout is not None:  # None: the process was started with its output closed
        sys.stdout.flush()


def _drop_output() -> None:
    """Discard what cannot be written."""
    try:
        _flush()
    except OSError:
        # Python flushes standard output again at exit and would print a traceback after our sentence.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- `audit completion | help commands` --------------------------------------------------------------------------------


def completion_options(command_parser: argparse.ArgumentParser) -> None:
    """The options of `audit completion`."""
    command_parser.epilog = ABOUT_COMPLETION
    command_parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")


def completion(arguments: argparse.Namespace, _: Settings) -> int:
    """`audit completion SHELL`"""
    import shtab

    print(shtab.complete(parser(complete=True), arguments.shell))
    return OK


def commands_options(command_parser: argparse.ArgumentParser) -> None:
    """The options of `audit help commands`."""
    command_parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    add_json(command_parser)


def commands(arguments: argparse.Namespace, _: Settings) -> int:
    """`audit help commands`"""
    usages = {command.name: _usage(command.name) for command in COMMANDS if command.listed}
    helps = {command.name: command.help for command in COMMANDS}
    records = [{"command": name, "usage": usage, "help": helps[name]} for name, usage in usages.items()]
    if arguments.markdown:
        rows = [f"| `{usage.replace('|', chr(92) + '|')}` | {helps[name]} |" for name, usage in usages.items()]
        text = "\n".join(["| command | |", "|---|---|", *rows])
    else:
        text = "\n".join(f"{usage}\n    {helps[name]}" for name, usage in usages.items())
    return print_result(arguments, text, records)


def _usage(name: str) -> str:
    """The command with its arguments and required options; `--help` of the command lists the others."""
    command_parser = _parser_of(name)
    parts = [f"audit {name}"]
    for action in command_parser._actions:
        words = _argument(action)
        if not action.option_strings:
            parts.insert(1 + sum(not part.startswith("--") for part in parts[1:]), words)
        elif action.required:
            parts.append(f"{action.option_strings[0]} {words}")
    for group in command_parser._mutually_exclusive_groups:
        if group.required:
            choices = (f"{action.option_strings[0]} {_argument(action)}" for action in group._group_actions)
            parts.append("(" + " | ".join(choices) + ")")
    return " ".join(parts)


def _argument(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def _parser_of(name: str) -> argparse.ArgumentParser:
    command = next(command for command in COMMANDS if command.name == name)
    command_parser = argparse.ArgumentParser(prog=f"audit {name}", add_help=False)
    command.load()[1](command_parser)
    return command_parser
