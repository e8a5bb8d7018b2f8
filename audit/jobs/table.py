"""The table of jobs: one SQLite row per job, the states of a job, and the transitions between them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

# How long a transaction waits for another process
BUSY_S = 30.0


class JobState(StrEnum):
    """The state of a job, in the words that a page shows."""

    CREATED = "not started"
    ESTIMATING = "estimating"
    ESTIMATED = "estimated"
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    SAVED = "saved"


ACTIVE = (JobState.ESTIMATING, JobState.RUNNING)
"""States in which a process works on the job."""

TRANSITIONS: Mapping[JobState, tuple[JobState, ...]] = {
    JobState.CREATED: (JobState.ESTIMATING, JobState.RUNNING),
    JobState.ESTIMATING: (JobState.ESTIMATED, JobState.CREATED, JobState.STOPPED),
    JobState.ESTIMATED: (JobState.ESTIMATING, JobState.RUNNING),
    JobState.RUNNING: (JobState.FINISHED, JobState.STOPPED),
    JobState.STOPPED: (JobState.RUNNING, JobState.ESTIMATING),
    JobState.FINISHED: (JobState.SAVED,),
    JobState.SAVED: (),
}
"""State -> the states that may follow. An estimate that fails goes back to where the job was."""

SCHEMA = f"""
create table if not exists jobs (
    name text primary key,
    kind text not null,
    slot text not null,
    request text not null,
    state text not null check (state in ({", ".join(f"'{state.name}'" for state in JobState)})),
    started integer not null default 0,
    command text not null default '[]',
    pid integer,
    progress text not null default '{{}}',
    estimate text not null default '{{}}',
    message text not null default '',
    result text not null default ''
) strict
"""
JSON_COLUMNS = ("request", "command", "progress", "estimate")


@dataclass(frozen=True)
class Job:
    """One job as its row was when it was read.

    name, folder        its name, and the folder of its files (log, journal, result)
    kind, request       what kind of work it is, and what was requested
    slot                jobs of one slot run one at a time
    state, started      its state, and whether its work was ever started
    command, pid        the arguments of `audit`, and the process that carries or carried them out
    progress, estimate  the latest figures of the work, and of the estimate before it
    message             why the last process failed
    result              what its result was saved as
    """

    name: str
    folder: Path
    kind: str
    slot: str
    request: dict[str, Any]
    state: JobState
    started: bool = False
    command: tuple[str, ...] = ()
    pid: int | None = None
    progress: dict[str, Any] = field(default_factory=dict)
    estimate: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    result: str = ""

    @property
    def active(self) -> bool:
        """Whether a process works on it."""
        return self.state in ACTIVE


class JobTable:
    """The jobs of a data folder. Each call is one transaction, so any number of processes may use the table."""

    def __init__(self, folder: Path) -> None:
        """A table in `folder`; nothing is created before the first job."""
        self.folder = folder
        self._path = folder / "jobs.db"

    def add(self, name: str, kind: str, slot: str, request: Mapping[str, object]) -> Job:
        """Add a job that is not started, and create its folder."""
        folder = self.folder / name
        # Without exist_ok: a second job of the same name fails here, before it has a row.
        folder.mkdir(parents=True)
        with self._transaction() as con:
            con.execute(
                "insert into jobs (name, kind, slot, request, state) values (?, ?, ?, ?, ?)",
                (name, kind, slot, json.dumps(request), JobState.CREATED.name),
            )
        return Job(name, folder, kind, slot, dict(request), JobState.CREATED)

    def find(self, name: str) -> Job | None:
        """The job of that name, if there is one."""
        return next(iter(self._select("where name = ?", (name,))), None)

    def jobs(self) -> list[Job]:
        """Every job, newest first; names begin with the time of creation."""
        return self._select("order by name desc", ())

    def move(self, job: Job, state: JobState, **columns: Any) -> bool:
        """Set a new state, and with it other columns; False, and no change, when the job is no longer in `job.state`.

        Raises ValueError for a transition that the table of transitions does not have.
        """
        if state not in TRANSITIONS[job.state]:
            raise ValueError(f"a job cannot go from {job.state.name} to {state.name}")
        # The old state is part of the condition, so of two processes only one can move a job
        return self._update(job.name, {**columns, "state": state.name}, "and state = ?", (job.state.name,))

    def update(self, job: Job, **columns: Any) -> bool:
        """Set columns other than the state; False when the job is gone."""
        return self._update(job.name, columns)

    def delete(self, job: Job) -> None:
        """Delete the row."""
        with self._transaction() as con:
            con.execute("delete from jobs where name = ?", (job.name,))

    def _update(self, name: str, columns: Mapping[str, Any], condition: str = "", values: tuple[Any, ...] = ()) -> bool:
        texts = {key: json.dumps(value) if key in JSON_COLUMNS else value for key, value in columns.items()}
        assignments = ", ".join(f"{key} = ?" for key in texts)
        with self._transaction() as con:
            cursor = con.execute(f"update jobs set {assignments} where name = ? {condition}", (*texts.values(), name, *values))
        return cursor.rowcount == 1

    def _select(self, clause: str, values: tuple[Any, ...]) -> list[Job]:
        if not self._path.is_file():  # looking creates nothing
            return []
        with self._transaction() as con:
            records = con.execute(f"select * from jobs {clause}", values).fetchall()
        return [self._job(dict(row)) for row in records]

    def _job(self, row: dict[str, Any]) -> Job:
        row |= {name: json.loads(row[name]) for name in JSON_COLUMNS}
        row |= {"state": JobState[row["state"]], "started": bool(row["started"]), "command": tuple(row["command"])}
        return Job(folder=self.folder / row["name"], **row)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path, timeout=BUSY_S)) as con, con:
            con.row_factory = sqlite3.Row
            # On every connection: whichever process comes first creates the table
            con.execute(SCHEMA)
            yield con
