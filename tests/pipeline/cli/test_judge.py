"""`audit judge` from a loaded run to a loaded run, against a server: estimated, judged, killed, continued, checked."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.pipeline.llm.client import Endpoint
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.runs import find_run
from tests.support.forked import Python
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.loading import load, spoil
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  topics=diet  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent
    q2 general topics=work  ab=UNSCORED        ac=ABSENT  bc=CONTRADICTORY      d=absent
"""
"""Six pairs for a judge, and six that are ABSENT without asking."""
KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(key=KEY) as server:
        yield server


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"DATA_DIR": str(tmp_path / "data"), "JUDGE_URL": server.url, "JUDGE_KEY": KEY, "JUDGE_CONCURRENCY": "4"}
    for name, value in settings.items():
        monkeypatch.setenv(f"AUDIT_{name}", value)
    monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    load(release_from(tmp_path, TABLE), tmp_path / "data")
    return tmp_path / "again"


def judge(out: Path, *options: str, run: str = "tiny") -> int:
    return main(["judge", run, "--out", str(out), *options])


def pairs(out: Path) -> dict[str, dict]:
    files = sorted((out / "comparisons").iterdir())
    found = [(path.stem, pair) for path in files for pair in json.loads(path.read_text())["pairs"]]
    return {f"{stem} {pair['handbook_a']}{pair['handbook_b']}": pair for stem, pair in found}


def test_a_run_is_judged_again_and_loaded_beside_the_first(out, tmp_path):
    assert judge(out, "--swap", "--repeat", "1", "--load") == 0
    run = find_run(tmp_path / "data" / "store", "again")
    assert run.report["clean"]
    assert run.manifest["judge"] == "judge"  # the only model that the endpoint has
    assert run.manifest["judge_settings"]["endpoint"] == ["vllm 0.33.0"]
    with open_store(run.path) as con:
        assert rows(con, "select count(*), count(label), count(*) filter (prescreened) from pairs") == [(12, 12, 6)]
    assert {check["kind"] for check in pairs(out)["q1 ab"]["checks"]} == {"swap", "repeat"}


def test_the_same_command_again_asks_nothing(out, server):
    assert judge(out) == 0
    asked = server.asked
    assert judge(out) == 0
    assert server.asked == asked


def test_positions_are_found_with_one_call_an_answer_and_one_a_question(out, tmp_path, server, capsys):
    assert judge(out, "--protocol", "positions", "--dry-run") == 0
    planned = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [words[:3] for words in planned if words[:1] in (["statements"], ["merge"])] == [
        ["statements", "0", "6"],
        ["merge", "0", "2"],
    ]
    assert ["The", "protocol", "structured", "would", "make", "6", "calls,"] in [words[:7] for words in planned]
    assert server.asked == 0
    assert judge(out, "--protocol", "positions", "--load") == 0
    asked = server.asked
    assert judge(out, "--protocol", "positions") == 0
    assert server.asked == asked
    run = find_run(tmp_path / "data" / "store", "again")
    assert run.report["clean"]
    assert run.manifest["judge_settings"]["protocol"] == "positions"
    capsys.readouterr()
    assert main(["metrics", "runs", "--run", "tiny", "--against", "again"]) == 0
    assert "organ" in capsys.readouterr().out.lower()
    with open_store(run.path) as con:
        assert rows(con, "select count(*), count(label), count(*) filter (prescreened) from pairs") == [(12, 12, 6)]
        assert rows(
            con,
            "select count(distinct question), count(distinct handbook), min(method)::varchar from positions \
join position_holders using (number)",
        ) == [(2, 3, "judge")]


@pytest.mark.parametrize(
    ("protocol", "prompts"),
    [
        ("structured", {"structured", "absence"}), ("label_first", {"label_first", "absence"}),
        ("label_only", {"label_only", "extract", "absence"}), ("positions", {"statements", "merge"}),
    ],
)  # fmt: skip
def test_a_release_has_every_prompt_in_full(protocol, prompts, out, server):
    checks = [] if protocol == "positions" else ["--absence", "check"]
    assert judge(out, "--protocol", protocol, *checks) == 0
    assert server.unrecorded(out) == set()
    stored = json.loads((out / "manifest.json").read_text())["prompts"]
    assert {record["prompt"].partition("-")[0] for record in stored if record["used_for"] == "judge"} == prompts


