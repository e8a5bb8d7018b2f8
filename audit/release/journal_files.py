"""The journal next to a release, NAME.journal: the replies of a model, as a page shows them.

`audit.pipeline.llm.journal` writes it. Reading works while it is being written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

FIRST_REPLIES = """
select reply, attempt from replies r
where attempt = (select max(attempt) from replies where key = r.key)
order by (select min(number) from replies where key = r.key) limit ?
"""


@dataclass(frozen=True)
class Reply:
    """The unchanged result of one attempt at a call; it is stored before anything reads it.

    `outcome` is ANSWERED, CUT, REFUSED or FAILED. `text` is the content of the message, `error` the message of the server or
    the connection. `usage` has prompt_tokens, completion_tokens and, if the server reports them, cached_tokens and
    reasoning_tokens. `attempt` counts from 1; a later attempt at the same key replaces an earlier one.
    """

    key: str
    outcome: str
    attempt: int = 1
    text: str | None = None
    finish_reason: str | None = None
    status: int | None = None
    error: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    latency_s: float | None = None
    model: str | None = None
    server: str | None = None


def journal_path(release: Path) -> Path:
    """The journal of a release: a file next to its folder."""
    return release.with_name(f"{release.name}.journal")


def journal_plan(path: Path) -> dict[str, Any] | None:
    """The plan that a journal was created with; None if there is no journal."""
    if not path.is_file():
        return None
    with closing(sqlite3.connect(path)) as con, suppress(sqlite3.DatabaseError):  # `Journal` reports what is wrong
        row = con.execute("select plan from plan").fetchone()
        return dict(json.loads(row[0])) if row else None
    return None


def first_replies(path: Path, max_count: int) -> list[Reply]:
    """The latest reply to each of the first `max_count` keys of a journal, in the order of asking; empty without a journal.

    The journal may be in use.
    """
    if not path.is_file():
        return []
    with closing(sqlite3.connect(path)) as con:
        return [decode_reply(text, attempt) for text, attempt in con.execute(FIRST_REPLIES, [max_count])]


def count_answered_calls(path: Path) -> int:
    """The number of calls in a journal that have a reply. The journal may be in use."""
    if not path.is_file():
        return 0
    with closing(sqlite3.connect(path)) as con:
        return int(con.execute("select count(distinct key) from replies").fetchone()[0])


def copy_journal(path: Path, target: Path) -> None:
    """Copy a journal with all its replies, if there is one. The journal may be in use."""
    if path.is_file():
        with closing(sqlite3.connect(path)) as con, closing(sqlite3.connect(target)) as copy:
            con.backup(copy)


def decode_reply(text: str, attempt: int) -> Reply:
    """The reply that a journal stores as `text`, as the given attempt."""
    return replace(Reply(**json.loads(text)), attempt=attempt)
