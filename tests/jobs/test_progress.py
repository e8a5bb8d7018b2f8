"""What a job records while `audit judge` works: how far it is, what it would cost, and how it ended."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from audit.cli.conventions import OK
from audit.cli.main import parse
from audit.errors import AuditError
from audit.jobs.processes import Progress, find_job
from audit.jobs.rejudging import JobRequest, request_judging, start_judging
from audit.jobs.table import JobState
from audit.settings import Settings
from audit.store.runs import find_run
from tests.support.llm.fault_server import fault_server
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent
    q2 general ab=UNSCORED        ac=ABSENT  bc=CONTRADICTORY      d=absent
"""
"""Six pairs for a judge, and six that are ABSENT without a call."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    load(release_from(tmp_path, TABLE), tmp_path / "data")
    return tmp_path


def judge(folder: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and everything that was stored, one after the other."""
    stored: list[dict[str, Any]] = []
    arguments = parse(["judge", "tiny", "--out", str(folder / "again"), *options])
    arguments.progress = Progress(lambda values: stored.append(dict(values)))
    return arguments.function(arguments, Settings()), stored


def test_at_the_end_it_records_the_outcome_of_the_pairs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fault_server() as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        code, stored = judge(folder)
    last = stored[-1]
    assert (code, stored[0]["phase"]) == (OK, "asking")
    assert (last["stage"], last["calls"], last["done"], last["answered"]) == ("structured", 6, 6, 6)
    assert (last["judged"], last["prescreened"], last["not_asked"], last["unscored"]) == (6, 6, 0, {})


def test_an_estimate_counts_calls_tokens_and_pairs_without_a_call(folder: Path) -> None:
    code, stored = judge(folder, "--dry-run")
    estimate = stored[-1]["estimate"]
    assert (code, estimate["pairs"], estimate["without_call"], estimate["seconds"]) == (OK, 12, 6, None)
    assert [(stage["stage"], stage["calls"]) for stage in estimate["stages"]] == [("structured", 6)]
    assert estimate["stages"][0]["prompt_tokens"] > estimate["stages"][0]["reply_tokens"] == 6 * 210


def test_an_estimate_makes_calls_only_with_the_option_and_then_gives_the_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fault_server(delay_s=0.02) as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        _, stored = judge(folder, "--dry-run")
        assert (server.asked, stored[-1]["estimate"]["seconds"]) == (0, None)
        _, stored = judge(folder, "--dry-run", "--probe")
        assert server.asked > 0
    estimate = stored[-1]["estimate"]
    assert estimate["seconds"] >= estimate["latency_s"] >= 0.02


def test_it_records_how_many_pairs_it_has_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fault_server() as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        _, stored = judge(folder)
    assert (stored[-1]["judged"], stored[-1]["pairs"]) == (6, 6)  # recorded at the first question, then twice a second


def test_an_error_is_raised_and_not_recorded_as_progress(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_JUDGE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(AuditError, match=r"cannot be reached.*change its address"):
        judge(folder)


def test_a_release_may_be_loaded_into_another_data_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fault_server() as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        code, _ = judge(folder, "--load-into", str(folder / "elsewhere"))
    assert code == OK
    assert find_run(folder / "elsewhere" / "store", "again").manifest["judge"] == "judge"
    assert [path.stem for path in Settings().store_dir.glob("*.duckdb")] == [find_run(Settings().store_dir, "tiny").digest[:16]]


def test_sigterm_stops_a_job_as_ctrl_c_does_even_where_that_is_ignored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = find_run(Settings().store_dir, "tiny")
    with fault_server(delay_s=5) as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        job = request_judging(Settings(), JobRequest(run.digest, run.title, "all", 12, "all"))
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # what a server in the background hands on
        try:
            start_judging(Settings(), job)
        finally:
            signal.signal(signal.SIGINT, before)
        while not server.asked:
            time.sleep(0.05)
        os.kill(find_job(Settings(), job.name).pid, signal.SIGTERM)
        ends = time.monotonic() + 20
        while find_job(Settings(), job.name).active:
            assert time.monotonic() < ends
            time.sleep(0.05)
    assert find_job(Settings(), job.name).state is JobState.STOPPED
    assert "stopped" in (job.folder / "log").read_text().lower()


def test_without_a_store_the_figures_are_only_collected() -> None:
    progress = Progress()
    progress.update(phase="asking")
    assert progress.values == {"phase": "asking"}
