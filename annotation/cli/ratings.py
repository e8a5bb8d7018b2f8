"""`audit agreement | prevalence`: figures about ratings, from a labels file or from a study."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.report import AgreementReport, Comparator, agreement_report, compare_with_baseline, report_without_judge
from annotation.agreement.sentences import INTERVALS_IN_WORDS
from annotation.agreement.tables import (
    BASELINE_TABLE,
    BY_LABEL_TABLE,
    DRIFT_TABLE,
    ERRORS_TABLE,
    FIGURE,
    FIGURES_TABLE,
    LABEL_SHARES_TABLE,
    RETEST_TABLE,
    TIMES_TABLE,
    figures_by_scope,
    rater_name,
    with_interval,
)
from annotation.cli.account import terminal_user
from annotation.label_store.engine import open_label_store, store_exists
from annotation.label_store.seals import record_look
from annotation.prevalence.estimates import DISAGREES, METHODS_TABLE, ROWS, prevalence
from annotation.prevalence.planning import PLAN_TABLE, sample_size_plan
from annotation.prevalence.shared_errors import SHARED_ERRORS_TABLE, shared_errors
from annotation.ratings.design import MISSING, read_strata
from annotation.ratings.file_rows import RatingCounts
from annotation.ratings.labels_file import LABELS_FILE_COLUMNS, LabelsFile, read_labels
from annotation.ratings.table import GOLD, JUDGE, Ratings, labels_in, ratings_from
from annotation.schemes import PAIRS
from annotation.studies.earlier_studies import pooled_ratings
from annotation.studies.learnt import left_out_note, refuse_learnt_items
from annotation.studies.study_tables import repeats_table
from annotation.studies.validation_tables import confusion_matrix
from audit.cli.conventions import OK, add_format, note
from audit.errors import AuditError
from audit.exports.table_model import Table, with_population_column
from audit.exports.text_writers import csv_text, markdown_rows
from audit.formatting import escape_markdown
from audit.people_tables import plain_name
from audit.settings import Settings
from audit.tables import TableSpec
from audit.vocabulary import Label

NamedComparison = tuple[str, pd.DataFrame]
"""The name of a baseline, and the table of `compare_with_baseline`."""
ABOUT = {"label": "Label", "significance": "Significance, on the items where all chose one"}
RATER_COLUMNS = ("annotator", "against", "by", "first")
COMPARISON, BASELINE = "beside", "baseline"
TABLES = ("figures", "confusion", "errors", "times", "drift", "oneself", COMPARISON)
"""Names of tables since the first version; scripts pass them, so they stay."""


def _add_source(parser: argparse.ArgumentParser) -> None:
    """The options shared by commands on a labels file or a study."""
    parser.epilog = LABELS_FILE_COLUMNS
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--labels", type=Path, metavar="FILE", help="CSV, TSV or JSON file of labels; its columns are below")
    source.add_argument("--study", metavar="ID", help="a study of this installation, with the ratings it has so far")
    parser.add_argument("--strata", type=Path, metavar="FILE", help="CSV file (stratum, pairs): the run's pairs by stratum")
    add_format(parser)


def agreement_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit agreement`."""
    _add_source(parser)
    parser.add_argument("--table", choices=TABLES, default="figures", help="the table that --format csv prints")
    in_play = (
        f"the labels that can occur, such as {Label.CONSISTENT},{Label.DIVERGENT}: macro F1 is their mean (default: all labels)"
    )
    parser.add_argument("--in-play", default="", metavar="LABEL,LABEL", help=in_play)
    parser.add_argument(
        "--against", metavar="COLUMN", help="compare the judge with the labels in this column (default: baseline, if present)"
    )