def test_positions_go_without_checks_of_pairs(out, server, capsys):
    assert judge(out, "--protocol", "positions", "--swap") == 2
    assert "reads single answers and not pairs" in capsys.readouterr().err
    assert server.asked == 0


def test_a_dry_run_counts_and_writes_nothing(out, tmp_path, capsys):
    before = sorted(tmp_path.rglob("*"))
    assert judge(out, "--dry-run", "--probe", "--swap", "--repeat", "2") == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1].split()[:3] == ["structured", "0", str(6 * (1 + 1 + 2))]
    assert "12 test calls" in told.out.splitlines()[1]
    assert ": questions and answers of 4 handbooks (a, b, c and 1 more)." in told.err
    assert sorted(tmp_path.rglob("*")) == before


def test_without_an_endpoint_the_estimate_says_what_it_is_made_of(out, monkeypatch, capsys):
    monkeypatch.delenv("AUDIT_JUDGE_URL")
    assert judge(out, "--dry-run") == 0
    printed = capsys.readouterr().out
    assert "rule of thumb" in printed
    assert "The time is unknown." in printed
    assert judge(out, "--dry-run", "--probe") == 2
    assert "No model endpoint is set. No model was called." in capsys.readouterr().err


def test_what_is_stored_is_not_estimated_again_and_tells_what_a_call_takes(out, server, capsys):
    assert judge(out, "--limit", "4") == 0
    server.bodies.clear()
    capsys.readouterr()
    assert judge(out, "--dry-run") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["structured", "4", "2"]
    assert judge(out) == 0
    assert judge(out, "--dry-run", "--limit", "6") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["structured", "6", "0"] in [cells[:3] for cells in rows]
    assert len(server.bodies) == 2 + 2  # the two that were open, and the two that check the endpoint before them


def test_without_an_endpoint_nothing_is_judged_and_it_says_what_to_set(out, monkeypatch, capsys):
    monkeypatch.delenv("AUDIT_JUDGE_URL")
    assert judge(out) == 2
    assert "Set AUDIT_JUDGE_URL to an OpenAI-compatible endpoint" in capsys.readouterr().err
    assert not out.exists()


def test_the_key_is_in_no_file_and_in_no_word(out, tmp_path, server, capsys):
    assert judge(out) == 0
    assert judge(out, "--swap") == 2
    server.key = "another"
    assert judge(tmp_path / "third") == 2
    said = capsys.readouterr()
    assert "does not accept the key" in said.err
    assert KEY not in said.out + said.err + repr(Settings()) + repr(Endpoint("http://x", "m", KEY))
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "tiny.duckdb"]
    assert not [path for path in written if KEY.encode() in path.read_bytes()]


def test_another_plan_is_refused_and_the_release_stays(out, capsys):
    assert judge(out) == 0
    before = (out / "manifest.json").read_bytes()
    assert judge(out, "--swap") == 2
    assert "was created with other settings: swap was false and is now true" in capsys.readouterr().err
    assert (out / "manifest.json").read_bytes() == before


def test_a_folder_of_something_else_is_refused_before_anything_is_asked(out, server):
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    assert judge(out) == 2
    assert server.asked == 0


def test_chosen_pairs_come_from_a_file_in_either_order(out, tmp_path, server, capsys):
    file = tmp_path / "pairs.csv"
    file.write_text("question_id,handbook_a,handbook_b\nq1,b,a\nq2,c,d\n")
    assert judge(out, "--pairs", str(file)) == 0
    assert sorted(pairs(out)) == ["q1 ab", "q2 cd"]
    assert pairs(out)["q2 cd"]["judge_metadata"] is None  # d is absent there
    file.write_text("question_id,handbook_a,handbook_b\nq1,b,z\n")
    assert judge(tmp_path / "other", "--pairs", str(file)) == 2
    assert "The run has no handbook 'z'" in capsys.readouterr().err


def test_a_sample_is_drawn_from_pairs_that_a_judge_was_asked_about(out, tmp_path):
    assert judge(out, "--pairs", "sample:4") == 0
    assert len(pairs(out)) == 4
    assert all(pair["judge_metadata"] for pair in pairs(out).values())
    assert judge(tmp_path / "twin", "--pairs", "sample:4") == 0
    assert sorted(pairs(tmp_path / "twin")) == sorted(pairs(out))


