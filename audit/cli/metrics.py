"""`audit metrics`: one metric of a run, or of two runs, as a table; and its definition."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from inspect import Parameter
from pathlib import Path

from audit.cli.conventions import OK, add_format, add_run, count, print_result
from audit.commands import CURATED_THEMES, load_object
from audit.errors import AuditError
from audit.evaluation.retrieval_measures import write_trec_qrels, write_trec_run
from audit.exports.pair_files import FORMATS, write_pairs
from audit.exports.table_model import metric_frame
from audit.exports.text_writers import csv_text, json_text, markdown_text
from audit.metrics import METRICS, Metric
from audit.metrics._systems import systems_of
from audit.metrics.disagreements import ORDERS, UNSCORED, Filters, disagreements
from audit.metrics.routing import routed_questions
from audit.metrics.theme import theme_topics
from audit.previews import preview_notice
from audit.queries.lookup import filter_values, handbook_list, question_list, require_one_of
from audit.queries.themes import require_taxonomy, taxonomy_of
from audit.queries.weak_evidence import WEAKNESSES
from audit.release.write import file_stem
from audit.settings import Settings
from audit.store.connection import Connection, open_store, open_two
from audit.store.runs import Run, find_run
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES, nearest

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
        longest = max(map(len, METRICS)) + 2
        print("\n".join(f"{name:<{longest}}{metric.docstring.splitlines()[0]}" for name, metric in METRICS.items()))
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


# -- `audit pairs` -------------------------------------------------------------------------------------------


ABOUT = """One value of --handbook, --center or --phase: of either handbook of a pair; several: of both. Every word must occur in
the question, an answer, the judge's reasoning or the divergence topic. Without a filter: the divergent and contradictory pairs.

Exit code: 0 done (also where no pair matches), 2 nothing was written: a filter names what the run does not have."""
ANY = "any"
OPTIONS = {
    "label": ("labels", f"label of the pair, {UNSCORED} or '{ANY}' (default: divergent and contradictory)"),
    "significance": ("significances", "clinical significance: low, medium, high"),
    "organ": ("organs", "organ of the question"),
    "topic": ("topics", "topic of the question"),
    "subtopic": ("subtopics", "subtopic of the question"),
    "question": ("questions", "id of the question"),
    "handbook": ("handbooks", "id of a handbook"),
    "center": ("centers", "center of a handbook"),
    "phase": ("phases", "phase of a handbook"),
    "evidence": ("evidence", f"an answer rests on weak evidence: {', '.join(WEAKNESSES)}"),
    "difference": ("differences", "why the advice differs, as the judge says"),
    "follow": ("follow_both", "whether one patient can follow both, as the judge says: yes, no, unclear"),
    "quotes": ("quotes", "'unsupported': the verdict rests on words that do not stand in the answers"),
    "second": ("second", "what a second judge says: confirmed, another label, unscored"),
}
"""Option -> field of `Filters` and help; each may be repeated. The page's address has the same names."""


def pairs_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit pairs`."""
    parser.epilog = ABOUT
    add_run(parser)
    for name, (_, help_text) in OPTIONS.items():
        parser.add_argument(f"--{name}", action="append", default=[], metavar=name.upper(), help=help_text)
    parser.add_argument("--words", default="", help="words that must all occur")
    parser.add_argument("--theme", metavar="ID", help="id of a theme, as `audit metrics themes --json` prints it")
    parser.add_argument("--order", choices=tuple(ORDERS), default="significance", help="sort order (default: significance)")
    parser.add_argument("--limit", type=count, default=30, metavar="N", help="how many pairs are printed (default: 30)")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"write every match with both answers instead: {', '.join(FORMATS)}"
    )
    add_format(parser)


def pairs(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit pairs --organ kidney --significance high --out pairs.csv`"""
    run = find_run(settings.store_dir, arguments.run)
    with open_store(run.path) as con:
        filters = _filters(con, run, arguments, settings)
        if arguments.out is None:
            table = disagreements(con, filters, arguments.limit, 0, arguments.order)
            print(WRITERS[arguments.format](table, run, "disagreements").rstrip())
            return OK
    written = write_pairs(run, filters, arguments.out, arguments.order)
    text = f"{arguments.out}: {written:,} pairs of run {run.key} with both answers."
    arguments.json = arguments.format == "json"
    return print_result(arguments, text, {"out": str(arguments.out), "run": run.key, "pairs": written})


def _filters(con: Connection, run: Run, arguments: argparse.Namespace, settings: Settings) -> Filters:
    """The filters set by the options. Raises AuditError for values that the run does not have."""
    chosen = {field: tuple(getattr(arguments, name)) for name, (field, _) in OPTIONS.items()}
    chosen["labels"] = _labels(chosen["labels"])
    _require_known(con, run, chosen)
    filters = replace(Filters(**chosen), words=tuple(arguments.words.split()))
    if arguments.theme is None:
        return filters
    taxonomy = require_taxonomy(run, settings.themes_dir)
    curation = load_object(CURATED_THEMES)(run, taxonomy, settings)
    named = theme_topics(con, curation.taxonomy if curation else taxonomy, arguments.theme)
    return replace(filters, divergence_topics=tuple(named["topic"]))


def _labels(named: tuple[str, ...]) -> tuple[str, ...]:
    if not named:
        return tuple(label.value for label in DISAGREEING)
    return () if ANY in named else tuple(label.upper() for label in named)


def _require_known(con: Connection, run: Run, chosen: dict[str, tuple[str, ...]]) -> None:
    """Raise AuditError, naming the option, for a value that the run does not have: an empty result would look like a finding."""
    values = filter_values(con)
    known = {field: values.get(name) for name, (field, _) in OPTIONS.items()} | {
        "labels": [*map(str, LABELS), UNSCORED],
        "significances": list(map(str, SIGNIFICANCES)),
        "evidence": list(WEAKNESSES),
        "handbooks": handbook_list(con)["handbook_id"].tolist(),
        "questions": question_list(con)["question_id"].tolist(),
    }
    for name, (field, _) in OPTIONS.items():
        allowed = known[field] or []
        for value in chosen[field]:
            if value not in allowed:
                hint = nearest(value, tuple(allowed)) or f" Allowed: {', '.join(allowed[:20])}."
                raise AuditError(f"Run {run.key} has no {name} '{value}'.{hint} Nothing was selected.")