def agreement(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit agreement --labels FILE [--against COLUMN] | --study ID`"""
    if arguments.study and arguments.against:
        raise AuditError("--against requires --labels: a study has no such column. Nothing was computed.")
    file = _labels_file(arguments)
    ratings, source = _ratings(arguments, settings, file), _source_name(arguments)
    comparator = _comparator(arguments, ratings, file)
    compared = None if comparator is None else (comparator.name, compare_with_baseline(ratings, comparator))
    if arguments.table == COMPARISON and compared is None:
        raise AuditError(
            f"{source}: there are no labels to compare the judge with. Nothing was computed. "
            "Name a column of a labels file with --against."
        )
    # A file with one row per item cannot have the second rating of a repeat.
    repeats = file.repeats if file else repeats_table(open_label_store(settings.studies_url), arguments.study)
    report = _report(ratings, None if repeats.empty else repeats, arguments.in_play.upper().replace(" ", ""))
    if arguments.format == "json":
        return _print(report_json(report, source, compared, file.counts if file else None))
    if arguments.format == "md":
        return _print(report_markdown(report, source, compared, file.counts if file else None))
    frame: pd.DataFrame = compared[1] if compared and arguments.table == COMPARISON else report.tables[arguments.table]
    listed = frame.assign(items=frame["items"].map(" ".join)) if "items" in frame else frame
    shown = (FIGURES_TABLE.population, ratings.intervals) if any(column.endswith("low") for column in frame.columns) else ("", "")
    return _print(csv_text(with_population_column(listed, *shown)))


def _report(ratings: Ratings, repeats: pd.DataFrame | None, in_play: str) -> AgreementReport:
    # Preferences have no judge, and neither may a file in long format: then only annotators are compared.
    judged = ratings.scheme is PAIRS and bool((ratings.labels[JUDGE] != MISSING).any())
    if not judged:
        return report_without_judge(ratings, repeats)
    return agreement_report(ratings, repeats, [name for name in in_play.split(",") if name])


def _labels_file(arguments: argparse.Namespace) -> LabelsFile | None:
    """The file of --labels; how it was read is said on standard error."""
    if not arguments.labels:
        return None
    file = read_labels(arguments.labels)
    for sentence in file.notes:
        note(sentence)
    return file


def _ratings(arguments: argparse.Namespace, settings: Settings, file: LabelsFile | None) -> Ratings:
    if file is not None:
        if store_exists(settings.studies_url):  # opening it would create it
            refuse_learnt_items(open_label_store(settings.studies_url), map(str, file.frame["item_id"]))
        pairs = read_strata(arguments.strata) if arguments.strata else None
        return ratings_from(file.frame, str(arguments.labels), pairs)
    return _of_studies(settings, [arguments.study])


def _of_studies(settings: Settings, studies: Sequence[str]) -> Ratings:
    """The ratings of a study, or of several together; a look before they are complete enters their ledgers."""
    store = open_label_store(settings.studies_url)
    ratings = pooled_ratings(store, studies)
    if why := left_out_note(store, studies):
        note(why)
    for study_id in studies if ratings.live else ():
        record_look(store, study_id, terminal_user().username, datetime.now(UTC))
    return ratings


def _source_name(arguments: argparse.Namespace) -> str:
    return str(arguments.labels.name if arguments.labels else f"study {arguments.study}")


def _comparator(arguments: argparse.Namespace, ratings: Ratings, file: LabelsFile | None) -> Comparator | None:
    """The comparator of the judge: a column of the labels file."""
    if ratings.scheme is not PAIRS or file is None:
        return None
    frame = file.frame
    column = plain_name(arguments.against) if arguments.against else (BASELINE if BASELINE in frame else None)
    return Comparator(column, labels_in(frame, column, str(arguments.labels))) if column else None


def _print(table: str) -> int:
    print(table.rstrip(), flush=True)
    return OK


# -- the report as text --------------------------------------------------------------------------------------------------


def report_json(
    report: AgreementReport, source: str, baseline: NamedComparison | None = None, file: RatingCounts | None = None
) -> str:
    """An object with source, counts, population (why there are no figures of it, or null) and the tables of the report.

    `file` has the ratings of a labels file, used and left out; it is missing for a study. What is undefined is null, with its
    note in the same row. `other` names the baseline; the comparison with it is in `beside`.
    """
    tables = report.tables | ({} if baseline is None else {COMPARISON: baseline[1]})
    rows = {name: json.loads(table.to_json(orient="records", double_precision=15)) for name, table in tables.items()}
    about: dict[str, object] = {"source": source, "counts": report.counts, "population": report.population or None}
    about |= {"intervals": INTERVALS_IN_WORDS[report.live]} if file is None else {}
    about |= {} if baseline is None else {"other": baseline[0]}
    about |= {} if file is None else {"file": file.as_record()}
    return json.dumps({**about, **rows}, ensure_ascii=False, indent=1)


def report_markdown(
    report: AgreementReport, source: str, baseline: NamedComparison | None = None, file: RatingCounts | None = None
) -> str:
    """The report to read: each comparison with its figures, its confusion matrices and the judge's errors."""
    title, *rest = _sections(report, source, of_study=file is None)
    sections = [title, *(escape_markdown(sentence) for sentence in (file.sentences() if file else ())), *rest]
    if baseline is not None:
        name, comparison = baseline
        sections += [f"## The judge compared with a baseline: {escape_markdown(name)}", _table_text(BASELINE_TABLE, comparison)]
    return "\n\n".join(sections)


def _sections(report: AgreementReport, source: str, *, of_study: bool) -> Iterator[str]:
    yield f"# Agreement in {escape_markdown(source)}"
    yield "; ".join(f"{name}: {number}" for name, number in report.counts.items()) + "."
    if report.population:
        yield f"Figures describe the sample only: {report.population}."
    why = "the labels are ordered" if report.scheme.ordered else "the choices have no order"
    if of_study:
        yield INTERVALS_IN_WORDS[report.live]
    yield f"Intervals are 95 %. The headline is {FIGURE.display(report.scheme.headline)}, because {why}."
    figures = report.figures[report.figures["name"] != "prevalence"]
    for key, own in figures.groupby(["about", "first", "second"], sort=False):
        about, first, second = map(str, key)
        yield f"## {ABOUT[about]}: {_compared(first, second)}"
        yield _figures_text(FIGURES_TABLE, own[own["label"] == ""], "figure")
        if (own["label"] != "").any():
            yield _figures_text(BY_LABEL_TABLE, own[own["label"] != ""], "label", "figure")
        of_pair = report.confusion[["about", "first", "second"]].eq([about, first, second]).all(axis=1)
        for _, cells in report.confusion[of_pair].groupby("scope", sort=False):
            matrix, frame = confusion_matrix(cells)
            yield f"{matrix.title}:"
            yield _table_text(matrix, frame)
        errors = report.errors[report.errors["by"] == first]
        if about == "label" and second == JUDGE and len(errors):
            yield f"The judge's errors by {rater_name(first)}, {errors['n'].sum()} in all:"
            yield _table_text(ERRORS_TABLE, errors.assign(items=errors["items"].map(", ".join)), "right", "judged", "n", "items")
    yield "## How often each label was given"
    yield _figures_text(LABEL_SHARES_TABLE, report.figures[report.figures["name"] == "prevalence"], "first", "label")
    for spec, frame in ((TIMES_TABLE, report.times), (DRIFT_TABLE, report.drift), (RETEST_TABLE, report.retest)):
        if len(frame):
            yield f"## {spec.title}"
            yield _table_text(spec, with_interval(frame))


def _compared(first: str, second: str) -> str:
    if second == JUDGE:
        return f"judge, measured by {rater_name(first)}"
    return f"{rater_name(first)} and {rater_name(second)}" if second else f"{first} together"


def _figures_text(spec: TableSpec, figures: pd.DataFrame, *keys: str) -> str:
    """Figures by scope, with the columns `keys` before them; the run has a column only where there are figures of it."""
    wide = figures_by_scope(figures)
    # Without weights there is no figure of the run, and a column of dashes would suggest that one was lost.
    scopes = [scope for scope in (SAMPLE, POPULATION) if scope in wide]
    return _table_text(spec, wide, *keys, "n", *scopes, "note")


def _table_text(spec: TableSpec, frame: pd.DataFrame, *columns: str) -> str:
    raters = {name: frame[name].map(rater_name) for name in RATER_COLUMNS if name in frame}
    return markdown_rows(Table("", spec.title, frame.assign(**raters), spec.named(*columns)).for_print())


# -- prevalence ----------------------------------------------------------------------------------------------------------


def corrected_prevalence_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit prevalence`."""
    _add_source(parser)
    pool = "pool the ratings of this other study of the same run (with --study); may be repeated"
    parser.add_argument("--pool", action="append", default=[], metavar="ID", help=pool)
    parser.add_argument("--human", default=GOLD, help=f"reference standard: an annotator, or {GOLD} (default)")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--wrong-together",
        action="store_true",
        help="print instead the share of --label if annotators are wrong together on 2, 5 and 10 %% of the items",
    )
    instead.add_argument(
        "--plan",
        type=float,
        metavar="HALF_WIDTH",
        help="print instead how many ratings an interval of this half-width needs, such as 0.02",
    )
    parser.add_argument(
        "--label", choices=ROWS, default=DISAGREES, help="the label of --plan and --wrong-together (default: %(default)s)"
    )


def corrected_prevalence(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit prevalence --labels FILE | --study ID`"""
    ratings = _pooled(arguments, settings)
    if ratings.scheme is not PAIRS:
        raise AuditError(f"{_source_name(arguments)} compares systems, so no label has a prevalence. Nothing was computed.")
    if arguments.plan is not None:
        plan = sample_size_plan(ratings, arguments.plan, arguments.label, arguments.human)
        return _print(_formatted(PLAN_TABLE, plan, arguments, ""))
    if arguments.wrong_together:
        errors = shared_errors(ratings, arguments.label, arguments.human)
        return _print(_formatted(SHARED_ERRORS_TABLE, errors, arguments, ratings.intervals))
    return _print(_formatted(METHODS_TABLE, prevalence(ratings, arguments.human), arguments, ratings.intervals))


def _pooled(arguments: argparse.Namespace, settings: Settings) -> Ratings:
    if not arguments.pool:
        return _ratings(arguments, settings, _labels_file(arguments))
    if not arguments.study:
        raise AuditError("--pool requires --study: a labels file has all its items already. Nothing was computed.")
    return _of_studies(settings, [arguments.study, *arguments.pool])


def _formatted(spec: TableSpec, frame: pd.DataFrame, arguments: argparse.Namespace, kind: str) -> str:
    if arguments.format == "csv":
        return csv_text(with_population_column(frame, spec.population, kind))
    if arguments.format == "json":
        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        record = {"source": _source_name(arguments), "human": arguments.human, "rows": rows}
        return json.dumps(record, ensure_ascii=False, indent=1)
    return _table_text(spec, with_interval(frame))