@pytest.mark.parametrize(
    ("options", "chosen", "pairs"),
    [
        (["--pairs", "sample:2"], "sample:2", 2),
        (["--limit", "1"], "all, the first 1 that need a judge", 1),
        (["--pairs", "sample:4", "--limit", "3"], "sample:4, the first 3 that need a judge", 3),
    ],
)
def test_a_release_of_chosen_pairs_says_so_and_reconciles(out, tmp_path, options, chosen, pairs):
    assert judge(out, *options, "--load") == 0
    run = find_run(tmp_path / "data" / "store", "again")
    assert run.manifest["judge_settings"]["pairs"] == chosen
    assert run.manifest["pairs"] == pairs
    assert run.report["verdict"].endswith("all counts reconcile.")
    messages = [check["message"] for check in run.report["checks"]]
    assert any(message.startswith(f"pairs: {pairs} loaded, chosen ({chosen}) among the ") for message in messages)


def test_chosen_pairs_of_which_some_are_missing_do_not_reconcile(out, tmp_path):
    assert judge(out, "--pairs", "sample:3") == 0
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps({**manifest, "pairs": 4}))
    assert main(["load", str(out)]) == 1
    assert "1 of 11 counts do not reconcile" in find_run(tmp_path / "data" / "store", "again").report["verdict"]


def test_a_limit_can_be_raised_later_without_asking_twice(out, server):
    assert judge(out, "--limit", "2") == 0
    assert sum(bool(pair["judge_metadata"]) for pair in pairs(out).values()) == 2
    first = set(server.keys)
    assert judge(out) == 0
    assert sum(bool(pair["judge_metadata"]) for pair in pairs(out).values()) == 6
    assert len(set(server.keys) - first) >= 4


FAULTS = [
    # what the server does           label?  parse      reason
    ("fault:500*2",                  True,   "strict",  None),
    ("fault:503*3",                  True,   "strict",  None),
    ("fault:control",                True,   "lenient", None),
    ("fault:500",                    False,  "none",    "failed"),
    ("fault:400",                    False,  "none",    "refused"),
]  # fmt: skip


def spoilt(tmp_path: Path, fault: str) -> Path:
    """Three handbooks that agree; the server has a fault with the answer of c. a and b are tried first."""
    release = release_from(tmp_path, "q1 kidney ab=CONSISTENT ac=CONSISTENT bc=CONSISTENT")
    answers = [json.loads(line) for line in (release / "answers.jsonl").read_text().splitlines()]
    for place, text in enumerate(("What a says. " * 9, "What b says. " * 9, f"c: {fault} here.")):
        answers[place]["answer"] = text
    (release / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    load(release, tmp_path / "data")
    return tmp_path / "again"


@pytest.mark.parametrize(("fault", "scored", "parse", "reason"), FAULTS)
def test_a_fault_of_the_server_ends_in_its_own_outcome(tmp_path, fault, scored, parse, reason):
    out = spoilt(tmp_path, fault)
    code = judge(out)
    pair = pairs(out)["q1 ac"]
    assert (pair["classification"] is not None, pair["judge_metadata"]["parse"]) == (scored, parse)
    assert pair["judge_metadata"].get("unscored_reason") == reason
    assert pairs(out)["q1 ab"]["classification"]
    assert code == (0 if scored else 1)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("fault:503*3", None), ("fault:prose", "no JSON object"), ("fault:length", "cut"), ("fault:500", "failed")],
)
def test_an_answer_that_could_not_be_read_holds_no_position_and_the_others_do(tmp_path, fault, reason):
    out = spoilt(tmp_path, fault)
    assert judge(out, "--protocol", "positions") == (1 if reason else 0)
    judged = pairs(out)
    assert judged["q1 ac"]["judge_metadata"].get("unscored_reason") == (f"statements not read: {reason}" if reason else None)
    assert judged["q1 ab"]["classification"] == "CONSISTENT"
    (position,) = map(json.loads, (out / "positions.jsonl").read_text().splitlines())
    assert [holder["handbook_id"] for holder in position["holders"]] == (["a", "b"] if reason else ["a", "b", "c"])


MANY = "abcdefghijklmnopqrst"


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """20 handbooks: 190 pairs to judge."""
    named = " ".join(f"{a}{b}=CONSISTENT" for a, b in itertools.combinations(MANY, 2))
    load(release_from(tmp_path, f"q1 kidney {named}"), tmp_path / "data")
    return tmp_path / "again"


