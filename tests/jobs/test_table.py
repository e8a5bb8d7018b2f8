"""The table of jobs: its rows, its states, and the transitions that it allows."""

from __future__ import annotations

import itertools
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from audit.jobs.table import ACTIVE, TRANSITIONS, JobState, JobTable

REQUEST = {"run": "tiny", "pair": ["q1", "a", "b"], "title": "a 'quoted' title"}


@pytest.fixture
def table(tmp_path: Path) -> JobTable:
    return JobTable(tmp_path / "judge")


def test_a_new_job_is_found_as_it_was_added(table: JobTable) -> None:
    job = table.add("rejudged-1", "rejudged", "set", REQUEST)
    assert table.find("rejudged-1") == job
    assert (job.state, job.request, job.started, job.pid, job.active) == (JobState.CREATED, REQUEST, False, None, False)
    assert table.find("rejudged-2") is None


def test_jobs_are_listed_newest_first(table: JobTable) -> None:
    for name in ("a-20260101-000000", "a-20260102-000000", "a-20251231-235959"):
        table.add(name, "a", "set", {})
    assert [job.name for job in table.jobs()] == ["a-20260102-000000", "a-20260101-000000", "a-20251231-235959"]


def test_looking_creates_nothing(table: JobTable) -> None:
    assert (table.jobs(), table.find("x")) == ([], None)
    assert not table.folder.exists()


@pytest.mark.parametrize(("before", "after"), list(itertools.product(JobState, repeat=2)))
def test_only_the_transitions_of_the_table_are_allowed(table: JobTable, before: JobState, after: JobState) -> None:
    table.add("one", "kind", "set", {})
    with sqlite3.connect(table.folder / "jobs.db") as con:
        con.execute("update jobs set state = ?", (before.name,))
    job = table.find("one")
    assert job is not None
    if after in TRANSITIONS[before]:
        assert table.move(job, after, message="why")
        assert (table.find("one").state, table.find("one").message) == (after, "why")
    else:
        with pytest.raises(ValueError, match=f"from {before.name} to {after.name}"):
            table.move(job, after)
        assert table.find("one").state is before


def test_every_state_can_be_reached_and_only_a_saved_job_is_final() -> None:
    reached, open_states = {JobState.CREATED}, [JobState.CREATED]
    while open_states:
        following = set(TRANSITIONS[open_states.pop()]) - reached
        reached |= following
        open_states += following
    assert reached == set(JobState)
    assert [state for state in JobState if not TRANSITIONS[state]] == [JobState.SAVED]
    assert all(not set(TRANSITIONS[state]) & set(ACTIVE) for state in ACTIVE)


def test_of_two_who_move_the_same_job_one_succeeds(table: JobTable) -> None:
    job = table.add("one", "kind", "set", {})
    with ThreadPoolExecutor(8) as pool:
        moved = list(pool.map(lambda _: table.move(job, JobState.RUNNING), range(8)))
    assert moved.count(True) == 1


def test_a_state_that_does_not_exist_is_refused_by_the_database(table: JobTable) -> None:
    table.add("one", "kind", "set", {})
    with sqlite3.connect(table.folder / "jobs.db") as con, pytest.raises(sqlite3.IntegrityError):
        con.execute("update jobs set state = 'LOST'")


def test_figures_are_kept_as_they_were_and_a_deleted_job_is_gone(table: JobTable) -> None:
    job = table.add("one", "kind", "set", {})
    assert table.update(job, progress={"done": 3, "lost": ["a: 'b'"]}, pid=7)
    assert (table.find("one").progress, table.find("one").pid) == ({"done": 3, "lost": ["a: 'b'"]}, 7)
    table.delete(job)
    assert table.find("one") is None
    assert not table.update(job, pid=8)
