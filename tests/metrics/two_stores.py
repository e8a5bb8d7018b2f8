"""A connection to the stores of two tiny releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit.store.connection import Connection, open_two
from tests.support.loading import load
from tests.support.tiny import release_from


def two(folder: Path, first: str, second: str, handbooks: list[dict[str, Any]] | None = None) -> Connection:
    """Both runs; `handbooks` are those of the second run where its order or number differs."""
    runs = [
        load(release_from(folder / name, table, books, run_id=name), folder / "data").run
        for name, table, books in (("before", first, None), ("after", second, handbooks))
    ]
    return open_two(runs[0].path, runs[1].path)
