"""Calls without a network: shards are written, replies are collected, and nothing is lost."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, FAILED, REFUSED, Call
from audit.pipeline.llm.cluster import todo
from audit.pipeline.llm.shards import collect_replies, sbatch_commands, write_batch


def calls(**pairs_of_question: int) -> list[Call]:
    return [
        Call({"model": "m", "messages": [{"role": "user", "content": f"{question} pair {number}"}]}, question, "structured")
        for question, count in pairs_of_question.items()
        for number in range(count)
    ]


def shard_lines(folder: Path, number: int) -> list[dict]:
    return [json.loads(line) for line in (folder / "shards" / f"{number:04d}.jsonl").read_text().splitlines()]


def answered(call: Call, text: str = "{}") -> str:
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return json.dumps({"custom_id": call.key, "response": {"status_code": 200, "body": body}, "error": None}) + "\n"


def refused(call: Call, status: int = 400) -> str:
    body = {"error": {"message": "too long"}}
    return json.dumps({"custom_id": call.key, "response": {"status_code": status, "body": body}, "error": None}) + "\n"


def put(folder: Path, output: str, *lines: str) -> None:
    (folder / "outputs" / output).write_text("".join(lines))


def test_a_question_is_in_one_shard_only_and_the_shards_have_similar_sizes(tmp_path):
    sizes = write_batch(calls(q1=6, q2=3, q3=3, q4=1), tmp_path / "batch", 2, {}, "m")
    asked = [{line["body"]["messages"][0]["content"].split()[0] for line in shard_lines(tmp_path / "batch", n)} for n in (0, 1)]
    assert (sizes, asked) == ([7, 6], [{"q1", "q4"}, {"q2", "q3"}])


def test_a_request_has_the_batch_format_of_vllm_and_openai(tmp_path):
    (call,) = calls(q1=1)
    write_batch([call], tmp_path / "batch", 1, {}, "m")
    (line,) = shard_lines(tmp_path / "batch", 0)
    assert line == {"custom_id": call.key, "method": "POST", "url": "/v1/chat/completions", "body": call.body}


def test_the_same_request_is_written_once(tmp_path):
    assert write_batch([*calls(q1=2), *calls(q1=2)], tmp_path / "batch", 1, {}, "m") == [2]


def test_fewer_questions_than_shards_give_no_empty_shard_and_no_idle_task(tmp_path):
    assert write_batch(calls(q1=2, q2=1), tmp_path / "batch", 64, {}, "m") == [2, 1]
    assert "#SBATCH --array=0-1\n" in (tmp_path / "batch" / "ask.sbatch").read_text()


def test_every_shard_is_in_one_command_also_beyond_the_limit_of_an_array():
    assert sbatch_commands([3, 7], 1_001) == ["sbatch --array=3,7 ask.sbatch"]
    assert sbatch_commands([0, 2, 4, 1003, 2002], 1_001) == [
        "sbatch --array=0,2,4 ask.sbatch",
        "sbatch --array=2 --export=ALL,FIRST_SHARD=1001 ask.sbatch",
        "sbatch --array=0 --export=ALL,FIRST_SHARD=2002 ask.sbatch",
    ]


@pytest.mark.parametrize(("limit", "expected"), [("8", ["0-6"]), ("3", ["0-2", "0-2", "0-0"]), ("0", ["0-6"]), (None, ["0-6"])])
def test_one_script_submits_all_shards_whatever_the_cluster_allows(tmp_path, limit, expected):
    write_batch(calls(**{f"q{n}": 1 for n in range(7)}), tmp_path / "batch", 7, {}, "m")
    programs = {"sbatch": 'echo "$@"', "scontrol": f'echo "MaxArraySize            = {limit}"' if limit else "exit 1"}
    for name, body in programs.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    command = ["bash", str(tmp_path / "batch" / "submit.sh")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert [re.search(r"--array=(\S+)", line)[1] for line in done.stdout.splitlines()] == expected
    starts = [int(re.search(r"FIRST_SHARD=(\d+)", line)[1]) for line in done.stdout.splitlines()]
    assert starts == [3 * number for number in range(len(expected))]


def test_a_folder_that_is_not_empty_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(AuditError, match="is not empty"):
        write_batch(calls(q1=1), tmp_path, 1, {}, "m")


@pytest.mark.parametrize("shards", [0, 5001])
def test_an_impossible_number_of_shards_is_refused(tmp_path, shards):
    with pytest.raises(AuditError, match="Allowed: 1 to 5,000"):
        write_batch(calls(q1=1), tmp_path / "batch", shards, {}, "m")


def test_responses_are_counted_and_requests_without_one_are_missing(tmp_path):
    write_batch(asked := calls(q1=4), tmp_path, 1, {}, "m")
    other_batch = calls(q9=1)[0]
    put(tmp_path, "0000.7_0.jsonl", answered(asked[0]), refused(asked[1]), answered(other_batch), answered(asked[2])[:40])
    ((count, best_replies),) = collect_replies(tmp_path)
    assert count.outcomes == {ANSWERED: 1, REFUSED: 1}
    assert (count.asked, count.missing, count.torn, count.strange) == (4, 2, 1, 1)
    assert best_replies[asked[0].key].text == "{}"


def test_an_answer_of_an_earlier_attempt_is_not_lost_to_a_later_failure(tmp_path):
    write_batch(asked := calls(q1=2), tmp_path, 1, {}, "m")
    broken = (
        json.dumps({"custom_id": asked[0].key, "response": {"status_code": 500, "body": None}, "error": "engine dead"}) + "\n"
    )
    put(tmp_path, "0000.9_0.jsonl", answered(asked[0], "first"), refused(asked[1], 500))
    put(tmp_path, "0000.9_1.jsonl", broken, answered(asked[1], "second"))
    ((_, best_replies),) = collect_replies(tmp_path)
    assert [best_replies[call.key].text for call in asked] == ["first", "second"]


def test_of_two_answers_that_of_the_later_job_counts_although_99_sorts_after_100_as_text(tmp_path):
    write_batch(asked := calls(q1=1), tmp_path, 1, {}, "m")
    put(tmp_path, "0000.100_0.jsonl", answered(asked[0], "later"))
    put(tmp_path, "0000.99_0.jsonl", answered(asked[0], "earlier"))
    ((_, best_replies),) = collect_replies(tmp_path)
    assert best_replies[asked[0].key].text == "later"


def test_a_request_that_the_server_could_not_serve_has_failed(tmp_path):
    write_batch(asked := calls(q1=2), tmp_path, 1, {}, "m")
    lost = json.dumps({"custom_id": asked[1].key, "response": None, "error": {"message": "engine dead"}}) + "\n"
    put(tmp_path, "0000.7_0.jsonl", refused(asked[0], 503), lost)
    ((count, best_replies),) = collect_replies(tmp_path)
    assert count.outcomes == {FAILED: 2}
    assert "engine dead" in (best_replies[asked[1].key].error or "")


def test_a_task_that_runs_again_asks_only_the_open_requests(tmp_path):
    write_batch(asked := calls(q1=5), tmp_path, 1, {}, "m")
    put(tmp_path, "0000.7_0.jsonl", answered(asked[0]), refused(asked[1]), refused(asked[2], 503), answered(asked[3])[:30])
    open_requests = todo.main(*(str(tmp_path / name) for name in ("shards/0000.jsonl", "open.jsonl", "outputs/0000.7_0.jsonl")))
    assert open_requests == 3
    written = [json.loads(line)["custom_id"] for line in (tmp_path / "open.jsonl").read_text().splitlines()]
    assert written == [call.key for call in (asked[2], asked[3], asked[4])]


def test_a_folder_that_is_not_a_batch_cannot_be_collected(tmp_path):
    with pytest.raises(AuditError, match="Nothing was collected"):
        list(collect_replies(tmp_path))
