"""`audit pairs`: the pairs that filters select, printed, or with both answers as a file. The filters are those of the page."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from audit.cli.conventions import OK, add_format, add_run, count, print_result
from audit.cli.metrics import WRITERS
from audit.commands import CURATED_THEMES, load_object
from audit.errors import AuditError
from audit.exports.pair_files import FORMATS, write_pairs
from audit.metrics.disagreements import ORDERS, UNSCORED, Filters, disagreements
from audit.metrics.theme import theme_topics
from audit.queries.lookup import filter_values, handbook_list, question_list
from audit.queries.themes import require_taxonomy
from audit.queries.weak_evidence import WEAKNESSES
from audit.settings import Settings
from audit.store.connection import Connection, open_store
from audit.store.runs import Run, find_run
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES, nearest

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
    print_result(arguments, text, {"out": str(arguments.out), "run": run.key, "pairs": written})
    return OK


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
