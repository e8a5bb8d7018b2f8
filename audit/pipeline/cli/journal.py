"""`audit journal recover`: what can still be read of a damaged journal."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.cli.conventions import add_json, print_result
from audit.pipeline.llm.journal_recovery import recover_journal
from audit.settings import Settings


def recover_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit journal recover`."""
    parser.epilog = (
        "Then give the new file the damaged one's name, and run the command that wrote it again: it asks only the rest."
    )
    parser.add_argument("damaged", type=Path, metavar="DAMAGED", help="the journal; it stays as it is")
    parser.add_argument("saved", type=Path, metavar="NEW", help="a new file; an existing one is never overwritten")
    add_json(parser)


def recover(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit journal recover DAMAGED NEW`"""
    count = recover_journal(arguments.damaged, arguments.saved)
    return print_result(arguments, f"Wrote {arguments.saved}: {count:,} replies.", {"replies": count})
