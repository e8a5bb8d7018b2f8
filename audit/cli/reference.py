"""`audit completion | help commands`: what is generated from the table of commands and their options."""

from __future__ import annotations

import argparse

from audit.cli.arguments import add_json, print_result
from audit.cli.commands import COMMANDS
from audit.cli.execution import OK
from audit.cli.main import parser
from audit.settings import Settings

SHELLS = ("bash", "zsh", "tcsh")
ABOUT_COMPLETION = """To load it in every new shell:
  bash   audit completion bash > ~/.local/share/bash-completion/completions/audit
  zsh    audit completion zsh > DIR/_audit, where DIR is one of the folders in $fpath
  tcsh   audit completion tcsh > ~/.audit.tcsh, and add to ~/.tcshrc: source ~/.audit.tcsh"""


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
    print_result(arguments, text, records)
    return OK


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
