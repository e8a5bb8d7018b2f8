"""`audit generate` from files to files: by quoting, by a model at a server, killed and gone on with, and in shards."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from audit.cli.main import main
from audit.pipeline.embedding.encoders import MINILM, Encoder
from audit.pipeline.embedding.vectors import Vectors, unit_rows
from audit.pipeline.retrieval.model import Query
from tests.pipeline.generation.leaflets import FOOD, QUESTIONS, work_folder
from tests.support.forked import Python
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.llm.real_server import MODEL

STAND_IN = Path(__file__).parents[2] / "support" / "stand_in_vllm.py"
PAIRS = [("q1", "kidney_alder_post"), ("q2", "kidney_alder_post"), ("q2", "liver_birch_post"), ("q3", "liver_birch_post")]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    monkeypatch.setenv("AUDIT_JUDGE_CONCURRENCY", "4")
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def folder(tmp_path: Path) -> list[str]:
    return [*work_folder(tmp_path), "--out", str(tmp_path / "answers")]


def generate(folder: list[str], *options: str) -> int:
    return main(["generate", *folder, *options])


def with_more(root: Path, *queries: Query) -> list[str]:
    return [*work_folder(root, extra=queries), "--out", str(root / "answers")]


def answers(folder: list[str]) -> list[dict]:
    return [json.loads(line) for line in (Path(folder[-1]) / "answers.jsonl").read_text().splitlines()]


def summary(folder: list[str]) -> dict:
    return json.loads((Path(folder[-1]) / "summary.json").read_text())


def test_without_a_model_every_question_is_asked_of_the_handbooks_of_its_organ(folder, capsys):
    assert generate(folder) == 0
    assert [(answer["question_id"], answer["handbook_id"]) for answer in answers(folder)] == PAIRS
    assert [answer["found"] for answer in answers(folder)] == ["stated", "stated", "stated", "not found"]
    assert "3 answered, 1 NOT ADDRESSED, 0 unread, 0 not asked." in capsys.readouterr().out
    assert summary(folder)["generator"] == "closest passages, no model"
    assert (summary(folder)["answered"], summary(folder)["absent"]) == (3, 1)


def test_a_text_is_encoded_once_for_searching_and_answering(folder, tmp_path, monkeypatch):
    encoded: list[str] = []

    def encode(texts: Sequence[str], _progress: object) -> Vectors:
        encoded.extend(texts)
        return unit_rows(np.array([[len(text) % 7 + 1.0, len(text) % 5 + 1.0] for text in texts]))

    monkeypatch.setattr("audit.pipeline.stages.retrieve.loaded_encoder", lambda *_: Encoder(MINILM, "0" * 64, encode))
    retrieve = ["retrieve", folder[4], *folder[1:3], "--encoder", MINILM, "--strategy", "closest", "--out", folder[0]]
    assert main(retrieve) == 0
    counts = Counter(encoded)
    assert [counts[query.text] for query in QUESTIONS] == [1, 1, 1]  # q2 is asked of both handbooks
    assert counts[f"Eating. {FOOD}"] == 2  # once in each handbook that has it
    assert generate(folder) == 0
    assert {answer["retrieval"]["encoder"] for answer in answers(folder)} == {MINILM}
    assert main([*retrieve, "--passages", "2"]) == 0
    assert Counter(encoded) == counts


def test_a_question_without_retrieval_is_reported_and_not_counted_as_absent(folder, tmp_path, capsys):
    path = tmp_path / "retrieval" / "liver_birch_post.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert generate(folder) == 1
    assert len(answers(folder)) == 2
    assert "without retrieval, so not asked: 2" in capsys.readouterr().out
    assert summary(folder)["not_retrieved"] == 2


def test_a_model_answers_and_repeating_the_command_asks_nothing(folder, server):
    assert generate(folder, "--generator", "model", "--url", server.url) == 0
    assert [(answer["question_id"], answer["handbook_id"]) for answer in answers(folder)] == PAIRS
    assert {answer["usage"]["model"] for answer in answers(folder)} == {"judge"}
    before = server.asked
    assert generate(folder, "--generator", "model", "--url", server.url) == 0
    assert server.asked == before


def test_a_real_server_answers_each_question(folder, real_judge):
    code = generate(folder, "--generator", "model", "--url", real_judge, "--model", MODEL)
    assert code in (0, 1)  # a model that knows nothing may write anything, even a citation
    assert [(answer["question_id"], answer["handbook_id"]) for answer in answers(folder)] == PAIRS
    output = [answer["answer"] or answer["unread_reason"] for answer in answers(folder)]
    assert all(output)
    assert all(answer["usage"]["input_tokens"] > 100 for answer in answers(folder))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("fault:prose", "no answer"), ("fault:null", "empty"), ("fault:length", "cut"), ("fault:422", "refused")],
)
def test_an_unparseable_reply_is_counted_as_such(tmp_path, server, fault, reason, capsys):
    folder = [
        *work_folder(tmp_path, extra=(Query("q4", f"May I travel? {fault}", "kidney"),)),
        "--out",
        str(tmp_path / "answers"),
    ]
    assert generate(folder, "--generator", "model", "--url", server.url) == 1
    (unread,) = [answer for answer in answers(folder) if answer["question_id"] == "q4"]
    assert (unread["answer"], unread["absent"], unread["unread_reason"]) == (None, None, reason)
    assert f"unread, {reason}: 1" in capsys.readouterr().out


@pytest.mark.parametrize("fault", ["fault:500*1", "fault:503*2", "fault:cut-body*1", "fault:thinking"])
def test_a_temporary_fault_loses_no_answer(tmp_path, server, fault):
    folder = [
        *work_folder(tmp_path, extra=(Query("q4", f"May I travel? {fault}", "kidney"),)),
        "--out",
        str(tmp_path / "answers"),
    ]
    assert generate(folder, "--generator", "model", "--url", server.url) == 0
    assert all(answer["answer"] for answer in answers(folder))


def test_after_a_kill_it_continues_without_asking_again_for_stored_replies(tmp_path, server):
    many = tuple(Query(f"m{number}", f"May I travel {number} times?", "general") for number in range(30))
    folder = with_more(tmp_path, *many)
    options = ["--generator", "model", "--url", server.url]
    server.delay_s = 0.03
    process = Python([sys.executable, "-m", "audit", "generate", *folder, *options], env=os.environ.copy())
    until(server, 25)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = stored(tmp_path)
    asked = {key: server.keys[key] for key in kept}
    assert 10 <= len(kept) < 64
    assert generate(folder, *options) == 0
    assert {key: server.keys[key] for key in kept} == asked
    assert len(answers(folder)) == len(stored(tmp_path)) == 4 + 2 * 30


def until(server: FaultServer, asked: int) -> None:
    for _ in range(1_500):
        if server.asked >= asked:
            return
        time.sleep(0.02)
    raise AssertionError(f"only {server.asked} calls came")


def stored(root: Path) -> set[str]:
    with sqlite3.connect(root / "answers.journal") as con:
        return {key for (key,) in con.execute("select key from replies")}


def test_a_dry_run_reports_calls_and_tokens_and_writes_nothing(folder, tmp_path, server, capsys):
    before = sorted(tmp_path.rglob("*"))
    assert generate(folder, "--generator", "model", "--url", server.url, "--dry-run", "--probe") == 0
    output = capsys.readouterr().out
    assert output.splitlines()[1].split()[:3] == ["answer", "0", "4"]
    assert "4 test calls" in output.splitlines()[1]
    assert sorted(tmp_path.rglob("*")) == before


def test_the_responses_of_a_cluster_become_answers_with_each_handbook_in_one_shard(tmp_path, capsys):
    folder = [*work_folder(tmp_path, mode="full_document"), "--out", str(tmp_path / "answers")]
    options, batch = ["--generator", "model", "--model", "judge"], tmp_path / "batch"
    assert generate(folder, *options, "--emit-batch", str(batch), "--shards", "9") == 0
    assert "4 requests of stage 'answer' in 2 shards, complete handbooks in each." in capsys.readouterr().out
    for shard in sorted((batch / "shards").iterdir()):
        target = batch / "outputs" / f"{shard.stem}.1_0.jsonl"
        command = [sys.executable, str(STAND_IN), "run-batch", "-i", str(shard), "-o", str(target), "--model", "judge"]
        subprocess.run(command, check=True)
    assert generate(folder, *options, "--collect", str(batch)) == 0
    assert len(answers(folder)) == 4


def test_a_folder_with_other_files_is_refused_before_anything_is_asked(folder, server, capsys):
    Path(folder[-1]).mkdir()
    (Path(folder[-1]) / "thesis.txt").write_text("years of work")
    assert generate(folder, "--generator", "model", "--url", server.url) == 2
    assert "does not contain earlier answers" in capsys.readouterr().err
    assert server.asked == 0


def test_unusable_files_end_in_one_sentence(folder, tmp_path, capsys):
    assert main(["generate", str(tmp_path), *folder[1:]]) == 2
    assert (
        "does not contain passages of these handbooks (HANDBOOK_ID.jsonl). Nothing was asked. Name one" in capsys.readouterr().err
    )
    questions = tmp_path / "questions.jsonl"
    questions.write_text(questions.read_text() + questions.read_text().splitlines()[0])
    assert generate(folder) == 2
    assert "two questions have the id 'q1'" in capsys.readouterr().err
    questions.write_text('{"question_id": "q1"}\n')
    assert generate(folder) == 2
    assert "questions.jsonl, line 1: a question needs" in capsys.readouterr().err


def test_without_an_endpoint_nothing_is_asked_and_the_message_says_what_to_name(folder, capsys):
    assert generate(folder, "--generator", "model") == 2
    assert "Name an OpenAI-compatible endpoint with --url" in capsys.readouterr().err
    assert not Path(folder[-1]).exists()


def test_answers_can_be_written_again_from_the_journal_alone(folder, server):
    assert generate(folder, "--generator", "model", "--url", server.url) == 0
    before, asked = answers(folder), server.asked
    assert generate(folder, "--generator", "model", "--parse-again") == 0
    assert (answers(folder), server.asked) == (before, asked)


def test_a_generator_that_asks_nothing_cannot_use_a_cluster(folder, tmp_path, capsys):
    assert generate(folder, "--emit-batch", str(tmp_path / "batch")) == 2
    assert "--generator passages calls no model" in capsys.readouterr().err
