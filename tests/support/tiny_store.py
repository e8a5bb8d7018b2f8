"""The open store of a tiny release, loaded by the road that every release takes.

    con = store_from(tmp_path, '''
        q1 kidney topics=diet   ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=ABSENT  d=absent
        q2 general              ab=UNSCORED  c=absent  d=notasked
    ''')

The notation is that of tests.support.tiny. Handbooks and questions are numbered from 0 in the order of the release.
"""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

from audit.store.connection import Connection, create_store
from tests.support.loading import load
from tests.support.tiny import release_from

NOTHING_MORE = "select 1"
"""Opened for writing, its tables as the loader left them: some tests change a text afterwards."""
_LOADED: dict[str, Path] = {}
"""Stores that nobody has changed: many tests of a file begin with the same one, and loading takes a tenth of a second."""


def store_from(folder: Path, table: str, handbooks: list[dict[str, Any]] | None = None, *, answers: bool = True) -> Connection:
    """A store with the release that `table` describes; `answers=False` leaves its answers out."""
    key = json.dumps([table, handbooks, answers])
    if key not in _LOADED:
        scratch = folder / uuid.uuid4().hex
        release = release_from(scratch, table, handbooks)
        if not answers:
            (release / "answers.jsonl").unlink()
        _LOADED[key] = load(release, scratch / "data").run.path
    return create_store(Path(shutil.copy(_LOADED[key], folder / f"{uuid.uuid4().hex}.duckdb")), NOTHING_MORE)
