"""A label store that lost its accounts is refused, and its file is for its own account only."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotation.label_store.engine import lock_for_serving, open_label_store
from annotation.studies.accounts import add_account
from annotation.studies.backup import back_up, restore
from audit.errors import AuditError

NOW = datetime(2026, 7, 1, tzinfo=UTC)
LOST = "had 2 accounts and 0 studies and now have"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with two accounts, and a backup from when it had one."""
    path = tmp_path / "data" / "studies.db"
    store = open_label_store(f"sqlite:///{path}")
    add_account(store, "petra", "pi", None, NOW)
    back_up(f"sqlite:///{path}", tmp_path / "older.db")
    add_account(store, "ana", "annotator", None, NOW)
    store.close()
    return path


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def replaced(path: Path) -> None:
    path.write_bytes((path.parents[1] / "older.db").read_bytes())


def another(path: Path) -> None:
    store = open_label_store(f"sqlite:///{path.with_name('another.db')}")
    for name in ("x1", "x2", "x3"):
        add_account(store, name, "pi", None, NOW)
    back_up(f"sqlite:///{path.with_name('another.db')}", path.with_name("copy.db"))
    store.close()
    path.write_bytes(path.with_name("copy.db").read_bytes())


@pytest.mark.parametrize("lose", [emptied, replaced, another, Path.unlink])
def test_a_store_that_lost_its_accounts_is_neither_opened_nor_served_nor_backed_up(path: Path, tmp_path: Path, lose) -> None:
    url = f"sqlite:///{path}"
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    lose(path)
    for work in (open_label_store, lock_for_serving, lambda url: back_up(url, tmp_path / "new.db")):
        with pytest.raises(AuditError, match=LOST if lose is not Path.unlink else rf"{LOST}|no label store"):
            work(url)
    assert not (tmp_path / "new.db").exists()
    restore(url, tmp_path / "older.db", NOW)
    open_label_store(url).close()


def test_a_new_store_is_its_accounts_own_whatever_the_mask_of_the_process(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        open_label_store(f"sqlite:///{tmp_path}/new.db").close()
    finally:
        os.umask(before)
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_mode & 0o077] == []


def test_no_other_account_of_the_machine_reads_the_hashes_of_passwords(path: Path) -> None:
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0
    path.chmod(0o644)
    held = lock_for_serving(f"sqlite:///{path}")
    assert held
    held.release()
    assert path.stat().st_mode & 0o007 == 0
