"""The journal: every reply of a model as it came, stored before anybody reads it, so that no answer is paid for twice."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

from audit.errors import AuditError
from audit.llm.calls import Reply

SCHEMA = """
create table if not exists plan (plan text not null);
create table if not exists replies (
    number    integer primary key,  -- order of arrival
    key       text not null,
    attempt   integer not null,     -- over all sessions, from 1; the latest counts
    outcome   text not null,
    reply     text not null,        -- the whole of it, as JSON in ASCII: a reply may hold what is no UTF-8
    stored_at text not null default current_timestamp,
    unique (key, attempt)
);
"""
PUT = """
insert into replies (key, attempt, outcome, reply)
select :key, coalesce(max(attempt), 0) + 1, :outcome, :reply from replies where key = :key
"""
LATEST = "select key, attempt, reply from replies where key in (select value from json_each(?)) order by number"
COUNTS = """
select outcome, count(*) from replies r
where attempt = (select max(attempt) from replies where key = r.key) group by outcome
"""
FIRST = """
select reply, attempt from replies r
where attempt = (select max(attempt) from replies where key = r.key)
order by (select min(number) from replies where key = r.key) limit ?
"""
CHUNK = 500

Plan = Mapping[str, Any]


class Journal:
    """An append-only SQLite file with the replies of one judging, or of one writing of answers.

    What `put` has returned from survives a `kill -9` of the process (the operating system holds it; a power cut may cost the
    last ones, and never the file). Any thread may call it. One process writes at a time.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        """Open the journal at `path`, or begin it with `plan` (plain JSON values: settings, digests of prompts and run).

        Raises AuditError when it was begun with another plan, when another process is writing it, or when it is no journal.
        """
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._owner = _own(path)
        try:
            self._con = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._con.execute("pragma journal_mode = wal")
            self._con.execute("pragma synchronous = normal")
            self._con.executescript(SCHEMA)
            _agree(self._con, path, plan)
        except sqlite3.DatabaseError as error:
            raise AuditError(f"{path} is no journal of replies ({error}). Nothing was asked. Name another --out.") from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; another process may then go on with it."""
        self._con.close()
        self._owner.close()

    def put(self, reply: Reply) -> None:
        """Store one reply; it stands when this returns. Attempts at a key are counted on from those already stored."""
        told = {"key": reply.key, "outcome": reply.outcome, "reply": json.dumps(asdict(reply))}
        with self._lock:
            self._con.execute(PUT, told)

    def latest(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The latest reply to each of `keys` that has one; its `attempt` is the number of all attempts so far."""
        found: dict[str, Reply] = {}
        for chunk in _chunks(keys):
            with self._lock:
                rows = self._con.execute(LATEST, [json.dumps(chunk)]).fetchall()
            found |= {key: _reply(text, attempt) for key, attempt, text in rows}
        return found

    def counts(self) -> Counter[str]:
        """How many keys there are, by the outcome of their latest attempt."""
        with self._lock:
            return Counter(dict(self._con.execute(COUNTS).fetchall()))


def journal_of(release: Path) -> Path:
    """Where the journal of a release stands: beside its folder."""
    return release.with_name(f"{release.name}.journal")


def begun_with(path: Path) -> dict[str, Any] | None:
    """The plan that a journal was begun with; None where there is no journal."""
    if not path.is_file():
        return None
    with closing(sqlite3.connect(path)) as con, suppress(sqlite3.DatabaseError):  # opening it for good says what is wrong
        row = con.execute("select plan from plan").fetchone()
        return dict(json.loads(row[0])) if row else None
    return None


def replies_in(path: Path, most: int) -> list[Reply]:
    """The latest reply to each of the first `most` keys of a journal, in the order of asking; none where there is no journal.

    The journal may be in use.
    """
    if not path.is_file():
        return []
    with closing(sqlite3.connect(path)) as con:
        return [_reply(text, attempt) for text, attempt in con.execute(FIRST, [most])]


def stored_in(path: Path) -> int:
    """How many calls of a journal have a reply; it may be in use."""
    if not path.is_file():
        return 0
    with closing(sqlite3.connect(path)) as con:
        return int(con.execute("select count(distinct key) from replies").fetchone()[0])


def copy_journal(path: Path, target: Path) -> None:
    """Copy a journal with all that it holds, if there is one; it may be in use."""
    if path.is_file():
        with closing(sqlite3.connect(path)) as con, closing(sqlite3.connect(target)) as copy:
            con.backup(copy)


def _reply(text: str, attempt: int) -> Reply:
    return replace(Reply(**json.loads(text)), attempt=attempt)


def _chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    left = iter(keys)
    while chunk := list(islice(left, CHUNK)):
        yield chunk


def _own(path: Path) -> sqlite3.Connection:
    """A lock that ends with the process, however it ends."""
    owner = sqlite3.connect(path.with_name(f"{path.name}.lock"), timeout=0, check_same_thread=False, isolation_level=None)
    try:
        owner.execute("begin exclusive")
    except sqlite3.OperationalError:
        owner.close()
        raise AuditError(f"Another process is writing {path}. Nothing was asked. Wait for it, or stop it.") from None
    return owner


def _agree(con: sqlite3.Connection, path: Path, plan: Plan) -> None:
    wanted = json.loads(json.dumps(plan))
    row = con.execute("select plan from plan").fetchone()
    if row is None:
        con.execute("insert into plan values (?)", [json.dumps(wanted)])
        return
    begun = json.loads(row[0])
    if begun != wanted:
        raise AuditError(_clash(path, begun, wanted))


def _clash(path: Path, begun: Plan, wanted: Plan) -> str:
    changed = [name for name in {**begun, **wanted} if begun.get(name) != wanted.get(name)]
    differs = "; ".join(f"{name} was {json.dumps(begun.get(name))} and is now {json.dumps(wanted.get(name))}" for name in changed)
    return (
        f"{path} was begun with another plan: {differs}. Nothing was asked, and what it holds is as it was. "
        "Go on with the plan it was begun with, or name another --out."
    )
