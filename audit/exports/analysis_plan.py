"""The analysis plan of a package, for the supplement of a paper: what each figure estimates, of which population, and how."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import pandas as pd

import audit
from audit.exports.context import ExportContext
from audit.exports.table_model import Table, table_of
from audit.metrics import METRICS
from audit.stats.bootstrap import REPLICATES, SEED
from audit.stats.case_mix import RANK_DRAWS
from audit.stats.case_mix import SEED as RANK_SEED
from audit.store.connection import rows
from audit.tables import Column, TableSpec

Statement = tuple[str, str, str]
"""(part, item, statement)."""
PLAN = TableSpec(
    "Analysis plan: what each figure estimates, its population, and the method",
    (Column.text("part", "Part"), Column.text("item", "Item"), Column.text("statement", "Statement")),
    ("Written from the definitions in the code that made these tables, so it cannot differ from them.",),
)
COUNTS = """
select count(*) as pairs, count(*) filter (where label is null) as unscored,
       count(*) filter (where prescreened) as prescreened
from pairs
"""
LIBRARIES = ("duckdb", "numpy", "pandas", "plotly", "kaleido", "xlsxwriter", "scipy")
INTERVALS = (
    ("Level", "95 %, two-sided, each figure by itself; only the case mix controls the share of false discoveries (5 %)."),
    ("Shares", "Wilson's; with {questions} or {handbooks} as clusters: cluster-robust variance on the logit scale, no seed."),
    ("Few clusters", f"Bootstrap of clusters, {REPLICATES:,} replicates, seed {SEED}, expanded percentiles."),
    ("Ranks", f"{RANK_DRAWS:,} draws from the shrunken ratios, seed {RANK_SEED:,}; who stands out: permutations, same seed."),
)


def analysis_plan(context: ExportContext) -> Table:
    """Data, exclusions, estimands, definitions, intervals and versions behind the tables that were made before this one."""
    statements = [*_data(context), *_exclusions(context), *_estimands(context), *_definitions(context)]
    statements += [("Intervals", item, context.fill(statement)) for item, statement in INTERVALS]
    statements += [("Versions", name, number) for name, number in library_versions()]
    frame = pd.DataFrame(statements, columns=[column.name for column in PLAN.columns])
    return table_of("analysis_plan", PLAN, frame, context.run, f"{len(frame):,} statements")


def _data(context: ExportContext) -> Iterator[Statement]:
    run = context.run
    yield "Data", "Run", f"{run.title} ({run.key})"
    yield "Data", "Release, SHA-256", run.digest
    yield "Data", "Loaded", f"{run.loaded_at[:10]} (UTC)"
    for item, key in (("Answers by", "generator"), ("Verdicts by", "judge")):
        yield "Data", item, str(run.manifest.get(key) or "not stated")
    if context.other is not None:
        yield "Data", "Compared with", f"{context.other.title} ({context.other.key}), release {context.other.digest}"


def _exclusions(context: ExportContext) -> Iterator[Statement]:
    set_aside = sum(numbers.get("quarantined", 0) for numbers in context.run.report.get("totals", {}).values())
    yield "Exclusions", "Records set aside", f"{set_aside:,}: not readable in this format, excluded from every figure"
    if context.run.has_pairs:
        ((pairs, unscored, prescreened),) = rows(context.con, COUNTS)
        yield "Exclusions", "Unscored pairs", f"{unscored:,} of {pairs:,}: the judge's reply was not readable, in no rate"
        yield "Exclusions", "Prescreened pairs", f"{prescreened:,} of {pairs:,}: an answer is absent; labelled absent, not judged"


def _estimands(context: ExportContext) -> Iterator[Statement]:
    """What each metric of the package shows, and the population of its interval."""
    for name in context.metrics_used():
        spec = METRICS[name].table.for_run(context.run)
        if spec.title and spec.notes:
            yield "Estimands", spec.title, " ".join(spec.notes)


def _definitions(context: ExportContext) -> Iterator[Statement]:
    words = {word: meaning for name in context.metrics_used() for word, meaning in METRICS[name].glossary.items()}
    for word, meaning in sorted(words.items(), key=lambda entry: entry[0].lower()):
        yield "Definitions", context.fill(word), context.fill(meaning)


def library_versions() -> Iterator[tuple[str, str]]:
    """Name and version of this package, of Python, and of the libraries that compute and draw."""
    yield from (("audit", audit.__version__), ("python", platform.python_version()))
    for name in LIBRARIES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "not installed"
