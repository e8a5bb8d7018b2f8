"""The open store of a tiny release, loaded by the road that every release takes.

    con = store_from(tmp_path, '''
        q1 kidney topics=diet   ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=ABSENT  d=absent
        q2 general              ab=UNSCORED  c=absent  d=notasked
    ''')

The notation is that of tests.support.tiny. Handbooks and questions are numbered from 0 in the order of the release.
"""

from __future__ import annotations

import json
import uuid
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from audit.store.connection import Connection, create_store
from tests.support.loading import load
from tests.support.tiny import release_from

NOTHING_MORE = "select 1"
"""Opened for writing, its tables as the loader left them: some tests change a text afterwards."""


def store_from(folder: Path, table: str, handbooks: list[dict[str, Any]] | None = None, *, answers: bool = True) -> Connection:
    """A store with the release that `table` describes; `answers=False` leaves its answers out."""
    path = folder / f"{uuid.uuid4().hex}.duckdb"
    path.write_bytes(_loaded(table, json.dumps(handbooks), answers))
    return create_store(path, NOTHING_MORE)


@lru_cache(maxsize=8)
def _loaded(table: str, handbooks: str, answers: bool) -> bytes:
    """The store's file. Many tests of a file begin with the same one, and loading takes a tenth of a second."""
    with TemporaryDirectory() as folder:
        release = release_from(Path(folder), table, json.loads(handbooks))
        if not answers:
            (release / "answers.jsonl").unlink()
        return load(release, Path(folder) / "data").run.path.read_bytes()
