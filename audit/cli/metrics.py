"""`audit metrics`: one metric of a run, or of two runs, as a table; and its definition."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from inspect import Parameter
from pathlib import Path

from audit.cli.conventions import OK, add_format, add_run
from audit.errors import AuditError
from audit.evaluation.retrieval_measures import write_trec_qrels, write_trec_run
from audit.exports.table_model import metric_frame
from audit.exports.text_writers import csv_text, json_text, markdown_text
from audit.metrics import METRICS, Metric
from audit.metrics._systems import systems_of
from audit.metrics.routing import routed_questions
from audit.previews import preview_notice
from audit.queries.lookup import require_one_of
from audit.queries.themes import require_taxonomy, taxonomy_of
from audit.release.write import file_stem
from audit.settings import Settings
from audit.store.connection import Connection, open_store, open_two
from audit.store.runs import Run, find_run
from audit.vocabulary import nearest

ROUTING = "routing"
SWITCH = YES, NO = "yes", "no"
WRITERS: dict[str, Callable[..., str]] = {
    "json": json_text,
    "md": markdown_text,
    "csv": lambda frame, run, name: csv_text(metric_frame(name, frame, run), preview_notice(run.manifest)),
}


def metrics_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit metrics`."""
    parser.add_argument("name", help="name such as labels, organs or handbooks; 'list' prints all names")
    add_run(parser)
    parser.add_argument("--against", metavar="RUN", help="the second run, for a metric that compares two")
    add_format(parser)
    parser.add_argument("--explain", action="store_true", help="print the definition and the SQL instead")
    parser.add_argument(
        "--trec",
        type=Path,
        metavar="DIR",
        help="with routing: also write each system's evidence as SYSTEM.run and the known sections as qrels, the files of TREC",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the metric, such as level=subtopic"
    )


def metrics(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit metrics NAME --run RUN`"""
    if arguments.name == "list":
        print("\n".join(f"{name:<24}{metric.docstring.splitlines()[0]}" for name, metric in METRICS.items()))
        return OK
    metric = _metric(arguments.name)
    if arguments.trec and metric.name != ROUTING:
        raise AuditError(f"--trec works with '{ROUTING}', not with '{metric.name}'. Nothing was computed or written.")
    if arguments.explain:
        print(f"{metric.docstring}\n{metric.sql}")
        return OK
    run = find_run(settings.store_dir, arguments.run)
    with _opened(metric, run, arguments.against, settings) as con:
        frame = metric.function(
            con, **_taxonomies(metric, run, arguments.against, settings), **_metric_options(metric, arguments.set)
        )
        if arguments.trec:
            write_trec_evidence(con, arguments.trec)
    print(WRITERS[arguments.format](frame, run, metric.name).rstrip())
    return OK


def _opened(metric: Metric[...], run: Run, against: str | None, settings: Settings) -> Connection:
    """A connection to the run, and to the other run too for a metric that compares two."""
    if metric.compares != bool(against):
        fault = "compares two runs: name the other with --against RUN" if metric.compares else "takes one run, without --against"
        raise AuditError(f"Metric '{metric.name}' {fault}. Nothing was computed.")
    if not against:
        return open_store(run.path)
    other = find_run(settings.store_dir, against)
    if other.path == run.path:
        raise AuditError(f"Run {run.key} cannot be compared with itself. Nothing was computed. `audit runs` lists the others.")
    return open_two(run.path, other.path)


def _taxonomies(metric: Metric[...], run: Run, against: str | None, settings: Settings) -> dict[str, object]:
    """The taxonomies that a metric by theme takes; the second run may have no themes."""
    if not metric.by_theme:
        return {}
    taxonomies: dict[str, object] = {"taxonomy": require_taxonomy(run, settings.themes_dir)}
    if against:
        taxonomies["against"] = taxonomy_of(find_run(settings.store_dir, against), settings.themes_dir)
    return taxonomies


def _metric(name: str) -> Metric[...]:
    if name not in METRICS:
        hint = nearest(name, tuple(METRICS))
        raise AuditError(f"There is no metric '{name}'.{hint} Nothing was computed. Allowed: {', '.join(METRICS)}.")
    return METRICS[name]


def _metric_options(metric: Metric[...], pairs: list[str]) -> dict[str, object]:
    """The metric's own options from NAME=VALUE texts, with every required one among them."""
    options = dict(text.partition("=")[::2] for text in pairs)
    known = {
        name: default
        for name, default in metric.options.items()
        if default in (Parameter.empty, None) or isinstance(default, str | bool)
    }
    needed = [name for name, default in known.items() if default is Parameter.empty and name not in options]
    unknown = [name for name in options if name not in known]
    if needed or unknown:
        fault = f"needs --set {needed[0]}=VALUE" if needed else f"has no option '{unknown[0]}'"
        raise AuditError(f"Metric '{metric.name}' {fault}. Nothing was computed. Its options: {', '.join(known) or 'none'}.")
    return {name: _switch(name, text) if isinstance(known[name], bool) else text for name, text in options.items()}


def _switch(name: str, text: str) -> bool:
    return require_one_of(text, SWITCH, f"For {name}, the value") == YES


# -- the evidence of a run's systems as TREC files, for the tools that read them -----------------------------


def write_trec_evidence(con: Connection, folder: Path) -> None:
    """Write SYSTEM.run for each system that routed a question, and qrels with the known sections of these questions.

    A query is a question, a document a section, named by its id or with its handbook, as the references name it. Raises OSError.
    """
    ranked: dict[int, dict[str, list[str]]] = defaultdict(dict)
    gold: dict[str, list[str]] = {}
    for ids, one in routed_questions(con):
        ranked[ids["system"]][ids["question_id"]] = [passage for _, passage in one.evidence]
        gold |= {ids["question_id"]: list(one.gold)} if one.gold else {}
    folder.mkdir(parents=True, exist_ok=True)
    write_trec_qrels(folder / "qrels", gold)
    systems = systems_of(con)
    for number, system_id in zip(systems["system"], systems["system_id"], strict=True):
        if number in ranked:
            write_trec_run(folder / f"{file_stem(system_id)}.run", ranked[number], system_id)
