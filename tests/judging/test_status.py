"""What `audit judge --progress FILE` says to whoever watches: how far it is, what it would cost, and how it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.cli.judge_status import Status
from audit.cli.main import main
from audit.settings import Settings
from audit.store.runs import find_run
from tests.support.llm.fault_server import fault_server
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent
    q2 general ab=UNSCORED        ac=ABSENT  bc=CONTRADICTORY      d=absent
"""
"""Six pairs for a judge, and six that are ABSENT without asking."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    load(release_from(tmp_path, TABLE), tmp_path / "data")
    return tmp_path


def judge(folder: Path, *options: str) -> int:
    return main(["judge", "tiny", "--out", str(folder / "again"), "--progress", str(folder / "told.json"), *options])


def told(folder: Path) -> dict:
    return dict(json.loads((folder / "told.json").read_text()))


def test_at_the_end_it_says_what_became_of_the_pairs(folder, monkeypatch):
    with fault_server() as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        assert judge(folder) == 0
    found = told(folder)
    assert (found["phase"], found["code"]) == ("ended", 0)
    assert (found["stage"], found["calls"], found["done"], found["answered"]) == ("structured", 6, 6, 6)
    assert (found["judged"], found["prescreened"], found["not_asked"], found["unscored"]) == (6, 6, 0, {})


def test_an_estimate_counts_calls_tokens_and_pairs_without_a_call(folder):
    assert judge(folder, "--dry-run") == 0
    found = told(folder)["estimate"]
    assert (found["pairs"], found["without_call"], found["seconds"]) == (12, 6, None)
    assert [(stage["stage"], stage["calls"]) for stage in found["stages"]] == [("structured", 6)]
    assert found["stages"][0]["prompt_tokens"] > found["stages"][0]["reply_tokens"] == 6 * 130


def test_an_untried_estimate_asks_the_endpoint_nothing_and_one_on_trial_gives_the_time(folder, monkeypatch):
    with fault_server(delay_s=0.02) as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        assert judge(folder, "--dry-run", "--untried") == 0
        assert (server.asked, told(folder)["estimate"]["seconds"]) == (0, None)
        assert judge(folder, "--dry-run") == 0
        assert server.asked > 0
    assert told(folder)["estimate"]["seconds"] == pytest.approx(6 * told(folder)["estimate"]["latency_s"] / 64)


def test_the_baseline_says_how_many_pairs_it_has_handed_over(folder):
    assert judge(folder, "--baseline") == 0
    assert (told(folder)["judged"], told(folder)["pairs"]) == (6, 6)  # said at the first question, and then twice a second


def test_an_error_is_its_last_word(folder, monkeypatch):
    monkeypatch.setenv("AUDIT_JUDGE_URL", "http://127.0.0.1:9/v1")
    assert judge(folder) == 2
    assert told(folder)["code"] == 2
    assert "cannot be reached" in told(folder)["said"]
    assert "AUDIT_JUDGE_URL" in told(folder)["said"]


def test_a_release_may_be_loaded_into_another_data_folder(folder):
    assert judge(folder, "--baseline", "--load-into", str(folder / "elsewhere")) == 0
    assert find_run(folder / "elsewhere" / "store", "again").manifest["judge"] == "baseline judge (rules, no model)"
    assert [path.stem for path in Settings().store_dir.glob("*.duckdb")] == [find_run(Settings().store_dir, "tiny").digest[:16]]


def test_sigterm_stops_it_as_ctrl_c_does_even_where_that_is_ignored(folder, monkeypatch):
    with fault_server(delay_s=5) as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        options = ["tiny", "--out", str(folder / "again"), "--progress", str(folder / "told.json")]
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            process = subprocess.Popen([sys.executable, "-m", "audit", "judge", *options], stderr=subprocess.PIPE, text=True)
        finally:
            signal.signal(signal.SIGINT, before)
        while not server.asked:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGTERM)
        _, words = process.communicate(timeout=20)
    assert process.returncode == 2
    assert told(folder)["phase"] == "ended"
    assert "stopped" in words.lower()


def test_without_a_file_nothing_is_written(folder):
    Status().tell(phase="asking")
    assert not (folder / "told.json").exists()
