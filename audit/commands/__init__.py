"""The larger commands of `audit`, one module each; `audit.cli` puts them together."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from audit.settings import Settings

OK, FINDINGS, FAILED = 0, 1, 2
Run = Callable[[argparse.Namespace, Settings], int]


def add_command(commands: Any, name: str, run: Run, words: str, epilog: str = "") -> argparse.ArgumentParser:
    """Add the command `name`, which `run` carries out, and return its parser for the options."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=words, description=words, epilog=epilog)
    command.set_defaults(command=run)
    return command
