"""Migrations create what the code expects, and a store of a newer version is refused."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, Table, insert, select, text
from sqlalchemy.exc import DatabaseError, IntegrityError

from annotation.label_store import schema
from annotation.label_store.access_log import list_log
from annotation.label_store.engine import HEAD, MIGRATIONS, LabelStore, open_label_store
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import list_studies
from annotation.schemes import PAIRS
from annotation.studies import verdict_store
from annotation.studies.accounts import list_account_states
from annotation.studies.verification import unsealed_until, verify_study
from audit.errors import AuditError
from audit.settings import Settings
from tests.support.studies import NOW, rate, study_of


def test_the_migrated_tables_are_those_of_the_code(store: LabelStore) -> None:
    with store.read() as con:
        context = MigrationContext.configure(con, opts={"compare_type": True})
        assert compare_metadata(context, [schema.metadata, verdict_store.metadata]) == []


def test_the_code_knows_the_newest_migration() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_current_head() == HEAD


def test_a_migration_uses_no_code_of_the_program_which_may_have_changed_since() -> None:
    for path in (MIGRATIONS / "versions").glob("v*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not [name for name in imported if name.split(".")[0] in ("annotation", "audit", "pages")], path.name


def test_a_store_of_a_newer_version_is_left_alone(store: LabelStore, url: str) -> None:
    with store.begin() as tx:
        tx.execute(text("update alembic_version set version_num = '9999'"))
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


def test_an_older_store_is_migrated_with_its_contents(store: LabelStore, url: str) -> None:
    study_of(store, 2)
    rate(store, "ana", 1, "ABSENT")
    with store.begin() as tx:
        tx.execute(text("delete from heads where ledger = 'study_events'"))
        for made in (
            "table study_events",
            "table theme_acts", "table theme_heads", "index ix_seats_unrated", "table access_log", "table ended_sign_ins",
            "table saved_selections", "table app_settings", "index ix_attempts_address_at",
        ):  # fmt: skip
            tx.execute(text(f"drop {made}"))
        if not store.sqlite:
            for function in ("study_events_sealed", "theme_acts_sealed", "access_log_sealed", "access_log_kept"):
                tx.execute(text(f"drop function {function}"))
        for column in ("disabled_at", "one_time_until", "last_sign_in_at", "signed_out_at"):
            tx.execute(text(f"alter table users drop column {column}"))
        tx.execute(text("alter table attempts drop column address"))
        for table, column in (
            ("studies", "synthetic"), ("studies", "scheme"), ("studies", "ratings_per_item"), ("items", "reference"),
            ("ratings", "rationale"), ("drafts", "rationale"),
        ):  # fmt: skip
            tx.execute(text(f"alter table {table} drop column {column}"))
        tx.execute(text("update alembic_version set version_num = '0001'"))
    again = open_label_store(url)
    assert [(study.study_id, study.synthetic) for study in list_studies(again)] == [("s", False)]
    assert [row["label"] for row in assignment_rows(again, "s") if row["label"]] == ["ABSENT"]
    assert [state.state for state in list_account_states(again, NOW)] == ["active", "active"]
    assert list_log(again) == []
    assert verify_study(again, "s") == []
    assert unsealed_until(again, "s") is not None
    with again.begin() as tx:
        tx.execute(text("update seats set swapped = not swapped"))
    (fault,) = verify_study(again, "s")
    assert fault.startswith("seats: 4 rows were changed after the study was sealed")
    again.close()


def as_of_version(version: str, store: LabelStore) -> None:
    """Put the rows of a store into tables of an older version, which have fewer columns."""
    tables = schema.metadata.sorted_tables
    with store.read() as con:
        rows = {table.name: [dict(row) for row in con.execute(select(table)).mappings()] for table in tables}
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with store.begin() as tx:
        old = MetaData()
        old.reflect(tx)
        tx.execute(text("pragma defer_foreign_keys = on" if store.sqlite else "drop schema public cascade"))
        if store.sqlite:
            old.drop_all(tx)
        else:
            tx.execute(text("create schema public"))
        config.attributes["connection"] = tx
        command.upgrade(config, version)
        for table in (table for table in tables if rows[table.name]):
            there = Table(table.name, MetaData(), autoload_with=tx)
            kept = [{name: value for name, value in row.items() if name in there.c} for row in rows[table.name]]
            tx.execute(insert(there), kept)


def test_ratings_from_before_there_were_schemes_keep_their_hashes_and_stay_append_only(store: LabelStore, url: str) -> None:
    study_of(store, 2)
    rate(store, "ana", 1, "DIVERGENT", "high")
    as_of_version("0007", store)
    with store.begin() as tx, pytest.raises(IntegrityError), tx.begin_nested():
        _insert_rating(tx, "tie")
    again = open_label_store(url)
    assert [study.scheme for study in list_studies(again)] == [PAIRS]
    assert [row["label"] for row in assignment_rows(again, "s") if row["label"]] == ["DIVERGENT"]
    assert verify_study(again, "s") == []
    with again.begin() as tx:
        _insert_rating(tx, "tie")
    for change in ("update ratings set comment = 'x'", "delete from ratings"):
        with pytest.raises(DatabaseError), again.begin() as tx:  # refused by the triggers, which were made again
            tx.execute(text(change))
    with pytest.raises(IntegrityError), again.begin() as tx:
        _insert_rating(tx, "better")
    again.close()


def _insert_rating(tx: Connection, label: str) -> None:
    """A second rating of the first annotator's item, as somebody would write it by hand."""
    ratings = Table("ratings", MetaData(), autoload_with=tx)  # as they are in this version
    row = dict(tx.execute(select(ratings)).mappings().first() or {})
    tx.execute(insert(ratings).values({**row, "seq": 2, "revision": 2, "key": "by hand", "label": label, "significance": None}))
