"""A backup taken while people rate is consistent, and a restored one is what was backed up; nothing is ever overwritten."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from annotation.label_store.access_log import list_log
from annotation.label_store.assignments import Choice, next_task
from annotation.label_store.engine import LabelStore, open_label_store, serving_lock
from annotation.label_store.ratings import NewRating, submit_rating
from annotation.studies.accounts import open_session
from annotation.studies.backup import CheckedCopy, back_up, copy_database, restore
from annotation.studies.signing_in import vouched_account
from annotation.studies.verification import verify_study
from audit.errors import AuditError
from tests.support.studies import NOW, rate, study_of

WRITERS = tuple(f"rater{n}" for n in range(8))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "studies.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
def live(url: str) -> Iterator[LabelStore]:
    """Two ratings, and connections that stay open as those of a server do."""
    store = open_label_store(url)
    study_of(store, 3)
    rate(store, "ana", 1, "ABSENT")
    rate(store, "ben", 1, "CONSISTENT")
    yield store
    store.close()


def rows_of(path: Path, *without: str) -> dict[str, list[tuple[object, ...]]]:
    """Table -> its rows, of every table of a database."""
    with closing(sqlite3.connect(path)) as con:
        tables = [name for (name,) in con.execute("select name from sqlite_master where type = 'table'")]
        return {name: sorted(con.execute(f"select * from {name}"), key=repr) for name in tables if name not in without}


def ratings_in(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as con:
        return con.execute("select seq, hash, seat_id, annotator, label from ratings order by seq").fetchall()


@contextmanager
def people_rating(url: str, acknowledged: list[str], enough: threading.Event) -> Iterator[None]:
    """Eight people rate, each through connections of their own; `acknowledged` has the seat of each stored rating."""
    stop = threading.Event()

    def work(annotator: str) -> None:
        store = open_label_store(url)
        while not stop.is_set() and (task := next_task(store, "s", annotator, NOW, "v")) is not None:
            rating = NewRating(task.assignment_id, Choice("ABSENT"), task.assignment_id)
            submit_rating(store, annotator, rating, NOW)
            acknowledged.append(task.assignment_id)
            if len(acknowledged) >= 80:
                enough.set()
        store.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in WRITERS]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_backup_under_load_has_every_acknowledged_rating_and_is_restored_row_by_row(url: str, path: Path, tmp_path: Path):
    store = open_label_store(url)
    study_of(store, 1_000, WRITERS)
    acknowledged: list[str] = []
    enough, backups = threading.Event(), [tmp_path / f"backup{n}.db" for n in range(3)]
    with people_rating(url, acknowledged, enough):
        assert enough.wait(60)
        for backup in backups:
            before = set(acknowledged)
            checked = back_up(url, backup)
            assert checked.faults == ()
            assert before <= {seat for _, _, seat, _, _ in ratings_in(backup)}
            assert checked.ratings == len(ratings_in(backup)) >= 80
    store.close()
    final = ratings_in(path)
    assert all(ratings_in(backup) == final[: len(ratings_in(backup))] for backup in backups)
    elsewhere = tmp_path / "elsewhere" / "studies.db"
    assert restore(f"sqlite:///{elsewhere}", backups[-1], NOW)[1] is None
    # Everybody is signed out, and the access log says so
    assert rows_of(elsewhere, "users", "access_log", "log_heads") == rows_of(backups[-1], "users", "access_log", "log_heads")
    again = open_label_store(f"sqlite:///{elsewhere}")
    assert verify_study(again, "s") == []
    again.close()


def test_a_plain_copy_of_the_live_file_lacks_what_was_written_last(live: LabelStore, path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "cp.db")
    with closing(sqlite3.connect(tmp_path / "cp.db")) as con:
        tables = {name for (name,) in con.execute("select name from sqlite_master")}
        assert "ratings" not in tables or con.execute("select count(*) from ratings").fetchone() == (0,)
    back_up(f"sqlite:///{path}", tmp_path / "backup.db")
    assert len(ratings_in(tmp_path / "backup.db")) == 2


def test_a_backup_is_one_file_for_its_owner_and_overwrites_nothing(live: LabelStore, url: str, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    assert back_up(url, tmp_path / "b" / "backup.db") == CheckedCopy(studies=1, ratings=2, faults=())
    assert [entry.name for entry in (tmp_path / "b").iterdir()] == ["backup.db"]
    assert stat.S_IMODE((tmp_path / "b" / "backup.db").stat().st_mode) == 0o600
    before = (tmp_path / "b" / "backup.db").read_bytes()
    with pytest.raises(AuditError, match="already exists, and a backup never overwrites a file"):
        back_up(url, tmp_path / "b" / "backup.db")
    assert (tmp_path / "b" / "backup.db").read_bytes() == before


def test_what_cannot_be_backed_up_is_explained(live: LabelStore, url: str, tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="nothing to back up"):
        back_up(f"sqlite:///{tmp_path / 'none.db'}", tmp_path / "backup.db")
    with pytest.raises(AuditError, match=r"cannot be written: No such file or directory\. No copy was made"):
        back_up(url, tmp_path / "no" / "folder" / "backup.db")


# -- restoring ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def backup(live: LabelStore, url: str, tmp_path: Path) -> Path:
    """A backup of the two ratings; later a third is given, and nobody uses the store any more."""
    open_session(live, "ana", NOW)
    back_up(url, tmp_path / "backup.db")
    rate(live, "ana", 2, "ABSENT")
    live.close()
    return tmp_path / "backup.db"


def test_the_replaced_database_is_kept_and_everybody_is_signed_out(backup: Path, url: str, path: Path) -> None:
    replaced = rows_of(path)
    checked, kept = restore(url, backup, NOW)
    assert checked == CheckedCopy(studies=1, ratings=2, faults=())
    assert kept is not None
    assert kept.name == "studies.db.replaced-20260301-090000-000000"
    assert rows_of(kept) == replaced
    changed = ("sessions", "users", "access_log", "log_heads")
    assert rows_of(path, *changed) == rows_of(backup, *changed)
    assert len(rows_of(backup)["sessions"]) == 1
    assert rows_of(path)["sessions"] == []
    restored = open_label_store(url)
    assert vouched_account(restored, "ana", NOW) is None  # a sign-in at the identity provider before the restore
    entry = list_log(restored)[0]
    assert (entry.event, entry.detail) == ("backup-restored", f"{backup.name}; everybody was signed out")
    restored.close()
    again = open_label_store(url)
    assert verify_study(again, "s") == []
    rate(again, "ana", 2, "COMPLEMENTARY")
    again.close()


def test_nothing_is_replaced_while_a_dashboard_serves_the_store(backup: Path, url: str, path: Path) -> None:
    before = rows_of(path)
    with serving_lock(path), pytest.raises(AuditError, match=r"A dashboard or a command uses .*\. Nothing was replaced"):
        restore(url, backup, NOW)
    assert rows_of(path) == before


def test_nothing_is_replaced_while_a_connection_is_open_without_the_servers_lock(backup: Path, url: str, path: Path) -> None:
    other = open_label_store(url)
    with pytest.raises(AuditError, match=r"A dashboard or a command uses .*\. Nothing was replaced"):
        restore(url, backup, NOW)
    rate(other, "ben", 2, "ABSENT")
    other.close()
    assert len(ratings_in(path)) == 4


def test_an_altered_backup_is_restored_only_on_purpose(backup: Path, url: str, path: Path) -> None:
    with closing(sqlite3.connect(backup)) as con, con:
        con.execute("update items set question = '?' where item_id = 'i002'")
    before = rows_of(path)
    with pytest.raises(AuditError, match=r"was altered: s: items: 1 row was changed .*Nothing was replaced.*--accept-faults"):
        restore(url, backup, NOW)
    assert rows_of(path) == before
    checked, _ = restore(url, backup, NOW, accept_faults=True)
    assert len(checked.faults) == 1


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("drop table schema_version", "is a database, but not one of studies"),
        ("update schema_version set version = 9999", "newer version"),
        ("create table alembic_version as select '0012' as version_num", r"backup\.db were written before the first release"),
        (None, "cannot be copied: file is not a database"),
    ],
)
def test_a_file_that_is_not_a_backup_replaces_nothing(
    backup: Path, url: str, path: Path, statement: str | None, message: str
) -> None:
    if statement is None:
        backup.write_bytes(b"not a database" * 1_000)
    else:
        with closing(sqlite3.connect(backup)) as con, con:
            con.execute(statement)
    before, files = rows_of(path), sorted(path.parent.iterdir())
    with pytest.raises(AuditError, match=message):
        restore(url, backup, NOW)
    assert (rows_of(path), sorted(path.parent.iterdir())) == (before, files)
    with pytest.raises(AuditError, match=r"is not a file\. Nothing was replaced"):
        restore(url, backup.with_name("none.db"), NOW)


def test_a_backup_with_a_damaged_page_replaces_nothing(backup: Path, url: str, path: Path) -> None:
    content = bytearray(backup.read_bytes())
    content[4096 * 3 : 4096 * 12] = b"\xff" * 4096 * 9
    backup.write_bytes(content)
    before = rows_of(path)
    with pytest.raises(AuditError, match=r"is damaged|cannot be copied"):
        restore(url, backup, NOW)
    assert rows_of(path) == before


def test_a_damaged_database_in_place_is_replaced_and_kept_as_it_is(backup: Path, url: str, path: Path) -> None:
    path.write_bytes(b"damaged" * 1_000)
    Path(f"{path}-wal").write_bytes(b"its log")
    _, kept = restore(url, backup, NOW)
    assert kept is not None
    assert kept.read_bytes() == b"damaged" * 1_000
    assert Path(f"{kept}-wal").read_bytes() == b"its log"
    assert len(ratings_in(path)) == 2


def test_a_copy_that_fails_leaves_no_file(live: LabelStore, tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"x" * 5_000)
    with pytest.raises(AuditError, match="cannot be copied"):
        copy_database(tmp_path / "bad.db", tmp_path / "copy.db")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bad.db", "data"]


# -- PostgreSQL --------------------------------------------------------------------------------------------------------


def test_the_commands_for_postgresql_are_stated_and_restore_every_row(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path))
    server = postgres.rpartition("/")[0]
    for program, *more in (["createdb", "from_here"], ["createdb", "to_here"]):
        subprocess.run([program, f"--maintenance-db={postgres}", *more], check=True)
    here, there = f"{server}/from_here", f"{server}/to_here"
    store = open_label_store(here)
    study_of(store, 2)
    rate(store, "ana", 1, "ABSENT")
    with pytest.raises(
        AuditError, match=r"pg_dump --format=custom --file=FILE DATABASE\. .*pg_restore --dbname=NEW FILE"
    ) as said:
        back_up(here, tmp_path / "backup")
    with pytest.raises(AuditError) as said_too:
        restore(here, tmp_path / "backup", NOW)
    assert str(said.value) == str(said_too.value)
    subprocess.run(["pg_dump", "--format=custom", f"--file={tmp_path / 'backup'}", here], check=True)
    subprocess.run(["pg_restore", f"--dbname={there}", tmp_path / "backup"], check=True)
    again = open_label_store(there)
    for opened in (store, again):
        assert verify_study(opened, "s") == []
    assert _all_rows(again) == _all_rows(store)
    for opened in (store, again):
        opened.close()


def _all_rows(store: LabelStore) -> dict[str, list[str]]:
    with store.read() as con:
        names = inspect(con).get_table_names()
        return {name: sorted(map(repr, con.execute(text(f"select * from {name}")))) for name in names}
