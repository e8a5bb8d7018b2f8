"""The commands of `annotation`, on ratings, on studies and accounts, on the judge, on themes, and for exports."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import audit
from annotation import commands_export, commands_judge, commands_ratings, commands_study, commands_themes
from audit.cli.command import answer


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 when a check found faults, or 2 when nothing was done."""
    return answer(parser(), argv)


def parser() -> argparse.ArgumentParser:
    """The commands, their options and their help."""
    top = argparse.ArgumentParser(prog="annotation", description="Blinded studies, and what people say of a sample of pairs.")
    top.add_argument("--version", action="version", version=audit.__version__)
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    commands_ratings.register(commands)
    commands_study.register(commands)
    commands_judge.register(commands)
    commands_themes.register(commands)
    commands_export.register(commands)
    return top
