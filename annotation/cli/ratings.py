"""`audit agreement | prevalence`: figures about ratings, from a labels file or from a study."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from annotation.agreement import report_text
from annotation.agreement.baseline_comparison import Comparator, compare_with_baseline
from annotation.agreement.report import agreement_report
from annotation.label_store.engine import open_label_store
from annotation.prevalence.estimates import DISAGREES, ROWS, prevalence, sample_size_plan
from annotation.prevalence.sensitivity import INVERSION, PPI, sensitivity_analyses
from annotation.ratings.design import read_strata
from annotation.ratings.table import GOLD, Ratings, labels_in, read_labels_file, read_ratings
from annotation.studies.baseline_judge import baseline_of_release, baseline_of_study
from annotation.studies.study_tables import repeats_table, study_ratings
from audit.cli.arguments import add_format, note
from audit.cli.execution import OK
from audit.errors import AuditError
from audit.exports.text_writers import csv_text
from audit.formatting import escape_markdown, markdown_table, typed
from audit.judging.baseline import NAME
from audit.settings import Settings

COMPARISON, BASELINE = "beside", "baseline"
TABLES = ("figures", "confusion", "errors", "times", "drift", "oneself", COMPARISON)
"""Names of tables since the first version; scripts pass them, so they stay."""
COLUMNS = """columns of the labels file:
  item_id, annotator_a, annotator_b, judge       required; an empty cell means: not labelled, or no readable verdict
  annotator_c ..., gold                          further annotators; the adjudicated label
  significance_a, ..., judge_significance        low, medium or high
  design_weight, stratum                         pairs in the item's stratum divided by items sampled from it; the stratum's
                                                 name (default: the judge's label)
  seconds_a ..., order_a ...                     how long an item took, and its position in the work (1, 2, ...)
  baseline                                       another judge's labels to compare the judge with (or name a column with
                                                 --against)
  question_id, handbook_a, handbook_b            which pair it is; required for --release"""


def _add_source(parser: argparse.ArgumentParser) -> None:
    """The options of a command about a labels file or a study."""
    parser.epilog = COLUMNS
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--labels", type=Path, metavar="FILE", help="CSV file, one row per item")
    source.add_argument("--study", metavar="ID", help="a study of this installation, with the ratings it has so far")
    parser.add_argument("--strata", type=Path, metavar="FILE", help="CSV file (stratum, pairs): the run's pairs by stratum")
    add_format(parser)


def agreement_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit agreement`."""
    _add_source(parser)
    parser.add_argument("--table", choices=TABLES, default="figures", help="the table that --format csv prints")
    comparator = parser.add_mutually_exclusive_group()
    comparator.add_argument(
        "--against", metavar="COLUMN", help="compare the judge with the labels in this column (default: baseline, if present)"
    )
    comparator.add_argument(
        "--release", type=Path, metavar="PATH",
        help=f"the release that the pairs of --labels come from: compare the judge with the {NAME}, which reads its texts; "
        "--study needs no such option",
    )  # fmt: skip


def agreement(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit agreement --labels FILE [--against COLUMN | --release PATH] | --study ID`"""
    if arguments.study and (arguments.against or arguments.release):
        raise AuditError("--against and --release go with --labels: a study has its own texts. Nothing was computed.")
    ratings, source = _ratings(arguments, settings), _source_name(arguments)
    comparator = _comparator(arguments, settings, ratings)
    other = None if comparator is None else (comparator.name, compare_with_baseline(ratings, comparator))
    if arguments.table == COMPARISON and other is None:
        raise AuditError(
            f"{source}: there are no labels to compare the judge with. Nothing was computed. "
            "Name a column with --against, or a release with --release."
        )
    report = agreement_report(ratings, _repeats(arguments, settings))
    if arguments.format == "json":
        return _print(report_text.as_json(report, source, other))
    if arguments.format == "md":
        return _print(report_text.as_markdown(report, source, other))
    frame: pd.DataFrame = other[1] if other and arguments.table == COMPARISON else report.tables[arguments.table]
    return _print(csv_text(frame.assign(items=frame["items"].map(" ".join)) if "items" in frame else frame))


def _ratings(arguments: argparse.Namespace, settings: Settings) -> Ratings:
    if arguments.labels:
        return read_ratings(arguments.labels, read_strata(arguments.strata) if arguments.strata else None)
    return study_ratings(open_label_store(settings.studies_url), arguments.study)


def _repeats(arguments: argparse.Namespace, settings: Settings) -> pd.DataFrame | None:
    """The ratings of repeated items; a labels file has none."""
    return repeats_table(open_label_store(settings.studies_url), arguments.study) if arguments.study else None


def _source_name(arguments: argparse.Namespace) -> str:
    return str(arguments.labels.name if arguments.labels else f"study {arguments.study}")


def _comparator(arguments: argparse.Namespace, settings: Settings, ratings: Ratings) -> Comparator | None:
    """What the judge is compared with: the baseline judge on the texts at hand, or a column of the labels file."""
    if arguments.study:
        return baseline_of_study(open_label_store(settings.studies_url), arguments.study, ratings.items)
    frame = read_labels_file(arguments.labels)
    if arguments.release:
        return baseline_of_release(frame, arguments.release, settings.max_archive_bytes, settings.max_object_bytes)
    column = arguments.against or (BASELINE if BASELINE in frame else None)
    return Comparator(column, labels_in(frame, column, str(arguments.labels))) if column else None


def _print(table: str) -> int:
    print(table.rstrip(), flush=True)
    return OK


# -- prevalence ----------------------------------------------------------------------------------------------------------


def corrected_prevalence_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit prevalence`."""
    _add_source(parser)
    parser.add_argument("--human", default=GOLD, help=f"whose labels are taken as true: an annotator, or {GOLD} (default)")
    parser.add_argument("--checks", action="store_true", help="add PPI++ (needs ppi-python) and the inverted confusion matrix")
    parser.add_argument(
        "--plan", type=float, metavar="HALF_WIDTH",
        help="print instead how many ratings an interval of this half-width needs, such as 0.02",
    )  # fmt: skip
    parser.add_argument("--label", choices=ROWS, default=DISAGREES, help="the label that --plan is for (default: %(default)s)")


def corrected_prevalence(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit prevalence --labels FILE | --study ID`"""
    ratings = _ratings(arguments, settings)
    if arguments.plan is not None:
        return _print(_formatted(sample_size_plan(ratings, arguments.plan, arguments.label, arguments.human), arguments))
    table = prevalence(ratings, arguments.human)
    tables = [table, *_checks(ratings, arguments.human)] if arguments.checks else [table]
    return _print(_formatted(pd.concat(tables, ignore_index=True), arguments))


def _checks(ratings: Ratings, human: str) -> Iterator[pd.DataFrame]:
    """Both checks; the one that needs an optional package is left out with a message where the package is missing."""
    yield sensitivity_analyses(ratings, human, [INVERSION])
    try:
        yield sensitivity_analyses(ratings, human, [PPI])
    except AuditError as error:
        note(f"audit prevalence: {error}")


def _formatted(frame: pd.DataFrame, arguments: argparse.Namespace) -> str:
    if arguments.format == "csv":
        return csv_text(frame)
    if arguments.format == "json":
        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        record = {"source": _source_name(arguments), "human": arguments.human, "rows": rows}
        return json.dumps(record, ensure_ascii=False, indent=1)
    cells = frame.map(lambda value: typed(value, 4) if isinstance(value, float) else escape_markdown(str(value)))
    return markdown_table(list(frame.columns), cells.replace("nan", "-").to_numpy().tolist())
