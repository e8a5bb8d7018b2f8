"""`audit stress run` on the folder that `audit stress build` wrote: estimated, run, killed, continued, loaded, measured."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from audit.metrics.stress import stress_curves
from audit.store.connection import open_store, rows
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.llm.real_server import MODEL
from tests.support.loading import load
from tests.support.stress import OPTIONS, Record, altered, document, instance

TESTS = ("standard", "sufficiency", "integration", "robustness")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    with fault_server(models=("judge-2",)) as server:
        for name, value in {"DATA_DIR": tmp_path / "data", "JUDGE_URL": server.url, "JUDGE_CONCURRENCY": 4}.items():
            monkeypatch.setenv(f"AUDIT_{name}", str(value))
        monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)
        yield server


def context(number: int, test: str) -> Record:
    """An instance of question `number` with two documents."""
    signal_document = document(f"d{number}", sub_question=f"How long in {number}?", sub_answer="3 days")
    other = altered(f"e{number}~") if test == "robustness" else document(f"x{number}", signal=False)
    return instance(f"q{number}", test, 50, signal_document, other)


def built(folder: Path, questions: int = 3, **changes: Any) -> Path:
    """What `audit stress build` writes: instances of each test and a manifest, and nothing else."""
    folder.mkdir()
    records = [context(number, test) | changes for test in TESTS for number in range(questions)]
    (folder / "stress_instances.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "manifest.json").write_text(json.dumps({"run_id": "built"}))
    return folder


def stress_run(folder: Path, *options: str) -> int:
    return main(["stress", "run", str(folder), *options])


def replies(folder: Path, system: str = "judge-2") -> dict[str, Record]:
    records = [json.loads(line) for line in (folder / "stress_replies.jsonl").read_text().splitlines()]
    return {record["instance_id"]: record for record in records if record["system_id"] == system}


def test_every_instance_is_asked_once_and_the_release_can_be_loaded(tmp_path, server, capsys):
    folder = built(tmp_path / "release")
    assert stress_run(folder) == 0
    assert "12 instances asked" in capsys.readouterr().out
    assert len(replies(folder)) == 12
    record = replies(folder)["q0-robustness-50"]
    assert {entry["document_id"] for entry in record["documents"]} == {"d0", "e0~"}
    assert {entry["call"] for entry in record["documents"]} <= {"factual", "wrong"}
    assert len(record["sub_answers"]) == 2
    assert record["choice"] in OPTIONS
    assert record["usage"]["prompt"].startswith("stress_robustness-1@")
    loaded = load(folder, tmp_path / "data")
    assert loaded.run.report["clean"]
    with open_store(loaded.run.path) as con:
        assert rows(con, "select count(*), count(choice) + count(*) filter (insufficient) from stress_replies") == [(12, 12)]
        assert rows(con, "select system_id, model, mode from systems") == [("judge-2", "judge-2", "retrieval")]
        assert set(stress_curves(con)["measure"]) >= {"accuracy", "noise_detection", "error_detection", "sub_f1"}


def test_the_same_command_again_asks_nothing_and_changes_nothing(tmp_path, server):
    folder = built(tmp_path / "release")
    stress_run(folder)
    asked, written = server.asked, (folder / "stress_replies.jsonl").read_bytes()
    assert stress_run(folder) == 0
    assert (server.asked, (folder / "stress_replies.jsonl").read_bytes()) == (asked, written)


def test_other_systems_and_other_instances_stay(tmp_path, server):
    folder = built(tmp_path / "release")
    assert stress_run(folder, "--readers", "oracle", "coin") == 0
    assert stress_run(folder, "--tests", "sufficiency", "--limit", "2") == 0
    assert set(replies(folder)) == {"q0-sufficiency-50", "q1-sufficiency-50"}
    assert stress_run(folder, "--tests", "standard", "--limit", "1", "--sizes", "2", "--shares", "50") == 0
    assert set(replies(folder)) == {"q0-sufficiency-50", "q1-sufficiency-50", "q0-standard-50"}
    assert len(replies(folder, "oracle")) == len(replies(folder, "coin")) == 12
    before = (folder / "stress_replies.jsonl").read_bytes()
    assert stress_run(folder, "--readers", "coin") == 0
    assert sorted((folder / "stress_replies.jsonl").read_bytes().splitlines()) == sorted(before.splitlines())


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("fault:prose", "no choice"), ("fault:null", "empty"), ("fault:length", "cut"), ("fault:422", "refused")],
)
def test_a_reply_that_cannot_be_read_is_counted_with_its_reason_and_costs_nothing_else(tmp_path, server, fault, reason, capsys):
    folder = built(tmp_path / "release")
    lines = (folder / "stress_instances.jsonl").read_text().splitlines()
    # The longest prompt is tried before all others, so the fault is in a short one
    records = [json.loads(line) for line in lines]
    records[0]["documents"][0]["text"] = fault
    records[-1]["documents"][0]["text"] = "A long text. " * 90
    (folder / "stress_instances.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert stress_run(folder) == 1
    record = replies(folder)["q0-standard-50"]
    assert (record["choice"], record["insufficient"], record["unread_reason"]) == (None, None, reason)
    output = capsys.readouterr().out
    assert "1 unreadable" in output
    assert f"{reason}: 1" in output
    assert sum(record.get("unread_reason") is None for record in replies(folder).values()) == 11


def test_a_document_that_occurs_twice_is_shown_once_and_told(tmp_path, server, capsys):
    folder = built(tmp_path / "release", questions=1, documents=[document("a"), document("a"), document("x", signal=False)])
    assert stress_run(folder, "--readers", "coin", "--tests", "sufficiency") == 1
    assert "line 2: document 'a' occurs twice. It was loaded once, in its first place." in capsys.readouterr().out
    assert [entry["document_id"] for entry in replies(folder, "coin")["q0-sufficiency-50"]["documents"]] == ["a", "x"]


def test_bad_instances_have_a_sentence_each_and_the_others_are_asked(tmp_path, server, capsys):
    folder = built(tmp_path / "release", questions=1)
    bad = [context(5, "standard") | {"gold": "Z"}, context(6, "standard") | {"signal_share": None}, context(0, "standard")]
    with (folder / "stress_instances.jsonl").open("a") as file:
        file.write("".join(json.dumps(record) + "\n" for record in bad) + "{half\n")
    assert stress_run(folder) == 1
    output = capsys.readouterr().out
    assert "4 instances were left out:" in output
    for words in (
        "line 5: its gold 'Z' is not an option. Options: A, B.", "line 6: field 'signal_share' is empty",
        "line 7: instance_id 'q0-standard-50' occurs earlier", "line 8: ",
    ):  # fmt: skip
        assert words in output
    assert len(replies(folder)) == 4


def stored_keys(folder: Path) -> set[str]:
    """The calls whose replies are in the journal of the release in `folder`."""
    path = folder / "release.stress.judge-2.journal"
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as con:
        return {key for (key,) in con.execute("select key from replies")}
    return set()


@pytest.mark.slow
def test_after_a_kill_it_continues_without_asking_again_and_the_result_is_the_same(tmp_path, server):
    whole = built(tmp_path / "whole", questions=12)
    assert stress_run(whole) == 0
    folder = built(tmp_path / "release", questions=12)
    server.delay_s = 0.03
    for enough in (4, 16, 28, 40):  # in each of the four tests
        process = subprocess.Popen(
            [sys.executable, "-m", "audit", "stress", "run", str(folder)], env=os.environ.copy(), stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 30
        while len(stored_keys(tmp_path)) < enough and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert not (folder / "stress_replies.jsonl").exists()
    stored = stored_keys(tmp_path)
    asked = {key: server.keys[key] for key in stored}
    assert 40 <= len(stored) < 48
    assert stress_run(folder) == 0
    assert {key: server.keys[key] for key in stored} == asked
    without = {name: {key: value for key, value in record.items() if key != "usage"} for name, record in replies(folder).items()}
    assert without == {
        name: {key: value for key, value in record.items() if key != "usage"} for name, record in replies(whole).items()
    }


def test_a_dry_run_counts_and_writes_nothing(tmp_path, server, capsys):
    folder = built(tmp_path / "release")
    before = sorted(tmp_path.rglob("*"))
    assert stress_run(folder, "--dry-run", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["instances"], [stage["calls"] for stage in result["stages"]]) == (12, [3, 3, 3, 3])
    assert "questions, options and 9 documents" in result["sends"]
    assert stress_run(folder, "--dry-run", "--readers", "all") == 0
    assert "5 readers without a model, 12 instances each: no call, no cost." in capsys.readouterr().out
    assert sorted(tmp_path.rglob("*")) == before
    assert server.asked == 0


def test_the_calls_can_be_made_on_a_cluster(tmp_path, server, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", "judge-2")
    folder = built(tmp_path / "release")
    assert stress_run(folder, "--emit-batch", str(tmp_path / "batch"), "--shards", "2") == 0
    assert "3 requests of stage 'standard' in 2 shards, complete questions in each." in capsys.readouterr().out
    assert server.asked == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [(["--sizes", "7"], "has no instance of these tests"), (["--templates", "{missing}"], "does not contain a template")],
)
def test_nothing_to_ask_is_said_before_anything_is_asked(tmp_path, server, options, sentence, capsys):
    folder = built(tmp_path / "release")
    assert stress_run(folder, *(option.format(missing=tmp_path) for option in options)) == 2
    assert sentence in capsys.readouterr().err
    assert stress_run(tmp_path / "data") == 2
    assert "has no stress_instances.jsonl" in capsys.readouterr().err
    assert server.asked == 0


def test_a_damaged_earlier_reply_stops_it_before_anything_is_asked(tmp_path, server, capsys):
    folder = built(tmp_path / "release")
    stress_run(folder, "--readers", "coin")
    with (folder / "stress_replies.jsonl").open("a") as file:
        file.write("{half\n")
    before = (folder / "stress_replies.jsonl").read_bytes()
    assert stress_run(folder) == 2
    assert "the record would be lost" in capsys.readouterr().err
    assert ((folder / "stress_replies.jsonl").read_bytes(), server.asked) == (before, 0)


def test_a_real_server_replies_at_chance(tmp_path, real_judge, monkeypatch):
    """The answers of a random model are noise: accuracy and detection must have chance inside their intervals."""
    for name, value in {"DATA_DIR": tmp_path / "data", "JUDGE_URL": real_judge, "JUDGE_MODEL": MODEL}.items():
        monkeypatch.setenv(f"AUDIT_{name}", str(value))
    folder = built(tmp_path / "release", questions=40)
    # Half of the golds are B and half of the signal stands second: always one letter, or always one place, is at chance too
    records = [json.loads(line) for line in (folder / "stress_instances.jsonl").read_text().splitlines()]
    for record in records:
        number = int(record["question_id"][1:])
        record["gold"], record["documents"] = "AB"[number % 2], record["documents"][:: 1 if number % 4 < 2 else -1]
    (folder / "stress_instances.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert stress_run(folder, "--tests", "standard", "sufficiency") in (0, 1)
    table = stress_curves(open_store(load(folder, tmp_path / "data").run.path)).set_index(["test", "measure"])
    assert table.loc[("standard", "unread"), "of"] == 40
    accuracy, detection = table.loc[("standard", "accuracy")], table.loc[("sufficiency", "noise_detection")]
    assert accuracy["value_low"] <= 0.5 <= accuracy["value_high"]
    assert detection["value_low"] <= 0.5 <= detection["value_high"]
    assert accuracy["of"] + accuracy["unread"] == 40


# -- grading -------------------------------------------------------------------------------------------------------------


def test_short_answers_are_graded_once_and_exact_ones_without_a_call(tmp_path, server, capsys):
    folder = built(tmp_path / "release")
    stress_run(folder, "--readers", "oracle", "coin")
    capsys.readouterr()
    assert main(["stress", "grade", str(folder), "--dry-run", "--json"]) == 0
    # "3 days" is right; the coin also says "9 days" where an error was planted, and "unknown" elsewhere
    estimated = json.loads(capsys.readouterr().out)
    assert server.asked == 0
    assert main(["stress", "grade", str(folder), "--systems", "coin"]) == 0
    assert "0 unreadable, 0 not asked" in capsys.readouterr().out
    asked = server.asked
    users = {body["messages"][-1]["content"] for body in server.bodies}
    prompts = [user for user in users if "<right_answer>" in user]
    assert estimated["stages"][0]["calls"] == estimated["answers"] - estimated["exact"] == len(prompts) == 2
    graded = [entry for record in replies(folder, "coin").values() for entry in record["sub_answers"]]
    assert {entry["score"] for entry in graded if entry["answer"] == "3 days"} <= {1.0}
    assert all(entry["score"] in (0, 0.5, 1) for entry in graded)
    assert not any("score" in entry for record in replies(folder, "oracle").values() for entry in record["sub_answers"])
    loaded = load(folder, tmp_path / "data")
    assert loaded.run.report["clean"]
    with open_store(loaded.run.path) as con:
        assert set(stress_curves(con).query("measure == 'sub_score'")["system_id"]) == {"coin"}
        assert rows(con, "select settings ->> 'graded_by' from systems where system_id = 'coin'") == [("judge-2",)]
    assert main(["stress", "grade", str(folder), "--systems", "coin"]) == 0
    assert server.asked == asked


@pytest.mark.parametrize(
    ("options", "sentence"), [(["--systems", "coyn"], "Did you mean 'coin'?"), ([], "has no answer that can be graded")]
)
def test_nothing_to_grade_is_said_before_anything_is_asked(tmp_path, server, options, sentence, capsys):
    folder = built(tmp_path / "release")
    stress_run(folder, "--readers", "coin" if options else "insufficient")
    assert main(["stress", "grade", str(folder), *options]) == 2
    assert sentence in capsys.readouterr().err
    assert server.asked == 0


def test_a_grade_that_cannot_be_read_counts_nowhere(tmp_path, server, capsys):
    folder = built(tmp_path / "release", questions=1)
    stress_run(folder, "--readers", "oracle")
    lines = [json.loads(line) for line in (folder / "stress_replies.jsonl").read_text().splitlines()]
    for record, answer in zip((one for one in lines if one["sub_answers"]), ("fault:prose", "Half of that."), strict=True):
        record["sub_answers"] = [entry | {"answer": answer} for entry in record["sub_answers"][:1]]
    (folder / "stress_replies.jsonl").write_text("".join(json.dumps(record) + "\n" for record in lines))
    assert main(["stress", "grade", str(folder)]) == 1
    assert "2 different answers: 0 exact, 1 graded, 1 unreadable, 0 not asked." in capsys.readouterr().out
    scores = [entry["score"] for record in replies(folder, "oracle").values() for entry in record["sub_answers"]]
    assert sorted(scores, key=str) == sorted([None, *(score for score in scores if score is not None)], key=str)
    assert scores.count(None) == 1


def test_answers_to_open_questions_are_graded_and_declining_has_nothing(tmp_path, server):
    folder = built(tmp_path / "release", questions=2, options={}, gold="3 days")
    assert stress_run(folder, "--tests", "standard", "sufficiency") == 0
    stress_run(folder, "--readers", "insufficient", "--tests", "standard")
    assert main(["stress", "grade", str(folder)]) == 0
    graded = replies(folder)
    assert all(record["score"] in (0, 0.5, 1) for record in graded.values() if record["choice"])
    loaded = load(folder, tmp_path / "data")
    assert loaded.run.report["clean"]
    with open_store(loaded.run.path) as con:
        curves = stress_curves(con).query("measure == 'open_score' and test == 'standard'").set_index("system_id")
    assert curves.loc["judge-2", "value"] == pytest.approx(sum(graded[f"q{n}-standard-50"]["score"] for n in (0, 1)) / 2)
    assert (curves.loc["insufficient", "value"], curves.loc["insufficient", "of"]) == (0, 2)
