"""Twenty clients at once, and clients killed while they work."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.results import assignment_rows
from annotation.studies.accounts import account_of_token, open_session
from annotation.studies.verification import verify_study
from tests.support.forked import Python
from tests.support.studies import rating_history, study_of

ROOT = Path(__file__).resolve().parents[2]
SEED = 20_260


def clients(*arguments: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.clients", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [line.split() for line in done.stdout.splitlines() if line]


def of(kind: str, lines: list[list[str]]) -> list[str]:
    return [words[1] for words in lines if words[0] == kind]


def test_twenty_clients_race_for_forty_items_and_every_item_ends_with_two_labels(store: LabelStore, url: str) -> None:
    names = [f"a{n}" for n in range(1, 21)]
    study_of(store, 40, names)
    acknowledged = of("ack", clients("race", url, "20"))
    rows = assignment_rows(store, "s")
    labels = Counter(row["item_id"] for row in rows if row["label"] is not None)
    assert sorted(labels.values()) == [2] * 40
    assert len({(row["item_id"], row["annotator"]) for row in rows}) == 80  # by two people
    assert sorted(acknowledged) == sorted(row["key"] for row in rating_history(store, "s"))
    assert verify_study(store, "s") == []


def test_fifty_kills_lose_or_duplicate_no_acknowledged_rating_and_sign_nobody_out(store: LabelStore, url: str) -> None:
    names = [f"a{n}" for n in range(1, 5)]
    study_of(store, 300, names)
    tokens = [open_session(store, name, datetime.now(UTC)) for name in names]
    store.close()
    lines = clients("kill", url, "50", str(SEED), *tokens)

    again = open_label_store(url)
    stored = [row["key"] for row in rating_history(again, "s")]
    acknowledged, tried = set(of("ack", lines)), set(of("try", lines))
    assert len(acknowledged) >= 100  # at least two a round
    assert ["signin"] not in lines
    assert acknowledged - set(stored) == set()
    assert set(stored) - tried == set()
    assert len(stored) == len(set(stored))
    assert max(Counter(row["seat_id"] for row in rating_history(again, "s")).values()) == 1
    assert verify_study(again, "s") == []
    assert all(account_of_token(again, token, datetime.now(UTC)) for token in tokens)
    again.close()


def test_the_first_of_many_processes_creates_the_tables(url: str) -> None:
    script = f"from annotation.label_store.engine import open_label_store; open_label_store({url!r})"
    started = [Python([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    errors = [process.communicate(timeout=60)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, errors


def test_a_new_sqlite_store_waits_for_another_process_that_is_writing_to_its_file(tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    other.execute("create table unrelated (n int)")
    threading.Timer(0.3, lambda: other.execute("commit")).start()
    open_label_store(f"sqlite:///{path}").close()
    other.close()
    with closing(sqlite3.connect(path)) as again:
        assert again.execute("pragma journal_mode").fetchone() == ("wal",)
