"""The journal: every reply of a model, unchanged, stored before anything reads it, so no answer is paid for twice."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from audit.errors import AuditError
from audit.pipeline.llm.tasks import Replies, batches, no_replies
from audit.release.journal_files import Reply, decode_reply

SCHEMA = """
create table if not exists plan (plan text not null);
create table if not exists replies (
    number    integer primary key,  -- order of arrival
    key       text not null,
    attempt   integer not null,     -- from 1, over all runs of the command; the latest counts
    outcome   text not null,
    reply     text not null,        -- all of it, as JSON in ASCII: a reply may contain what is not valid UTF-8
    stored_at text not null default current_timestamp,
    unique (key, attempt)
);
"""
INSERT_REPLY = """
insert into replies (key, attempt, outcome, reply)
select :key, coalesce(max(attempt), 0) + 1, :outcome, :reply from replies where key = :key
"""
LATEST_REPLIES = "select key, attempt, reply from replies where key in (select value from json_each(?)) order by number"
OUTCOME_COUNTS = """
select outcome, count(*) from replies r
where attempt = (select max(attempt) from replies where key = r.key) group by outcome
"""
# The keys travel as one JSON text: bound one by one, SQLite would limit their number.
KEYS_PER_QUERY = 500

Plan = Mapping[str, Any]


class Journal:
    """An append-only SQLite file with the replies of one task, such as judging pairs or writing answers.

    Once `put` returns, the reply survives a `kill -9` of the process (a power failure may lose the last few replies, but never
    the file). Safe to call from any thread; only one process writes at a time.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        """Open the journal at `path`, or create it with `plan` (plain JSON values: settings, digests of prompts and run).

        Raises AuditError if it was created with another plan, if another process is writing to it, or if the file is not a
        journal.
        """
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._process_lock = _lock_for_process(path)
        try:
            # Used by several threads, but never by two at once: see `_lock`.
            self._con = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            # Lets a page count the replies while a run is writing.
            self._con.execute("pragma journal_mode = wal")
            # A sync at each reply would be slow; without it a power failure costs the last few replies, which are asked again.
            self._con.execute("pragma synchronous = normal")
            self._con.executescript(SCHEMA)
            _check_plan(self._con, path, plan)
        except sqlite3.DatabaseError as error:
            self._process_lock.close()
            raise AuditError(
                f"{path} is not a journal of replies, or is damaged ({error}). Nothing was asked. Save what can be read of it "
                f"(audit journal recover {path} NEW), or choose another --out."
            ) from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file, so another process can continue."""
        self._con.close()
        self._process_lock.close()

    def put(self, reply: Reply) -> None:
        """Store one reply. Its attempts are counted from those already stored for its key."""
        row = {"key": reply.key, "outcome": reply.outcome, "reply": json.dumps(asdict(reply))}
        with self._lock, _explained(self.path):
            self._con.execute(INSERT_REPLY, row)

    def latest(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The latest reply to each of `keys` that has one; its `attempt` is the number of attempts so far."""
        replies: dict[str, Reply] = {}
        for batch in batches(keys, KEYS_PER_QUERY):
            with self._lock, _explained(self.path):
                replies |= _latest_replies(self._con, batch)
        return replies

    def counts(self) -> Counter[str]:
        """The number of keys by the outcome of their latest attempt."""
        with self._lock, _explained(self.path):
            return Counter(dict(self._con.execute(OUTCOME_COUNTS).fetchall()))


@contextmanager
def stored_replies(path: Path) -> Iterator[Replies]:
    """The replies of a journal, which may be in use and is not written to; none where there is no journal."""
    if not path.is_file():
        yield no_replies
        return
    with closing(sqlite3.connect(path)) as con:

        def latest(keys: Iterable[str]) -> dict[str, Reply]:
            with _explained(path):
                return {key: one for batch in batches(keys, KEYS_PER_QUERY) for key, one in _latest_replies(con, batch).items()}

        yield latest


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Explain a journal that can no longer be read or written: damaged, or its disk is full or read-only."""
    try:
        yield
    except (sqlite3.DatabaseError, ValueError) as error:  # the second: a reply that is no JSON any more
        raise AuditError(
            f"{path} cannot be used any more: {error}. What it holds stays. If it is damaged, save what can be read: "
            f"audit journal recover {path} NEW"
        ) from error


def _latest_replies(con: sqlite3.Connection, keys: list[str]) -> dict[str, Reply]:
    rows = con.execute(LATEST_REPLIES, [json.dumps(keys)]).fetchall()
    return {key: decode_reply(text, attempt) for key, attempt, text in rows}


def _lock_for_process(path: Path) -> sqlite3.Connection:
    """A lock that is released when the process ends, however it ends: SQLite's own, because the file is SQLite already."""
    lock = sqlite3.connect(path.with_name(f"{path.name}.lock"), timeout=0, check_same_thread=False, isolation_level=None)
    try:
        lock.execute("begin exclusive")
    except sqlite3.OperationalError:
        lock.close()
        raise AuditError(f"Another process is writing to {path}. Nothing was asked. Wait for it, or stop it.") from None
    return lock


def _check_plan(con: sqlite3.Connection, path: Path, plan: Plan) -> None:
    wanted = json.loads(json.dumps(plan))
    row = con.execute("select plan from plan").fetchone()
    if row is None:
        con.execute("insert into plan values (?)", [json.dumps(wanted)])
        return
    stored = json.loads(row[0])
    # `wanted` went through JSON as well, because that turns tuples into lists.
    if stored != wanted:
        raise AuditError(_plan_mismatch(path, stored, wanted))


def _plan_mismatch(path: Path, stored: Plan, wanted: Plan) -> str:
    changed = [name for name in {**stored, **wanted} if stored.get(name) != wanted.get(name)]
    changes = "; ".join(
        f"{name} was {json.dumps(stored.get(name))} and is now {json.dumps(wanted.get(name))}" for name in changed
    )
    return (
        f"{path} was created with other settings: {changes}. Nothing was asked, and the journal is unchanged. "
        "Continue with the settings that it was created with, or choose another --out."
    )
