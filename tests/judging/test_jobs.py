"""Judging in the background: ordered, estimated, started, watched, stopped, killed, gone on with, saved, discarded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audit.cli.judge_jobs import Job, Order, State, cancel, discard, estimate, find_job, list_jobs, place, running, start
from audit.cli.judge_results import proposed_title, raw_replies, result_of, save
from audit.errors import AuditError
from audit.llm.journal import count_answered_calls
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.runs import find_run, list_runs
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = "\n".join(f"q{n} kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent" for n in range(10))
"""Thirty pairs for a judge, and thirty that are ABSENT without asking."""
KEY = "sk-very-secret-0123456789"
PATIENCE_S = 60


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(key=KEY) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
    said = {"DATA_DIR": str(tmp_path / "data"), "JUDGE_URL": server.url, "JUDGE_KEY": KEY, "JUDGE_CONCURRENCY": "2"}
    for name, value in said.items():
        monkeypatch.setenv(f"AUDIT_{name}", value)
    monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)
    load(release_from(tmp_path, TABLE), tmp_path / "data")
    return Settings()


@pytest.fixture(autouse=True)
def _nothing_is_left_at_work(settings: Settings) -> Iterator[None]:
    yield
    for name in running(settings).values():
        cancel(settings, find_job(settings, name), at_once=True)


def order(settings: Settings, **how) -> Order:
    run = find_run(settings.store_dir, "tiny")
    return Order(run.digest, run.title, how.pop("chosen", "all pairs"), 60, how.pop("pairs", "all"), **how)


def until(settings: Settings, job: Job, right: Callable[[Job], bool]) -> Job:
    ends = time.monotonic() + PATIENCE_S
    while not right(seen := find_job(settings, job.name)):
        assert time.monotonic() < ends, (seen, (job.folder / "log").read_text())
        time.sleep(0.05)
    return seen


def rests(job: Job) -> bool:
    return job.state not in (State.RUNNING, State.ESTIMATING)


def test_an_order_is_estimated_carried_out_looked_at_and_saved_as_a_run(settings, server):
    job = place(settings, order(settings, swap=True))
    assert job.state is State.ORDERED
    estimate(settings, job)
    job = until(settings, job, rests)
    assert job.state is State.ESTIMATED
    assert (job.estimate["pairs"], job.estimate["without_call"], job.estimate["stages"][0]["calls"]) == (60, 30, 60)
    assert server.asked == 0

    start(settings, job)
    job = until(settings, job, rests)
    assert (job.state, job.said) == (State.JUDGED, "")
    assert (job.status["judged"], job.status["prescreened"]) == (30, 30)
    with open_store(result_of(job).path) as con:
        assert rows(con, "select count(*), count(label) from pairs") == [(60, 60)]
    assert proposed_title(job) == "A tiny release, judged by judge"
    assert [run.run_id for run in list_runs(settings.store_dir)] == ["tiny"]

    run = save(settings, job, "  A second look ")
    assert (run.title, run.run_id) == ("A second look", job.name)
    assert run.manifest["judge_settings"]["chosen"] == "all pairs"
    assert find_run(settings.store_dir, job.name).report["clean"]
    saved = find_job(settings, job.name)
    assert (saved.state, saved.saved) == (State.SAVED, run.key)
    assert count_answered_calls(settings.releases_dir / f"{job.name}.journal") == 60
    discard(settings, saved)
    assert list_jobs(settings) == []
    assert find_run(settings.store_dir, job.name).title == "A second look"


def test_a_trial_gives_the_time_it_would_take(settings, server):
    job = place(settings, order(settings))
    estimate(settings, job, trial=True)
    job = until(settings, job, rests)
    assert job.estimate["seconds"] > 0
    assert server.asked > 0


def test_progress_is_told_while_it_lasts_and_a_cancelled_job_goes_on_where_it_was(settings, server):
    server.delay_s = 0.3
    job = place(settings, order(settings))
    start(settings, job)
    seen = until(settings, job, lambda job: job.status.get("done", 0) >= 4)
    assert seen.state is State.RUNNING
    assert (seen.status["phase"], seen.status["calls"]) == ("asking", 30)
    assert seen.status["answered"] == seen.status["done"] < 30
    assert seen.status["rate"] > 0
    cancel(settings, job)
    job = until(settings, job, rests)
    assert (job.state, job.said) == (State.STOPPED, "Stopped.")
    stored = count_answered_calls(job.journal)
    assert 4 <= stored < 30

    server.delay_s = 0
    start(settings, job)
    job = until(settings, job, rests)
    assert job.state is State.JUDGED
    assert count_answered_calls(job.journal) == 30
    assert job.status["calls"] == 30 - stored


def test_a_killed_process_is_told_as_such_and_asks_nothing_twice_that_was_stored(settings, server):
    server.delay_s = 0.2
    job = place(settings, order(settings))
    start(settings, job)
    until(settings, job, lambda job: job.status.get("done", 0) >= 4)
    os.kill(json.loads((job.folder / "process.json").read_text())["pid"], signal.SIGKILL)
    job = until(settings, job, rests)
    assert job.state is State.STOPPED
    assert "ended without a word" in job.said
    stored = count_answered_calls(job.journal)
    server.delay_s, server.keys = 0, type(server.keys)()
    start(settings, job)
    until(settings, job, lambda job: job.state is State.JUDGED)
    assert sum(count for key, count in server.keys.items() if "probe" not in key) <= 30 - stored + 2  # and two on trial


def test_a_job_goes_on_when_whoever_started_it_is_killed(settings, server):
    server.delay_s = 0.2
    job = place(settings, order(settings))
    code = (
        "import sys, time; from audit.settings import Settings; from audit.cli.judge_jobs import find_job, start; "
        "start(Settings(), find_job(Settings(), sys.argv[1])); print('started', flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen([sys.executable, "-c", code, job.name], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    assert starter.stdout.readline() == "started\n"
    starter.kill()
    starter.communicate()
    assert find_job(settings, job.name).state is State.RUNNING
    server.delay_s = 0
    assert until(settings, job, rests).state is State.JUDGED


def test_a_second_one_is_refused_while_one_is_at_work_but_a_single_pair_is_not(settings, server):
    server.delay_s = 1
    first, second = place(settings, order(settings)), place(settings, order(settings))
    one = place(settings, order(settings, pairs="file", pair=("q1", "a", "b")), [("q1", "a", "b")])
    start(settings, first)
    for begin in (start, estimate):
        with pytest.raises(AuditError, match="one runs at a time"):
            begin(settings, second)
    assert find_job(settings, second.name).state is State.ORDERED
    server.delay_s = 0
    start(settings, one)
    assert until(settings, one, rests).state is State.JUDGED
    cancel(settings, first, at_once=True)
    until(settings, first, rests)
    start(settings, second)
    assert until(settings, second, rests).state is State.JUDGED


def test_a_job_at_work_is_not_discarded(settings, server):
    server.delay_s = 1
    job = place(settings, order(settings))
    start(settings, job)
    with pytest.raises(AuditError, match="Cancel it first"):
        discard(settings, job)


def test_who_is_done_is_not_judged_again(settings):
    job = place(settings, order(settings, baseline=True))
    start(settings, job)
    job = until(settings, job, rests)
    with pytest.raises(AuditError, match="judged already"):
        start(settings, job)


def test_the_baseline_judge_needs_no_endpoint_and_has_no_replies(settings, monkeypatch):
    monkeypatch.delenv("AUDIT_JUDGE_URL")
    job = place(settings, order(settings, baseline=True))
    start(settings, job)
    job = until(settings, job, rests)
    assert job.state is State.JUDGED
    assert raw_replies(job) == []
    assert result_of(job).manifest["judge"] == "baseline judge (rules, no model)"


def test_only_the_chosen_pairs_are_judged_and_a_reply_is_kept_as_it_came(settings):
    job = place(settings, order(settings, pairs="file", pair=("q3", "c", "a")), [("q3", "c", "a")])
    start(settings, job)
    job = until(settings, job, rests)
    with open_store(result_of(job).path) as con:
        assert rows(con, "select question_id from pairs join questions using (question)") == [("q3",)]
    (reply,) = raw_replies(job)
    assert json.loads(reply.text)["classification"]
    assert reply.usage["completion_tokens"] > 0


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("URL", "http://127.0.0.1:9/v1", "cannot be reached"),
        ("MODEL", "gpt-nonesuch", "has no model 'gpt-nonesuch'"),
        ("KEY", "sk-wrong", "does not accept the key"),
        ("URL", "", "No judge is set"),
    ],
)
def test_an_endpoint_that_will_not_do_ends_in_the_commands_own_sentence(settings, monkeypatch, name, value, sentence):
    monkeypatch.setenv(f"AUDIT_JUDGE_{name}", value)
    job = place(settings, order(settings))
    start(settings, job)
    job = until(settings, job, rests)
    assert job.state is State.STOPPED
    assert sentence in job.said
    estimate(settings, job, trial=True)
    if name != "URL" or value:
        assert sentence in until(settings, job, rests).said


def test_a_run_that_is_stopped_by_a_rule_ends_in_its_sentence(settings, server):
    server.delay_s = 0.2
    job = place(settings, order(settings))
    start(settings, job)
    until(settings, job, lambda job: job.status.get("done", 0) >= 2)
    server.key = "another key from now on"
    job = until(settings, job, rests)
    assert job.state is State.STOPPED
    assert job.said.startswith("Stopped: no endpoint is left.")
    assert "AUDIT_JUDGE_KEY" in job.said
    assert KEY not in job.said


def test_the_key_stands_in_no_file_and_on_no_command_line(settings, server):
    server.delay_s = 0.3
    job = place(settings, order(settings))
    start(settings, job)
    until(settings, job, lambda job: job.status.get("done", 0) >= 1)
    pid = json.loads((job.folder / "process.json").read_text())["pid"]
    assert KEY.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    cancel(settings, job)
    job = until(settings, job, rests)
    files = [path for path in job.folder.rglob("*") if path.is_file()]
    assert {"order.json", "status.json", "process.json", "log", "release.journal"} <= {path.name for path in files}
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize("name", ["../../etc", "rejudged-20261121-000000-abcd", ""])
def test_a_job_that_is_not_there_is_said_in_a_sentence(settings, name):
    with pytest.raises(AuditError, match="There is no re-judging"):
        find_job(settings, name)


def test_looking_makes_no_folder(settings):
    assert list_jobs(settings) == []
    assert running(settings) == {}
    assert not (settings.data_dir / "judge").exists()
