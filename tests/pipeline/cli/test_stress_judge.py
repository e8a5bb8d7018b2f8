"""`audit stress judge` on a release and on a run: by a server, killed and continued, loaded with the release."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from audit.release.write import write_release
from audit.store.connection import open_store, rows
from tests.pipeline.stress.planted.pairs import LONG, OTHER
from tests.support.forked import Python
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.loading import load, messages

LABELS = ("CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")
CENTERS = ("alder", "birch", "cedar")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    with fault_server(models=("judge-2",)) as server:
        for name, value in {"DATA_DIR": tmp_path / "data", "JUDGE_URL": server.url, "JUDGE_CONCURRENCY": 4}.items():
            monkeypatch.setenv(f"AUDIT_{name}", str(value))
        monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)
        yield server


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return planted_release(tmp_path / "release")


def planted_release(folder: Path, questions: int = 8, first: str = "") -> Path:
    """Alder and another handbook answer each question, and the judge's labels take turns; `first` begins Alder's answers."""
    names = [f"q{number}" for number in range(questions)]
    other = {name: "cedar" if name == "q0" else "birch" for name in names}
    texts = {(name, "alder"): f"{first}{LONG}" for name in names} | {(name, other[name]): OTHER for name in names}
    return write_release(
        folder,
        manifest={"run_id": "small", "title": "Small", "judge": "somebody"},
        handbooks=[{"handbook_id": name, "organ": "kidney", "center": name.title(), "phase": "post"} for name in CENTERS],
        questions=[{"question_id": name, "question": f"When may I travel abroad ({name})?", "organ": "kidney"} for name in names],
        answers=[{"question_id": name, "handbook_id": book, "answer": text} for (name, book), text in texts.items()],
        comparisons=[
            {
                "question_id": name, "handbooks": ["alder", other[name]], "pairs": [{
                    "handbook_a": "alder", "handbook_b": other[name], "classification": LABELS[number % 4], "reasoning": "Read.",
                }],
            }
            for number, name in enumerate(names)
        ],
    )  # fmt: skip


def stress(source: Path | str, *options: str) -> int:
    return main(["stress", "judge", str(source), "--items", "4", *options])


def items(folder: Path, judge: str | None = None) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in (folder / "planted.jsonl").read_text().splitlines()]
    return [record for record in records if judge in (None, record["judge"])]


def test_two_models_are_asked_about_the_same_changes_which_load_with_the_release(release, server, tmp_path, monkeypatch):
    server.models = ("judge-1", "judge-2")
    for name in server.models:
        monkeypatch.setenv("AUDIT_JUDGE_MODEL", name)
        assert stress(release) == 0
        assert server.unrecorded(release) == set()
        (tmp_path / "release.planted.journal").unlink()
    first, second = ({record["item_id"] for record in items(release, name)} for name in server.models)
    assert first == second
    loaded = load(release, tmp_path / "data")
    with open_store(loaded.run.path) as con:
        counted = rows(con, "select judge, count(*), count(distinct kind) from planted group by judge order by judge")
    assert counted == [("judge-1", len(first), 10), ("judge-2", len(first), 10)]
    assert messages(loaded, "quarantined") == messages(loaded, "repaired") == []


def test_the_same_command_again_asks_nothing_and_changes_nothing(release, server):
    stress(release)
    asked, written = server.asked, (release / "planted.jsonl").read_bytes()
    assert stress(release) == 0
    assert (server.asked, (release / "planted.jsonl").read_bytes()) == (asked, written)


def test_after_a_kill_it_continues_with_equal_results(tmp_path, server):
    release = planted_release(tmp_path / "release", 24)
    whole = planted_release(tmp_path / "whole", 24)
    assert stress(whole) == 0
    server.keys.clear()
    server.delay_s = 0.05
    command = [sys.executable, "-m", "audit", "stress", "judge", str(release), "--items", "4"]
    before = server.asked
    process = Python(command, env=os.environ.copy())
    deadline = time.monotonic() + 30
    while server.asked < before + 20 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    server.delay_s = 0
    with sqlite3.connect(tmp_path / "release.planted.journal") as con:
        stored = {key for (key,) in con.execute("select key from replies")}
    asked = {key: server.keys[key] for key in stored}
    assert len(stored) >= 5
    assert not (release / "planted.jsonl").exists()
    assert stress(release) == 0
    assert {key: server.keys[key] for key in stored} == asked
    labels = [
        [(record["item_id"], record["label_before"], record["label"]) for record in items(folder)] for folder in (release, whole)
    ]
    assert labels[0] == labels[1]


def test_a_run_needs_a_folder_to_write_to(release, server, tmp_path, capsys):
    load(release, tmp_path / "data")
    assert stress("small") == 2
    assert "name the folder for planted.jsonl with --out" in capsys.readouterr().err
    assert stress("small", "--out", str(tmp_path / "apart"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["judged"] == len(items(tmp_path / "apart"))
    assert stress(release) == 0
    asked = [[(record["item_id"], record["label"]) for record in items(folder)] for folder in (tmp_path / "apart", release)]
    assert asked[0] == asked[1]


def test_a_dry_run_counts_and_writes_nothing(release, server, tmp_path, capsys):
    before = sorted(tmp_path.rglob("*"))
    assert stress(release, "--dry-run", "--json", "--kinds", "swap", "amount") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["items"], result["kinds"]) == (8, {"amount": 4, "swap": 4})
    assert 8 <= result["stages"][0]["calls"] <= 16
    assert sorted(tmp_path.rglob("*")) == before
    assert server.asked == 0


def test_the_label_alone_can_be_asked_for(release, server):
    assert stress(release, "--protocol", "label_only", "--kinds", "swap") == 0
    assert all(record["label"] and record["reasoning"] is None for record in items(release))


def test_a_reply_that_cannot_be_read_leaves_the_item_without_a_label(tmp_path, server, capsys):
    release = planted_release(tmp_path / "release", 8, first="fault:prose ")
    assert stress(release, "--kinds", "order", "padding") == 1
    assert {record["unscored_reason"] for record in items(release) if record["label"] is None} == {"no label"}
    assert "no label, no label:" in capsys.readouterr().out


def test_a_release_without_two_answers_to_compare_has_nothing_to_plant(tmp_path, server, capsys):
    folder = planted_release(tmp_path / "release")
    (folder / "answers.jsonl").unlink()
    assert stress(folder) == 2
    assert "has no pair of two answers with a label" in capsys.readouterr().err


def test_a_file_that_cannot_all_be_read_is_not_written_again(release, server, capsys):
    (release / "planted.jsonl").write_text("{broken\n")
    assert stress(release) == 2
    assert "Nothing was written" in capsys.readouterr().err
    assert server.asked == 0


def test_the_calls_can_be_made_on_a_cluster(release, server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", "judge-2")
    assert stress(release, "--kinds", "swap", "--emit-batch", str(tmp_path / "batch"), "--shards", "2") == 0
    # Four pairs, each in both orders
    assert "8 requests of stage 'structured' in 2 shards, complete questions in each." in capsys.readouterr().out
    assert server.asked == 0
    assert stress(release, "--kinds", "swap", "--collect", str(tmp_path / "batch")) == 1
    assert "Stage 'structured' has 8 open requests." in capsys.readouterr().out
    assert not (release / "planted.jsonl").exists()
