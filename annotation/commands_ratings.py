"""Commands about ratings: `annotation agreement | prevalence`, on a labels file or on a study.

`register` adds them to a command line; each is a function (arguments, settings) -> exit code, and faults are AuditErrors.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.agreement import report_text
from annotation.agreement.baseline_comparison import Comparator, compare_with_baseline
from annotation.agreement.report import agreement_report
from annotation.label_store.engine import open_label_store
from annotation.prevalence.estimates import DISAGREES, ROWS, prevalence
from annotation.prevalence.sample_size import sample_size_plan
from annotation.prevalence.sensitivity import INVERSION, PPI, sensitivity_analyses
from annotation.ratings.design import read_strata
from annotation.ratings.table import GOLD, Ratings, labels_in, read_labels_file, read_ratings
from annotation.studies.baseline_judge import baseline_of_release, baseline_of_study
from annotation.studies.study_tables import repeats_table, study_ratings
from audit.errors import AuditError
from audit.exports.tables import csv_text
from audit.judging.baseline import NAME
from audit.markdown import markdown_table, plain
from audit.number_format import typed
from audit.settings import Settings

OK = 0
BESIDE, BASELINE = "beside", "baseline"
COLUMNS = """columns of the labels file:
  item_id, annotator_a, annotator_b, judge       needed; an empty cell means: not labelled, or no readable verdict
  annotator_c ..., gold                          further annotators; the adjudicated label
  significance_a, ..., judge_significance        low, medium or high
  design_weight, stratum                         pairs in the item's stratum over items sampled from it; the stratum's name
                                                 (default: the judge's label)
  seconds_a ..., order_a ...                     how long an item took, and when its turn was (1, 2, ...)
  baseline                                       another judge's labels, set beside the judge's (or name a column by --against)
  question_id, handbook_a, handbook_b            which pair it is; needed with --release"""


def register(commands: Any) -> None:
    """Add the commands to `commands`, the sub-parsers of a command line."""
    _agreement(commands)
    _prevalence(commands)


def _add(commands: Any, name: str, words: str) -> argparse.ArgumentParser:
    """A command on a labels file or a study."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=words, description=words, epilog=COLUMNS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("--labels", type=Path, metavar="FILE", help="CSV file, one row per item")
    source.add_argument("--study", metavar="ID", help="a study of this installation, as far as it is rated")
    command.add_argument("--strata", type=Path, metavar="FILE", help="CSV file (stratum, pairs): how many pairs the run holds")
    command.add_argument("--format", choices=("json", "csv", "md"), default="md")
    return command


def _agreement(commands: Any) -> None:
    command = _add(commands, "agreement", "How far annotators agree with each other and with the judge.")
    command.add_argument(
        "--table",
        choices=("figures", "confusion", "errors", "times", "drift", "oneself", BESIDE),
        default="figures",
        help="which table --format csv prints",
    )
    other = command.add_mutually_exclusive_group()
    other.add_argument(
        "--against", metavar="COLUMN", help="set the judge beside this column's labels (default: baseline, if any)"
    )
    other.add_argument(
        "--release",
        type=Path,
        metavar="PATH",
        help=f"the release the pairs of --labels were drawn from: set the judge beside the {NAME}, which reads its texts; "
        "with --study this needs no option",
    )
    command.set_defaults(command=agreement)


def _prevalence(commands: Any) -> None:
    command = _add(commands, "prevalence", "How common each label is in the whole run, the judge's errors taken out.")
    command.add_argument("--human", default=GOLD, help=f"whose labels are believed: an annotator, or {GOLD} (default)")
    command.add_argument("--checks", action="store_true", help="add PPI++ and the inverted confusion matrix (needs ppi-python)")
    command.add_argument("--plan", type=float, metavar="HALF_WIDTH", help="how many ratings reach this, such as 0.02, instead")
    command.add_argument("--label", choices=ROWS, default=DISAGREES, help=f"what --plan is for (default: {DISAGREES})")
    command.set_defaults(command=corrected)


def _ratings(arguments: argparse.Namespace, settings: Settings) -> Ratings:
    if arguments.labels:
        return read_ratings(arguments.labels, read_strata(arguments.strata) if arguments.strata else None)
    return study_ratings(open_label_store(settings.studies_url), arguments.study)


def _repeats(arguments: argparse.Namespace, settings: Settings) -> pd.DataFrame | None:
    """What annotators said of silent repeats; a labels file has none."""
    return repeats_table(open_label_store(settings.studies_url), arguments.study) if arguments.study else None


def _source(arguments: argparse.Namespace) -> str:
    return str(arguments.labels.name if arguments.labels else f"study {arguments.study}")


def _print(text: str) -> int:
    print(text.rstrip(), flush=True)
    return OK


def _rival(arguments: argparse.Namespace, settings: Settings, ratings: Ratings) -> Comparator | None:
    """Who stands beside the judge: the baseline judge on the texts at hand, or a column of the labels file."""
    if arguments.study:
        return baseline_of_study(open_label_store(settings.studies_url), arguments.study, ratings.items)
    frame = read_labels_file(arguments.labels)
    if arguments.release:
        return baseline_of_release(frame, arguments.release, settings.max_archive_bytes, settings.max_object_bytes)
    column = arguments.against or (BASELINE if BASELINE in frame else None)
    return Comparator(column, labels_in(frame, column, str(arguments.labels))) if column else None


def agreement(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation agreement --labels FILE [--against COLUMN | --release PATH] | --study ID`"""
    if arguments.study and (arguments.against or arguments.release):
        raise AuditError("--against and --release go with --labels: a study has its own texts. Nothing was computed.")
    ratings, source = _ratings(arguments, settings), _source(arguments)
    rival = _rival(arguments, settings, ratings)
    other = None if rival is None else (rival.name, compare_with_baseline(ratings, rival))
    if arguments.table == BESIDE and other is None:
        raise AuditError(f"{source}: nobody stands beside the judge. Name a column by --against, or give --release.")
    report = agreement_report(ratings, _repeats(arguments, settings))
    if arguments.format == "json":
        return _print(report_text.as_json(report, source, other))
    if arguments.format == "md":
        return _print(report_text.as_markdown(report, source, other))
    frame: pd.DataFrame = other[1] if other and arguments.table == BESIDE else report.tables[arguments.table]
    return _print(csv_text(frame.assign(items=frame["items"].map(" ".join)) if "items" in frame else frame))


def corrected(arguments: argparse.Namespace, settings: Settings) -> int:
    """`annotation prevalence --labels FILE | --study ID`"""
    ratings = _ratings(arguments, settings)
    if arguments.plan is not None:
        return _print(_written(sample_size_plan(ratings, arguments.plan, arguments.label, arguments.human), arguments))
    table = prevalence(ratings, arguments.human)
    both = [table, *_checks(ratings, arguments.human)] if arguments.checks else [table]
    return _print(_written(pd.concat(both, ignore_index=True), arguments))


def _checks(ratings: Ratings, human: str) -> Iterator[pd.DataFrame]:
    """Both checks; the one that needs an optional package is left out, with a word on standard error, where it is missing."""
    yield sensitivity_analyses(ratings, human, [INVERSION])
    try:
        yield sensitivity_analyses(ratings, human, [PPI])
    except AuditError as error:
        print(f"annotation: {error}", file=sys.stderr)


def _written(frame: pd.DataFrame, arguments: argparse.Namespace) -> str:
    if arguments.format == "csv":
        return csv_text(frame)
    if arguments.format == "json":
        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        return json.dumps({"source": _source(arguments), "human": arguments.human, "rows": rows}, ensure_ascii=False, indent=1)
    cells = frame.map(lambda value: typed(value, 4) if isinstance(value, float) else plain(str(value)))
    return markdown_table(list(frame.columns), cells.replace("nan", "-").to_numpy().tolist())
