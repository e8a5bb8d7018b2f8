"""Which runs are loaded, and the one a person means by a name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.errors import UnknownRunError
from audit.store.connection import frame, open_store
from audit.vocabulary import nearest

RUN = "select run_id, title, digest, synthetic, has_answers, loaded_at, terms, manifest, report from run"


@dataclass(frozen=True)
class Run:
    """One loaded run: its name, its file, its display words and its load report."""

    run_id: str
    title: str
    digest: str
    synthetic: bool
    has_answers: bool
    loaded_at: str
    path: Path
    terms: dict[str, str] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A short name that stays the same for the same data: run id and the start of its digest."""
        return f"{self.run_id}@{self.digest[:8]}"

    def term(self, word: str, count: int = 1) -> str:
        """The release's own word for `handbook`, `organ`, ...: plural unless `count` is 1."""
        own = self.terms.get(word, word)
        if count == 1:
            return own
        return self.terms.get(f"{word}s") or (own[:-1] + "ies" if own.endswith("y") else own + "s")


def store_path(store_dir: Path, digest: str) -> Path:
    """The file of the run whose release has `digest`."""
    return store_dir / f"{digest[:16]}.duckdb"


def read_run(path: Path) -> Run:
    """The run that a store file holds."""
    with open_store(path) as con:
        row = frame(con, RUN).to_dict("records")[0]
    parsed = {name: json.loads(row.pop(name)) for name in ("terms", "manifest", "report")}
    return Run(path=path, loaded_at=str(row.pop("loaded_at")), **row, **parsed)


def list_runs(store_dir: Path) -> list[Run]:
    """Every loaded run, newest first."""
    found = [read_run(path) for path in store_dir.glob("*.duckdb")]
    return sorted(found, key=lambda run: run.loaded_at, reverse=True)


def find_run(store_dir: Path, name: str) -> Run:
    """The newest run whose id is `name`, or the one whose key or digest starts with it.

    Raises UnknownRunError, naming the runs there are.
    """
    runs = list_runs(store_dir)
    for run in runs:
        if name in (run.run_id, run.key) or (len(name) >= 8 and run.digest.startswith(name)):
            return run
    known = [run.key for run in runs]
    there_are = f"Loaded: {', '.join(known)}." if known else "No run is loaded yet."
    raise UnknownRunError(
        f"Run '{name}' is not in {store_dir}.{nearest(name, tuple(run.run_id for run in runs))} {there_are} Load one with: audit load PATH"
    )
