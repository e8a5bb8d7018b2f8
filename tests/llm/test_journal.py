"""The journal: what was stored stays stored, the latest attempt counts, and another plan is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.llm.calls import ANSWERED, FAILED, Reply
from audit.llm.journal import Journal, begun_with

PLAN = {"model": "m", "protocol": "structured", "prompts": {"structured": "structured-1@abc"}}

WRITER = """
import sys
from pathlib import Path
from audit.llm.calls import ANSWERED, Reply
from audit.llm.journal import Journal
journal = Journal(Path(sys.argv[1]), {"model": "m"})
for number in range(1_000_000):
    journal.put(Reply(f"key-{number}", ANSWERED, text="x" * 500))
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "again.journal"


def test_what_put_has_returned_from_survives_kill_9(path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    told = [int(writer.stdout.readline()) for _ in range(300)]
    os.kill(writer.pid, signal.SIGKILL)
    told += [int(line) for line in writer.stdout.read().splitlines() if line]
    writer.wait()
    with Journal(path, {"model": "m"}) as journal:
        found = journal.latest(f"key-{number}" for number in told)
        assert len(found) == len(told) >= 300
        assert sum(journal.counts().values()) - len(told) in (0, 1)  # the one in flight


def test_the_latest_attempt_counts_also_in_a_later_session(path):
    with Journal(path, PLAN) as journal:
        journal.put(Reply("k", FAILED, 1, error="status 500"))
        journal.put(Reply("k", FAILED, 2, error="status 500"))
    with Journal(path, PLAN) as journal:
        journal.put(Reply("k", ANSWERED, 1, text="YES"))
        assert journal.latest(["k"])["k"].text == "YES"
        assert journal.latest(["k"])["k"].attempt == 3
        assert journal.counts() == {ANSWERED: 1}


def test_a_reply_comes_back_as_it_was(path):
    reply = Reply("k", ANSWERED, 1, "a\x00\ud800\u202e\n", "stop", 200, None, {"prompt_tokens": 7}, 0.25, "m", "fp")
    with Journal(path, PLAN) as journal:
        journal.put(reply)
        assert journal.latest(["k", "other"]) == {"k": reply}


def test_another_plan_is_refused_by_the_name_of_what_changed(path):
    Journal(path, PLAN).close()
    with pytest.raises(AuditError) as refused:
        Journal(path, {**PLAN, "model": "n"})
    assert str(refused.value) == (
        f'{path} was begun with another plan: model was "m" and is now "n". Nothing was asked, and what it holds is as it was. '
        "Go on with the plan it was begun with, or name another --out."
    )
    assert begun_with(path) == PLAN


def test_two_processes_do_not_judge_into_one_journal(path):
    with Journal(path, PLAN), pytest.raises(AuditError, match="Another process is writing"):
        Journal(path, PLAN)
    Journal(path, PLAN).close()


def test_a_file_that_is_no_journal_is_left_alone(path):
    path.write_text("years of work, and more than a hundred bytes of them " * 10)
    with pytest.raises(AuditError, match="is no journal"):
        Journal(path, PLAN)
    assert path.read_text().startswith("years of work")
    assert begun_with(path) is None


def test_hundreds_of_replies_a_second_are_stored(path):
    with Journal(path, PLAN) as journal:
        started = time.process_time()
        for number in range(1_000):
            journal.put(Reply(f"{number}", ANSWERED, text="x" * 600))
        assert time.process_time() - started < 1.0
