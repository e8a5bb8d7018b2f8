"""Loaded runs: listing them, and finding one by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.errors import UnknownRunError
from audit.store.connection import MISSING_TABLE_OR_COLUMN, Connection, DuckDBError, open_store, rows
from audit.store.tables import layout
from audit.terms import own_term
from audit.vocabulary import composed, nearest

OTHER_LAYOUT = "it was written by another version of this software, with other tables"
PAIR_PROTOCOLS = STRUCTURED, LABEL_FIRST, LABEL_ONLY = "structured", "label_first", "label_only"
"""The protocols that ask about pairs: label after its reasons, label before them, label alone with its topic in another call."""

RUN_COLUMNS = (
    "run_id", "title", "digest", "synthetic", "has_answers", "has_handbooks", "has_pairs", "has_systems", "has_routes",
    "has_stress", "ratings_digest", "further_digest", "loaded_at", "terms", "manifest", "report",
)  # fmt: skip
RUN = f"select {', '.join(RUN_COLUMNS)} from run"


@dataclass(frozen=True)
class Run:
    """One loaded run: its name, its file, its display words and its load report.

    has_handbooks  it has handbooks that were asked questions; without them it is about answering systems alone
    has_pairs    something has compared these handbooks: without pairs there are no labels, and no rate of disagreement
    has_systems  it has answering systems
    has_routes   at least one of them routed questions to sources
    has_stress   it has stress tests of systems
    ratings_digest, further_digest  of the ratings and of the further verdicts that the release has; "" if it has none
    """

    run_id: str
    title: str
    digest: str
    synthetic: bool
    has_answers: bool
    loaded_at: str
    path: Path
    has_pairs: bool = True
    has_handbooks: bool = True
    has_systems: bool = False
    has_routes: bool = False
    has_stress: bool = False
    ratings_digest: str = ""
    further_digest: str = ""
    terms: dict[str, str] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def asked_by_organ(self) -> bool:
        """Whether a question went to the handbooks of its organ only (general ones to all)."""
        return self.manifest.get("asked") == "organ"

    @property
    def judge_protocol(self) -> str:
        """How the judge was asked: structured, label_first, label_only, positions; structured where the release does not say."""
        judge = self.manifest.get("judge_settings")
        return str(judge.get("protocol") or STRUCTURED) if isinstance(judge, dict) else STRUCTURED

    @property
    def key(self) -> str:
        """A short name that is the same for the same data: run id and the start of its digest."""
        return f"{self.run_id}@{self.digest[:8]}"

    def term(self, word: str, count: int = 1) -> str:
        """The release's own word for `handbook`, `organ`, ...: plural unless `count` is 1."""
        return own_term(self.terms, word, count)


def store_path(store_dir: Path, digest: str) -> Path:
    """The file of the run whose release has `digest`."""
    return store_dir / f"{digest[:16]}.duckdb"


def read_run(path: Path) -> Run:
    """The run in a store file."""
    with open_store(path) as con:
        return run_in(con, path)


def run_in(con: Connection, path: Path) -> Run:
    """The run of an opened store, whose file is `path`."""
    row: dict[str, Any] = dict(zip(RUN_COLUMNS, rows(con, RUN)[0], strict=True))
    row |= {name: json.loads(row[name]) for name in ("terms", "manifest", "report")} | {"loaded_at": str(row["loaded_at"])}
    return Run(path=path, **row)


def list_runs(store_dir: Path) -> list[Run]:
    """Every loaded run, newest first; a file that cannot be read is left out (see `unreadable_stores`)."""
    return read_stores(store_dir)[0]


def unreadable_stores(store_dir: Path) -> dict[Path, str]:
    """The store files that cannot be read, with the reason; other runs are not affected."""
    return read_stores(store_dir)[1]


def read_stores(store_dir: Path) -> tuple[list[Run], dict[Path, str]]:
    """Every loaded run, newest first, and every store file that cannot be read, with the reason."""
    by_path = {path: _run_or_problem(path) for path in sorted(store_dir.glob("*.duckdb"))}
    runs = [run for run in by_path.values() if isinstance(run, Run)]
    problems = {path: problem for path, problem in by_path.items() if isinstance(problem, str)}
    return sorted(runs, key=lambda run: run.loaded_at, reverse=True), problems


def store_problem(path: Path) -> str | None:
    """Why a store file cannot be read (damage, or another layout), or None if it can."""
    run = _run_or_problem(path)
    return run if isinstance(run, str) else None


def _run_or_problem(path: Path) -> Run | str:
    # In one opening: DuckDB takes some 20 ms of computing time for each.
    try:
        with open_store(path) as con:
            return run_in(con, path) if _stored_layout(con) == layout() else OTHER_LAYOUT
    except DuckDBError as error:
        return str(error).splitlines()[0]


def _stored_layout(con: Connection) -> str | None:
    """The layout of a store's tables; None for one without."""
    try:
        return str(rows(con, "select layout from run")[0][0])
    except (*MISSING_TABLE_OR_COLUMN, IndexError):  # other errors are damages, which say what they are
        return None


def find_run(store_dir: Path, name: str | None = None) -> Run:
    """The newest run whose id is `name`, or the one with that key or start of a digest; without a name `newest_full_run`.

    Raises UnknownRunError, which names the loaded runs.
    """
    runs, problems = read_stores(store_dir)
    name = name if name is None else composed(name)
    if runs and name is None:
        return newest_full_run(runs)
    for run in runs:
        # A shorter prefix of a digest could match several runs
        if name in (run.run_id, run.key) or (name and len(name) >= 8 and run.digest.startswith(name)):
            return run
    hint = nearest(name, tuple(run.run_id for run in runs)) if name else ""
    loaded = f"Loaded: {', '.join(run.key for run in runs)}." if runs else "No run is loaded yet."
    loaded += "".join(f" The file {path.name} cannot be read ({why})." for path, why in problems.items())
    wanted = f"Run '{name}' is not in {store_dir}.{hint} " if name else ""
    raise UnknownRunError(f"{wanted}{loaded} Load one with: audit load PATH")


def newest_full_run(runs: Sequence[Run]) -> Run:
    """The default run: the first of `runs` (at least one, newest first) that judges all pairs.

    Runs that re-judge a selection of another run's pairs are skipped: their rates apply to the selection alone.
    """
    return next((run for run in runs if not chosen_pairs(run.manifest)), runs[0])


def chosen_pairs(manifest: Mapping[str, object]) -> str:
    """How the pairs of a release were chosen among those of the run that it judges again; "" where they are all."""
    judge = manifest.get("judge_settings")
    if not isinstance(judge, dict) or "source_digest" not in judge or judge.get("pairs") == "all":
        return ""
    return str(judge.get("pairs") or "in a way that is not stated")
