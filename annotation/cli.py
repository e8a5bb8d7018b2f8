"""The command line: `annotation agreement | prevalence`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import audit
from annotation.agreement import text
from annotation.agreement.report import agreement_report
from annotation.design import read_strata
from annotation.planner import plan
from annotation.prevalence import DISAGREES, ROWS, prevalence
from annotation.prevalence_checks import checks
from annotation.ratings import GOLD, Ratings, read_ratings
from audit.errors import AuditError
from audit.exports.tables import csv_text

OK, FAILED = 0, 2
COLUMNS = """columns of the labels file:
  item_id, annotator_a, annotator_b, judge       needed; an empty cell means: not labelled, or no readable verdict
  annotator_c ..., gold                          further annotators; the adjudicated label
  significance_a, ..., judge_significance        low, medium or high
  design_weight, stratum                         pairs in the item's stratum over items sampled from it; the stratum's name
                                                 (default: the judge's label)
  seconds_a ..., order_a ...                     how long an item took, and when its turn was (1, 2, ...)"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, or 2 when nothing was done."""
    arguments = parser().parse_args(argv)
    try:
        print(arguments.command(arguments).rstrip(), flush=True)
    except AuditError as error:
        print(f"annotation: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # `annotation ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def parser() -> argparse.ArgumentParser:
    """The commands, their options and their help."""
    top = argparse.ArgumentParser(prog="annotation", description="What people say of a sample of pairs.")
    top.add_argument("--version", action="version", version=audit.__version__)
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _agreement(commands)
    _prevalence(commands)
    return top


def _add(commands: Any, name: str, words: str) -> argparse.ArgumentParser:
    """A command on a labels file."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=words, description=words, epilog=COLUMNS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("--labels", type=Path, required=True, metavar="FILE", help="CSV file, one row per item")
    command.add_argument("--strata", type=Path, metavar="FILE", help="CSV file (stratum, pairs): how many pairs the run holds")
    command.add_argument("--format", choices=("json", "csv", "md"), default="md")
    return command


def _agreement(commands: Any) -> None:
    command = _add(commands, "agreement", "How far annotators agree with each other and with the judge.")
    command.add_argument(
        "--table",
        choices=("figures", "confusion", "errors", "times", "drift"),
        default="figures",
        help="which table --format csv prints",
    )
    command.set_defaults(command=agreement)


def _prevalence(commands: Any) -> None:
    command = _add(commands, "prevalence", "How common each label is in the whole run, the judge's errors taken out.")
    command.add_argument("--human", default=GOLD, help=f"whose labels are believed: an annotator, or {GOLD} (default)")
    command.add_argument("--checks", action="store_true", help="add PPI++ and the inverted confusion matrix (needs ppi-python)")
    command.add_argument("--plan", type=float, metavar="HALF_WIDTH", help="how many ratings reach this, such as 0.02, instead")
    command.add_argument("--label", choices=ROWS, default=DISAGREES, help=f"what --plan is for (default: {DISAGREES})")
    command.set_defaults(command=corrected)


def _ratings(arguments: argparse.Namespace) -> Ratings:
    return read_ratings(arguments.labels, read_strata(arguments.strata) if arguments.strata else None)


def agreement(arguments: argparse.Namespace) -> str:
    """`annotation agreement --labels FILE`"""
    report, source = agreement_report(_ratings(arguments)), arguments.labels.name
    if arguments.format == "json":
        return text.as_json(report, source)
    if arguments.format == "md":
        return text.as_markdown(report, source)
    frame: pd.DataFrame = getattr(report, arguments.table)
    return csv_text(frame.assign(items=frame["items"].map(" ".join)) if "items" in frame else frame)


def corrected(arguments: argparse.Namespace) -> str:
    """`annotation prevalence --labels FILE`"""
    ratings = _ratings(arguments)
    if arguments.plan is not None:
        return _written(plan(ratings, arguments.plan, arguments.label, arguments.human), arguments)
    table = prevalence(ratings, arguments.human)
    both = [table, checks(ratings, arguments.human)] if arguments.checks else [table]
    return _written(pd.concat(both, ignore_index=True), arguments)


def _written(frame: pd.DataFrame, arguments: argparse.Namespace) -> str:
    if arguments.format == "csv":
        return csv_text(frame)
    if arguments.format == "json":
        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        return json.dumps({"source": arguments.labels.name, "human": arguments.human, "rows": rows}, ensure_ascii=False, indent=1)
    cells = frame.map(lambda value: f"{value:.4f}" if isinstance(value, float) else text.plain(str(value)))
    return text.table(list(frame.columns), cells.replace("nan", "-").to_numpy().tolist())