def begin(out: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "audit", "judge", "tiny", "--out", str(out), *options]
    return Python(command, env=os.environ.copy(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(server: FaultServer, asked: int) -> None:
    for _ in range(600):
        if server.asked >= asked:
            return
        time.sleep(0.02)
    raise AssertionError(f"only {server.asked} calls came")


def stored(out: Path) -> set[str]:
    with sqlite3.connect(out.with_name("again.journal")) as con:
        return {key for (key,) in con.execute("select key from replies")}


def test_killed_twice_it_goes_on_and_asks_nothing_that_was_stored(many, server):
    server.delay_s = 0.03
    for calls in (40, 50):
        before = server.asked
        process = begin(many)
        until(server, before + calls)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kept = stored(many)
        asked = {key: server.keys[key] for key in kept}
        assert len(kept) >= calls - 12
    assert judge(many) == 0
    assert {key: server.keys[key] for key in kept} == asked
    assert len(stored(many)) == 190
    # asked twice: at most the four calls in flight at each kill, and the one that was tried before each of three starts
    assert sum(server.keys[key] - 1 for key in stored(many)) <= 2 * 4 + 3
    assert len(pairs(many)) == 190


def test_positions_that_were_killed_go_on_and_ask_nothing_that_was_stored(many, server):
    server.delay_s = 0.1
    process = begin(many, "--protocol", "positions")
    until(server, 12)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = {key: server.keys[key] for key in stored(many)}
    assert 0 < len(kept) < 21
    assert judge(many, "--protocol", "positions") == 0
    assert {key: server.keys[key] for key in kept} == kept
    assert (len(stored(many)), len(pairs(many))) == (20 + 1, 190)


def test_ctrl_c_leaves_what_came_back_and_says_how_to_go_on(many, server):
    server.delay_s = 0.05
    process = begin(many)
    until(server, 30)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 2
    assert f"Continue with:\n  audit judge tiny --out {many} --pairs all --protocol structured --absence keep" in said
    assert "Traceback" not in said
    assert not many.exists()
    kept = stored(many)
    assert judge(many, "--parse-again") == 1
    assert len(pairs(many)) == len(kept)
    assert judge(many) == 0
    assert len(pairs(many)) == 190


def test_a_dead_endpoint_stops_the_run_with_a_sentence(many, server, monkeypatch, capsys):
    server.always = "fault:500"
    assert judge(many) == 2
    assert "did not answer a trial call" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["-5", "0", "x", "\N{SUPERSCRIPT TWO}"])
def test_a_sample_of_no_number_is_refused_where_it_is_typed(out, capsys, number):
    with pytest.raises(SystemExit):
        judge(out, "--pairs", f"sample:{number}")
    assert f"the sample size in 'sample:{number}' must be an integer of at least 1, not {number}" in capsys.readouterr().err


def test_a_file_that_is_named_like_a_sample_is_read_by_its_path(out, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sample:x").write_text("question_id,handbook_a,handbook_b\nq1,a,b\n")
    assert judge(out, "--pairs", "./sample:x") == 0
    assert list(pairs(out)) == ["q1 ab"]


def test_a_study_that_is_not_there_is_reported(out, capsys):
    assert judge(out, "--pairs", "study:validation-1") == 2
    assert "There is no study 'validation-1'" in capsys.readouterr().err


def test_a_run_without_answers_cannot_be_judged(tmp_path, capsys):
    release = release_from(tmp_path, TABLE)
    (release / "answers.jsonl").unlink()
    load(release, tmp_path / "data")
    assert judge(tmp_path / "again") == 2
    assert "has no answers, so there is nothing to judge" in capsys.readouterr().err


def test_a_pair_whose_answer_is_missing_is_unscored_and_says_so(tmp_path):
    release = release_from(tmp_path, TABLE)
    answers = (release / "answers.jsonl").read_text().splitlines()
    (release / "answers.jsonl").write_text("\n".join(line for line in answers if '"q1", "handbook_id": "a"' not in line))
    spoil(release, "q1", lambda record: record.pop("matrix"))
    load(release, tmp_path / "data")
    assert judge(tmp_path / "again") == 1
    found = pairs(tmp_path / "again")["q1 ab"]
    assert (found["classification"], found["judge_metadata"]["unscored_reason"]) == (None, "no answer text")
