"""The open store of a tiny release, loaded by the road that every release takes.

    con = store_from(tmp_path, '''
        q1 kidney topics=diet   ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=ABSENT  d=absent
        q2 general              ab=UNSCORED  c=absent  d=notasked
    ''')

The notation is that of tests.support.tiny. Handbooks and questions are numbered from 0 in the order of the release.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from audit.store.connection import Connection, create_store
from tests.support.loading import load
from tests.support.tiny import release_from

NOTHING_MORE = "select 1"
"""Opened for writing, its tables as the loader left them: some tests change a text afterwards."""


def store_from(folder: Path, table: str, handbooks: list[dict[str, Any]] | None = None, *, answers: bool = True) -> Connection:
    """A store with the release that `table` describes; `answers=False` leaves its answers out."""
    scratch = folder / uuid.uuid4().hex
    release = release_from(scratch, table, handbooks)
    if not answers:
        (release / "answers.jsonl").unlink()
    return create_store(load(release, scratch / "data").run.path, NOTHING_MORE)
