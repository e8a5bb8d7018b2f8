"""`audit stress run` on the folder that `audit stress build` wrote: estimated, run, killed, continued, loaded, measured."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.metrics.stress import stress_curves
from audit.store.connection import open_store, rows
from tests.support.forked import Python
from tests.support.llm.real_server import MODEL
from tests.support.loading import load
from tests.support.stress import OPTIONS, built_release, document, replies_in, stress_context


def stress_run(folder: Path, *options: str) -> int:
    return main(["stress", "run", str(folder), *options])


def test_every_instance_is_asked_once_and_the_release_can_be_loaded(tmp_path, model_server, capsys):
    folder = built_release(tmp_path / "release")
    assert stress_run(folder) == 0
    assert "12 instances asked" in capsys.readouterr().out
    assert len(replies_in(folder)) == 12
    assert model_server.unrecorded(folder) == set()
    record = replies_in(folder)["q0-robustness-50"]
    assert {entry["document_id"] for entry in record["documents"]} == {"d0", "e0~"}
    assert {entry["call"] for entry in record["documents"]} <= {"factual", "wrong"}
    assert len(record["sub_answers"]) == 2
    # 0: none of them
    assert {entry.get("read_from") for entry in record["sub_answers"]} <= {"d0", "e0~", None}
    assert record["choice"] in OPTIONS
    assert record["usage"]["prompt"].startswith("stress_robustness-2@")
    loaded = load(folder, tmp_path / "data")
    assert loaded.run.report["clean"]
    with open_store(loaded.run.path) as con:
        assert rows(con, "select count(*), count(choice) + count(*) filter (insufficient) from stress_replies") == [(12, 12)]
        assert rows(con, "select system_id, model, mode from systems") == [("judge-2", "judge-2", "retrieval")]
        assert set(stress_curves(con)["measure"]) >= {"accuracy", "noise_detection", "error_detection", "sub_f1"}


def test_the_preset_has_its_own_instructions_and_the_reasons_after_the_calls(tmp_path, model_server):
    folder = built_release(tmp_path / "release")
    assert stress_run(folder, "--preset", "medrgb") == 0
    prompts = {record["test"]: replies_in(folder)[record["instance_id"]]["usage"]["prompt"] for record in instances_of(folder)}
    assert {test: name.partition("-1@")[0].partition("-2@")[0] for test, name in prompts.items()} == {
        "standard": "stress_standard", "sufficiency": "medrgb_sufficiency", "integration": "medrgb_integration",
        "robustness": "medrgb_robustness",
    }  # fmt: skip
    schemas = [body["response_format"]["json_schema"]["schema"] for body in model_server.bodies]
    orders = {tuple(schema["properties"]) for schema in schemas if schema.get("title") == "robustness"}
    assert orders == {("documents", "sub_answers", "reasoning", "choice")}


def test_readers_have_no_preset(tmp_path, capsys):
    assert stress_run(built_release(tmp_path / "release"), "--readers", "coin", "--preset", "medrgb") == 2
    assert "Readers without a model have no prompts" in capsys.readouterr().err


def instances_of(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "stress_instances.jsonl").read_text().splitlines()]


def test_the_same_command_again_asks_nothing_and_changes_nothing(tmp_path, model_server):
    folder = built_release(tmp_path / "release")
    stress_run(folder)
    asked, written = model_server.asked, (folder / "stress_replies.jsonl").read_bytes()
    assert stress_run(folder) == 0
    assert (model_server.asked, (folder / "stress_replies.jsonl").read_bytes()) == (asked, written)


def test_other_systems_and_other_instances_stay(tmp_path, model_server):
    folder = built_release(tmp_path / "release")
    assert stress_run(folder, "--readers", "oracle", "coin") == 0
    assert stress_run(folder, "--tests", "sufficiency", "--limit", "2") == 0
    assert set(replies_in(folder)) == {"q0-sufficiency-50", "q1-sufficiency-50"}
    assert stress_run(folder, "--tests", "standard", "--limit", "1", "--sizes", "2", "--shares", "50") == 0
    assert set(replies_in(folder)) == {"q0-sufficiency-50", "q1-sufficiency-50", "q0-standard-50"}
    assert len(replies_in(folder, "oracle")) == len(replies_in(folder, "coin")) == 12
    before = (folder / "stress_replies.jsonl").read_bytes()
    assert stress_run(folder, "--readers", "coin") == 0
    assert sorted((folder / "stress_replies.jsonl").read_bytes().splitlines()) == sorted(before.splitlines())


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("fault:prose", "no choice"), ("fault:null", "empty"), ("fault:length", "cut"), ("fault:422", "refused")],
)
def test_a_reply_that_cannot_be_read_is_counted_with_its_reason_and_costs_nothing_else(
    tmp_path, model_server, fault, reason, capsys
):
    folder = built_release(tmp_path / "release")
    lines = (folder / "stress_instances.jsonl").read_text().splitlines()
    # The longest prompt is tried before all others, so the fault is in a short one
    records = [json.loads(line) for line in lines]
    records[0]["documents"][0]["text"] = fault
    records[-1]["documents"][0]["text"] = "A long text. " * 90
    (folder / "stress_instances.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert stress_run(folder) == 1
    record = replies_in(folder)["q0-standard-50"]
    assert (record["choice"], record["insufficient"], record["unread_reason"]) == (None, None, reason)
    output = capsys.readouterr().out
    assert "1 unreadable" in output
    assert f"{reason}: 1" in output
    assert sum(record.get("unread_reason") is None for record in replies_in(folder).values()) == 11


def test_a_document_that_occurs_twice_is_shown_once_and_told(tmp_path, model_server, capsys):
    folder = built_release(
        tmp_path / "release", questions=1, documents=[document("a"), document("a"), document("x", signal=False)]
    )
    assert stress_run(folder, "--readers", "coin", "--tests", "sufficiency") == 1
    assert "line 2: document 'a' occurs twice. Only the first was loaded." in capsys.readouterr().out
    assert [entry["document_id"] for entry in replies_in(folder, "coin")["q0-sufficiency-50"]["documents"]] == ["a", "x"]


def test_bad_instances_have_a_sentence_each_and_the_others_are_asked(tmp_path, model_server, capsys):
    folder = built_release(tmp_path / "release", questions=1)
    bad = [
        stress_context(5, "standard") | {"gold": "Z"},
        stress_context(6, "standard") | {"signal_share": None},
        stress_context(0, "standard"),
    ]
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
    assert len(replies_in(folder)) == 4


def stored_keys(folder: Path) -> set[str]:
    """The calls whose replies are in the journal of the release in `folder`."""
    path = folder / "release.stress.judge-2.journal"
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as con:
        return {key for (key,) in con.execute("select key from replies")}
    return set()


@pytest.mark.slow
def test_after_a_kill_it_continues_without_asking_again_and_the_result_is_the_same(tmp_path, model_server):
    whole = built_release(tmp_path / "whole", questions=12)
    assert stress_run(whole) == 0
    folder = built_release(tmp_path / "release", questions=12)
    model_server.delay_s = 0.03
    for enough in (4, 16, 28, 40):  # in each of the four tests
        process = Python(
            [sys.executable, "-m", "audit", "stress", "run", str(folder)], env=os.environ.copy(), stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 30
        while len(stored_keys(tmp_path)) < enough and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert not (folder / "stress_replies.jsonl").exists()
    stored = stored_keys(tmp_path)
    asked = {key: model_server.keys[key] for key in stored}
    assert 40 <= len(stored) < 48
    assert stress_run(folder) == 0
    assert {key: model_server.keys[key] for key in stored} == asked
    without = {
        name: {key: value for key, value in record.items() if key != "usage"} for name, record in replies_in(folder).items()
    }
    assert without == {
        name: {key: value for key, value in record.items() if key != "usage"} for name, record in replies_in(whole).items()
    }


def test_a_dry_run_counts_and_writes_nothing(tmp_path, model_server, capsys):
    folder = built_release(tmp_path / "release")
    before = sorted(tmp_path.rglob("*"))
    assert stress_run(folder, "--dry-run", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["instances"], [stage["calls"] for stage in result["stages"]]) == (12, [3, 3, 3, 3])
    assert "questions, options and 9 documents" in result["sends"]
    assert stress_run(folder, "--dry-run", "--readers", "all") == 0
    assert "5 readers without a model, 12 instances each: no call, no cost." in capsys.readouterr().out
    assert sorted(tmp_path.rglob("*")) == before
    assert model_server.asked == 0


def test_the_calls_can_be_made_on_a_cluster(tmp_path, model_server, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", "judge-2")
    folder = built_release(tmp_path / "release")
    assert stress_run(folder, "--emit-batch", str(tmp_path / "batch"), "--shards", "2") == 0
    assert "3 requests of stage 'standard' in 2 shards, complete questions in each." in capsys.readouterr().out
    assert model_server.asked == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [(["--sizes", "7"], "has no instance of these tests"), (["--templates", "{missing}"], "does not contain a template")],
)
def test_nothing_to_ask_is_said_before_anything_is_asked(tmp_path, model_server, options, sentence, capsys):
    folder = built_release(tmp_path / "release")
    assert stress_run(folder, *(option.format(missing=tmp_path) for option in options)) == 2
    assert sentence in capsys.readouterr().err
    assert stress_run(tmp_path / "data") == 2
    assert "has no stress_instances.jsonl" in capsys.readouterr().err
    assert model_server.asked == 0


def test_a_damaged_earlier_reply_stops_it_before_anything_is_asked(tmp_path, model_server, capsys):
    folder = built_release(tmp_path / "release")
    stress_run(folder, "--readers", "coin")
    with (folder / "stress_replies.jsonl").open("a") as file:
        file.write("{half\n")
    before = (folder / "stress_replies.jsonl").read_bytes()
    assert stress_run(folder) == 2
    assert "the record would be lost" in capsys.readouterr().err
    assert ((folder / "stress_replies.jsonl").read_bytes(), model_server.asked) == (before, 0)


def test_a_real_server_replies_at_chance(tmp_path, real_judge, monkeypatch):
    """The answers of a random model are noise: accuracy and detection must have chance inside their intervals."""
    for name, value in {"DATA_DIR": tmp_path / "data", "JUDGE_URL": real_judge, "JUDGE_MODEL": MODEL}.items():
        monkeypatch.setenv(f"AUDIT_{name}", str(value))
    folder = built_release(tmp_path / "release", questions=40)
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
