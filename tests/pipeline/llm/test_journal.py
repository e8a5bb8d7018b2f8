"""The journal: stored replies stay stored, the latest attempt counts, and other settings are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, FAILED
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.journal_recovery import recover_journal
from audit.release.journal_files import Reply, journal_plan
from tests.support.forked import Python

PLAN = {"model": "m", "protocol": "structured", "prompts": {"structured": "structured-1@abc"}}

WRITER = """
import sys
from pathlib import Path
from audit.pipeline.llm.calls import ANSWERED, Reply
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.journal_recovery import recover_journal
journal = Journal(Path(sys.argv[1]), {"model": "m"})
for number in range(1_000_000):
    journal.put(Reply(f"key-{number}", ANSWERED, text="x" * 500))
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "again.journal"


def test_a_reply_survives_kill_9_once_put_has_returned(path):
    writer = Python([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    numbers = [int(writer.stdout.readline()) for _ in range(300)]
    os.kill(writer.pid, signal.SIGKILL)
    numbers += [int(line) for line in writer.stdout.read().splitlines() if line]
    writer.wait()
    with Journal(path, {"model": "m"}) as journal:
        replies = journal.latest(f"key-{number}" for number in numbers)
        assert len(replies) == len(numbers) >= 300
        assert sum(journal.counts().values()) - len(numbers) in (0, 1)  # the one in flight


def test_the_latest_attempt_counts_even_if_the_journal_was_closed_in_between(path):
    with Journal(path, PLAN) as journal:
        journal.put(Reply("k", FAILED, 1, error="status 500"))
        journal.put(Reply("k", FAILED, 2, error="status 500"))
    with Journal(path, PLAN) as journal:
        journal.put(Reply("k", ANSWERED, 1, text="YES"))
        assert journal.latest(["k"])["k"].text == "YES"
        assert journal.latest(["k"])["k"].attempt == 3
        assert journal.counts() == {ANSWERED: 1}


def test_a_reply_is_read_back_unchanged(path):
    reply = Reply("k", ANSWERED, 1, "a\x00\ud800\u202e\n", "stop", 200, None, {"prompt_tokens": 7}, 0.25, "m", "fp")
    with Journal(path, PLAN) as journal:
        journal.put(reply)
        assert journal.latest(["k", "other"]) == {"k": reply}


def test_other_settings_are_refused_and_the_message_names_what_changed(path):
    Journal(path, PLAN).close()
    with pytest.raises(AuditError) as refused:
        Journal(path, {**PLAN, "model": "n"})
    assert str(refused.value) == (
        f'{path} was created with other settings: model was "m" and is now "n". Nothing was asked, and the journal is unchanged. '
        "Continue with the settings that it was created with, or choose another --out."
    )
    assert journal_plan(path) == PLAN


def test_two_processes_cannot_write_to_one_journal(path):
    with Journal(path, PLAN), pytest.raises(AuditError, match="Another process is writing"):
        Journal(path, PLAN)
    Journal(path, PLAN).close()


def test_a_file_that_is_not_a_journal_is_not_changed(path):
    path.write_text("years of work, and more than a hundred bytes of them " * 10)
    with pytest.raises(AuditError, match="is not a journal"):
        Journal(path, PLAN)
    assert path.read_text().startswith("years of work")
    assert journal_plan(path) is None


def test_a_thousand_replies_are_stored_in_a_second(path):
    with Journal(path, PLAN) as journal:
        started = time.process_time()
        for number in range(1_000):
            journal.put(Reply(f"{number}", ANSWERED, text="x" * 600))
        assert time.process_time() - started < 1.0


def read_and_write(path: Path, keys: list[str]) -> None:
    with Journal(path, PLAN) as journal:
        journal.latest(keys)
        journal.put(Reply("another", ANSWERED, text="x"))


DAMAGES = {
    "cut by 100 bytes": lambda content: content[:-100],
    "garbage in the middle": lambda content: content[: len(content) // 2] + b"\xa5" * 4096 + content[len(content) // 2 + 4096 :],
    "cut in half": lambda content: content[: len(content) // 2],
    "no header": lambda content: b"\x00" * 100 + content[100:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_journal_ends_in_one_sentence_and_the_rest_of_it_is_saved(path, tmp_path, damage):
    keys = [f"key-{number}" for number in range(300)]
    with Journal(path, PLAN) as journal:
        for key in keys:
            journal.put(Reply(key, ANSWERED, text="x" * 500))
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    damaged, saved = path.read_bytes(), tmp_path / "saved.journal"
    with pytest.raises(AuditError, match="audit journal recover"):
        read_and_write(path, keys)
    path.write_bytes(damaged)  # what a failed opening may have written
    if damage == "no header":
        with pytest.raises(AuditError, match="Nothing of"):
            recover_journal(path, saved)
        assert not saved.exists()
        return
    count = recover_journal(path, saved)
    assert path.read_bytes() == damaged
    with Journal(saved, PLAN) as journal:
        read = journal.latest(keys)
    assert len(read) == count >= (290 if damage == "cut by 100 bytes" else 100)
    with pytest.raises(AuditError, match="already exists"):
        recover_journal(path, saved)
