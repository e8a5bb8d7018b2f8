"""`audit stress build`: by rules and by a model, estimated, killed, continued, and refused with a sentence."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from tests.support.forked import Python
from tests.support.llm import fault_server as servers
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.llm.fitting import answer
from tests.support.llm.real_server import MODEL

CONCLUSION = "Therefore the tablets work."


def model_answer(body: dict[str, Any]) -> str:
    """What a careful model replies: the length of time in the document, and another one; unusable on part 2 of a question."""
    user = body["messages"][-1]["content"]
    length = re.search(r"\d+ weeks", user)
    if length is None:  # the trial calls before a run
        return answer(body)
    if body["response_format"]["json_schema"]["name"] == "counterfactual":
        return json.dumps({"reasoning": "", "false_answer": "2 years", "before": length.group(), "after": "2 years"})
    words = "a year" if "part 2" in user else length.group()
    return json.dumps({"reasoning": "", "sub_question": "How long were they taken?", "answer": words})


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setattr(servers, "answer", model_answer)
    with fault_server(models=("builder",)) as server:
        for name, value in {"DATA_DIR": tmp_path / "data", "JUDGE_URL": server.url, "JUDGE_CONCURRENCY": 4}.items():
            monkeypatch.setenv(f"AUDIT_{name}", str(value))
        monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)
        yield server


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "set.jsonl", 12)


def write_questions(path: Path, count: int) -> Path:
    """Questions with three documents each, and a conclusion that nobody may see."""
    records = []
    for number in range(count):
        texts = [f"Group {number} in part {part} took the tablets for {number + 20} weeks." for part in range(3)]
        documents = [{"document_id": f"d{number}-{part}", "text": text} for part, text in enumerate(texts)]
        records.append({
            "question_id": f"q{number}", "question": f"Did group {number} improve?", "options": {"A": "yes", "B": "no"},
            "answer": "B", "documents": documents, "conclusion": CONCLUSION,
        })  # fmt: skip
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def stress_build(source: Path, out: Path, *options: str) -> int:
    return main(["stress", "build", str(source), "--out", str(out), *options])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def instances(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "stress_instances.jsonl").read_text().splitlines()]


def test_rules_build_all_tests_and_the_manifest_counts_them(source, tmp_path, capsys):
    assert stress_build(source, tmp_path / "out") == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["instances"] == len(instances(tmp_path / "out")) == 12 * (3 + 12 + 10 + 12)
    assert (manifest["questions"], manifest["signal_documents"], manifest["documents_with_fact"]) == (12, 36, 36)
    assert manifest["facts"] == "rules"
    assert len(manifest["contexts"]) == 3 + 12 + 10 + 12
    assert CONCLUSION.encode() not in b"".join(contents(tmp_path / "out").values())
    assert "444 instances:" in capsys.readouterr().out


def test_the_same_command_and_another_order_of_lines_give_the_same_instances(source, tmp_path):
    stress_build(source, tmp_path / "first")
    stress_build(source, tmp_path / "second")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    source.write_text("".join(reversed(source.read_text().splitlines(keepends=True))))
    stress_build(source, tmp_path / "third")
    name = "stress_instances.jsonl"
    assert contents(tmp_path / "third")[name] == contents(tmp_path / "first")[name]


def test_a_dry_run_counts_and_writes_nothing(source, tmp_path, capsys):
    before = sorted(tmp_path.rglob("*"))
    options = ("--tests", "sufficiency", "robustness", "--shares", "0", "60", "--limit", "5", "--dry-run", "--json")
    assert stress_build(source, tmp_path / "out", *options) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["instances"], result["questions"]) == (2 * (2 * 2) * 5, 5)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_model_writes_sub_questions_and_errors_and_what_cannot_be_used_is_counted(source, server, tmp_path, capsys):
    assert stress_build(source, tmp_path / "out", "--facts", "model") == 1
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["documents_with_fact"], manifest["edits"], manifest["model"]) == (24, {"model": 24}, "builder")
    assert manifest["left_out"]["answer not in the document"]["count"] == 12
    edited = [one for item in instances(tmp_path / "out") for one in item["documents"] if not one["is_factual"]]
    assert edited
    assert all("2 years" in one["text"] and one["false_answer"] == "2 years" for one in edited)
    assert all(CONCLUSION not in json.dumps(body) for body in server.bodies)
    assert "24 documents have a sub-question and an edited copy (model 24)." in capsys.readouterr().out


def test_an_estimate_for_a_model_counts_both_stages(source, server, tmp_path, capsys):
    assert stress_build(source, tmp_path / "out", "--facts", "model", "--dry-run", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert [stage["calls"] for stage in result["stages"]] == [36, 36]
    assert server.asked == 0


@pytest.mark.slow
def test_after_a_kill_it_continues_without_asking_again_and_gives_the_same_bytes(server, tmp_path):
    source = write_questions(tmp_path / "set.jsonl", 20)
    stress_build(source, tmp_path / "whole", "--facts", "model")
    server.delay_s = 0.03
    command = [sys.executable, "-m", "audit", "stress", "build", str(source), "--out", str(tmp_path / "out"), "--facts", "model"]
    before = server.asked
    process = Python(command, env=os.environ.copy())
    deadline = time.monotonic() + 30
    while server.asked < before + 25 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "out").exists()
    with sqlite3.connect(tmp_path / "out.journal") as con:
        stored = {key for (key,) in con.execute("select key from replies")}
    asked = {key: server.keys[key] for key in stored}
    assert 10 <= len(stored) < 100
    server.delay_s = 0.0
    assert stress_build(source, tmp_path / "out", "--facts", "model") == 1
    assert {key: server.keys[key] for key in stored} == asked
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--emit-batch", "batch"], "Rules make no calls"),
        (["--documents", "missing.jsonl"], "there is no such file"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_written(source, tmp_path, monkeypatch, options, sentence, capsys):
    monkeypatch.chdir(tmp_path)
    assert stress_build(source, tmp_path / "out", *options) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_with_files_is_refused_and_stays(source, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    assert stress_build(source, tmp_path / "out") == 2
    assert "is not an empty folder" in capsys.readouterr().err
    assert contents(tmp_path / "out") == {"mine.txt": b"mine"}


def test_a_real_server_obeys_the_schema_and_what_it_makes_up_is_in_no_context(source, real_judge, tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AUDIT_JUDGE_URL", real_judge)
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", MODEL)
    # A model with random weights: its answers stand in no document
    assert stress_build(source, tmp_path / "out", "--facts", "model", "--limit", "1") == 1
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    left_out = manifest["left_out"]
    unusable = [left_out.get(name, {"count": 0})["count"] for name in ("answer not in the document", "sub-question not readable")]
    assert (manifest["documents_with_fact"], sum(unusable)) == (0, 3)
    assert {one["test"] for one in instances(tmp_path / "out")} == {"standard", "sufficiency"}
