"""A new store has the tables that the code declares, and a store of another version is refused as it is."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, MetaData, insert, inspect, select, text
from sqlalchemy.exc import DatabaseError, IntegrityError

from annotation.label_store import account_rows, schema
from annotation.label_store.engine import SCHEMA_VERSION, LabelStore, open_label_store
from annotation.studies import verdict_store
from audit.errors import AuditError
from audit.settings import Settings
from tests.support.studies import people, rate, study_of


def test_every_table_of_the_code_is_created_and_its_version_is_recorded(store: LabelStore) -> None:
    declared = {*schema.metadata.tables, *verdict_store.metadata.tables}
    with store.read() as con:
        assert set(inspect(con).get_table_names()) == {*declared, "schema_version"}
        assert con.execute(text("select version from schema_version")).all() == [(SCHEMA_VERSION,)]


@pytest.mark.parametrize("table", ["ratings", "decisions", "study_events", "theme_acts", "access_log"])
def test_each_ledger_has_triggers_against_changing_and_deleting_an_entry(store: LabelStore, table: str) -> None:
    triggers = "select count(*) from sqlite_master where type = 'trigger' and tbl_name = :table"
    if not store.sqlite:
        triggers = "select count(distinct event_manipulation) from information_schema.triggers where event_object_table = :table"
    with store.read() as con:
        assert con.execute(text(triggers), {"table": table}).scalar() == 2


def test_processes_that_start_at_once_create_one_store(url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(open_label_store, [url] * 4))
    with stores[0].read() as con:
        assert con.execute(text("select count(*) from schema_version")).scalar() == 1
    for store in stores:
        store.close()


def test_a_store_of_a_newer_version_is_left_alone(store: LabelStore, url: str) -> None:
    with store.begin() as tx:
        tx.execute(text("update schema_version set version = 9999"))
    with pytest.raises(AuditError, match="newer version"):
        open_label_store(url)


def test_sqlite_writes_ahead_and_waits_for_the_disk(lite: LabelStore) -> None:
    with lite.read() as con:
        assert con.execute(text("pragma journal_mode")).scalar() == "wal"
        assert con.execute(text("pragma synchronous")).scalar() == 2  # FULL
        assert con.execute(text("pragma foreign_keys")).scalar() == 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("studies.db", "is not a supported database address"),
        ("postgresql://tester:secret@127.0.0.1:1/none", "cannot be used"),
        ("sqlite:////proc/studies.db", "cannot be"),
    ],
)
def test_a_database_that_cannot_be_opened_is_named_without_its_password(url: str, message: str) -> None:
    with pytest.raises(AuditError, match=message) as caught:
        open_label_store(url)
    assert "secret" not in str(caught.value)


def test_studies_are_kept_in_the_data_folder_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUDIT_STUDIES_URL", raising=False)
    assert Settings(data_dir=Path("d")).studies_url == "sqlite:///d/studies.db"
    monkeypatch.setenv("AUDIT_STUDIES_URL", "postgresql://h/db")
    assert Settings(data_dir=Path("d")).studies_url == "postgresql://h/db"


EARLIER = (
    r"The studies at .* were written before the first release \(revision {}\), and this version opens only those that it created "
    r"itself\. Nothing in them was changed\. Export .*; then move the database away or name another one in AUDIT_STUDIES_URL"
)


@pytest.mark.parametrize("revision", ["0001", "0012", None])
def test_a_store_from_before_the_first_release_is_refused(store: LabelStore, url: str, revision: str | None) -> None:
    with store.begin() as tx:
        tx.execute(text("drop table schema_version"))
        if revision is not None:
            tx.execute(text("create table alembic_version (version_num text not null)"))
            tx.execute(text("insert into alembic_version values (:revision)"), {"revision": revision})
    before = _rows(store)
    with pytest.raises(AuditError, match=EARLIER.format(revision or "not recorded")):
        open_label_store(url)
    assert _rows(store) == before


def _rows(store: LabelStore) -> dict[str, list[tuple[object, ...]]]:
    with store.read() as con:
        tables = MetaData()
        tables.reflect(con)
        return {name: [tuple(row) for row in con.execute(select(table))] for name, table in tables.tables.items()}


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_nothing_in_the_folder_of_a_refused_store_is_touched(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "studies.db"
    with closing(sqlite3.connect(path)) as con, con:
        con.execute(f"pragma journal_mode = {journal}")
        con.execute("create table alembic_version (version_num text not null)")
        con.execute("insert into alembic_version values ('0007')")
    before = path.read_bytes()
    with pytest.raises(AuditError, match=EARLIER.format("0007")):
        open_label_store(f"sqlite:///{path}")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("studies.db", before)]


def test_a_ledger_knows_the_labels_of_both_schemes_and_no_other_word(store: LabelStore) -> None:
    study_of(store, 2)
    rate(store, "ana", 1, "DIVERGENT", "high")
    with store.begin() as tx:
        _insert_rating(tx, "tie")
    for change in ("update ratings set comment = 'x'", "delete from ratings"):
        with pytest.raises(DatabaseError), store.begin() as tx:  # refused by the triggers
            tx.execute(text(change))
    with pytest.raises(IntegrityError), store.begin() as tx:
        _insert_rating(tx, "better")


def _insert_rating(tx: Connection, label: str) -> None:
    """A second rating of the first annotator's item, as somebody would write it by hand."""
    row = dict(tx.execute(select(schema.ratings)).mappings().first() or {})
    tx.execute(
        insert(schema.ratings).values({**row, "seq": 2, "revision": 2, "key": "by hand", "label": label, "significance": None})
    )


def test_a_store_of_an_earlier_checkout_gets_the_tables_and_columns_that_it_lacks(store: LabelStore, url: str) -> None:
    people(store, "ana")
    with store.begin() as tx:
        for table in ("provider_users", "log_heads"):
            tx.execute(text(f"drop table {table}"))
        tx.execute(text("alter table users drop column totp_secret"))
    opened = open_label_store(url)
    assert account_rows.username_bound_to(opened, "issuer subject") is None
    assert account_rows.find_user(opened, "ana") is not None
    with opened.begin() as tx:
        tx.execute(text("alter table sessions drop column created_at"))
    with pytest.raises(AuditError, match=r"without sessions\.created_at"):
        open_label_store(url)
    opened.close()
