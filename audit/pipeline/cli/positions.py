"""`audit positions build`: the positions on every question of a run, from its labels, as a file of the release format."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from audit.cli.conventions import OK, add_json, add_run, print_result
from audit.errors import AuditError
from audit.metrics.question_positions import Position, positions_from_labels, words_of
from audit.queries.lookup import question_list
from audit.release.write import write_jsonl
from audit.settings import Settings
from audit.store.connection import Connection, open_store
from audit.store.runs import find_run

ABOUT = """The file has one position a line: its statement, its value where there is one, and every handbook that holds it, with
its own words. Who speaks of the disputed point and fits no position has one alone. Put the file into the folder of the release as
positions.jsonl, change what is wrong, and load the release again.

Exit code: 0 done, 2 nothing was written."""


def build_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit positions build`."""
    parser.epilog = ABOUT
    add_run(parser)
    parser.add_argument("--out", type=Path, default=Path("positions.jsonl"), metavar="FILE", help="default: positions.jsonl")
    add_json(parser)


def build(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit positions build --run demo --out positions.jsonl`"""
    if arguments.out.exists():
        raise AuditError(f"{arguments.out} exists. Nothing was written. Choose another --out, or move the file away.")
    run = find_run(settings.store_dir, arguments.run)
    with open_store(run.path) as con:
        written = write_jsonl(arguments.out, _records(con))
    message = f"{arguments.out}: {written:,} positions of run {run.key}, from its labels."
    text = f"{message} Put it into the release's folder and load it again."
    print_result(arguments, text, {"out": str(arguments.out), "run": run.key, "positions": written})
    return OK


def _records(con: Connection) -> Iterator[dict[str, Any]]:
    for question_id in question_list(con)["question_id"]:
        found = positions_from_labels(con, question_id)
        if found.unread:
            raise AuditError(f"Question {question_id}: its answers cannot be read, because {found.unread}. Nothing was written.")
        # The format has no "something else": whoever says it takes a position of its own, in its own words
        alone = [Position(found.positions[0].aspect, words_of(holder), None, (holder,)) for holder in found.others]
        for position in (*found.positions, *alone):
            yield {"question_id": question_id, **_record(position)}


def _record(position: Position) -> dict[str, Any]:
    return {name: value for name, value in asdict(position).items() if value not in (None, "")} | {
        "holders": [
            {name: value for name, value in asdict(holder).items() if value not in (None, "")} for holder in position.holders
        ]
    }
