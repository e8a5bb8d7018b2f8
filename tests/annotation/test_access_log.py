"""The access log has what happened to accounts, keeps every entry, and loses old ones only where that is logged."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import DBAPIError

from annotation.label_store.access_log import Actor, Event, list_log, log_faults, prune_log, record_event
from annotation.label_store.engine import LabelStore
from annotation.label_store.schema import access_log
from annotation.label_store.stored_values import to_timestamp
from annotation.studies.accounts import (
    change_role,
    disable_account,
    enable_account,
    open_session,
    reset_password,
    sign_out,
    sign_out_everywhere,
)
from audit.errors import AuditError
from tests.support.studies import CHEAP, NOW, PASSWORD, later, people

PETRA = Actor("petra", "192.0.2.1")


def test_every_change_of_an_account_says_who_made_it_and_from_where(store: LabelStore) -> None:
    people(store, "ana")
    change_role(store, "ana", "viewer", NOW, PETRA)
    reset_password(store, "ana", NOW, PETRA, CHEAP)
    sign_out_everywhere(store, "ana", NOW, PETRA)
    disable_account(store, "ana", NOW, PETRA)
    enable_account(store, "ana", NOW, PETRA)
    sign_out(store, open_session(store, "ana", NOW), NOW, "192.0.2.9")
    assert [(entry.account, entry.address, entry.event, entry.detail) for entry in reversed(list_log(store))] == [
        ("(command line)", "", "account-added", "ana: annotator"),
        ("petra", "192.0.2.1", "role-changed", "ana: annotator → viewer"),
        ("petra", "192.0.2.1", "password-reset", "ana"),
        ("petra", "192.0.2.1", "sign-out-everywhere", "ana"),
        ("petra", "192.0.2.1", "account-disabled", "ana"),
        ("petra", "192.0.2.1", "account-enabled", "ana"),
        ("ana", "192.0.2.9", "sign-out", ""),
    ]


def test_a_change_that_was_refused_is_not_logged(lite: LabelStore) -> None:
    people(lite, "petra", role="pi")
    with pytest.raises(AuditError):
        disable_account(lite, "petra", NOW, PETRA)
    assert [entry.event for entry in list_log(lite)] == ["account-added"]


@pytest.mark.parametrize("statement", ["update access_log set detail = 'x'", "delete from access_log"])
def test_the_database_refuses_to_change_the_log(store: LabelStore, statement: str) -> None:
    people(store, "ana")
    with pytest.raises((DBAPIError, AuditError), match="append-only"), store.begin() as tx:
        tx.execute(text(statement))
    assert len(list_log(store)) == 1


def test_old_entries_go_and_the_log_says_so(store: LabelStore) -> None:
    for day in range(4):
        record_event(store, Event.EXPORT, PETRA, later(day * 86_400), f"file {day}")
    assert prune_log(store, later(2 * 86_400), PETRA, later(4 * 86_400)) == 2
    assert [(entry.event, entry.detail) for entry in list_log(store)] == [
        ("log-pruned", "2 entries from before 2026-03-03"),
        ("export", "file 3"),
        ("export", "file 2"),
    ]
    with pytest.raises((DBAPIError, AuditError), match="append-only"), store.begin() as tx:
        tx.execute(text("delete from access_log"))
    assert prune_log(store, later(2 * 86_400), PETRA, later(4 * 86_400)) == 0
    assert len(list_log(store)) == 3


def test_the_log_is_filtered_by_account_event_and_time(lite: LabelStore) -> None:
    people(lite, "ana", "anabel")
    record_event(lite, Event.EXPORT, Actor("ana"), later(10), "a_%.csv")
    record_event(lite, Event.EXPORT, PETRA, later(20), "b.csv")
    assert [entry.detail for entry in list_log(lite, account="ana")] == ["a_%.csv", "ana: annotator"]
    assert [entry.detail for entry in list_log(lite, events=[Event.EXPORT])] == ["b.csv", "a_%.csv"]
    assert [entry.detail for entry in list_log(lite, since=later(15))] == ["b.csv"]
    assert [entry.detail for entry in list_log(lite, limit=1)] == ["b.csv"]


def test_an_entry_is_one_line_of_bounded_length_that_every_database_takes(store: LabelStore) -> None:
    record_event(store, Event.EXPORT, PETRA, NOW, "one\ntwo\x00" + "x" * 1000)
    (entry,) = list_log(store)
    assert entry.detail.startswith("one two\ufffd")
    assert len(entry.detail) == 300


def test_the_log_has_no_password_and_no_token(lite: LabelStore) -> None:
    people(lite, "ana")
    given, token = reset_password(lite, "ana", NOW, PETRA, CHEAP), open_session(lite, "ana", NOW)
    sign_out(lite, token, NOW)
    with lite.read() as con:
        log = str(con.execute(text("select * from access_log")).all())
    assert not [secret for secret in (given, token, PASSWORD) if secret in log]


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("update access_log set detail = 'x' where entry = 2", "entry 2 was changed"),
        ("update access_log set event = 'x' where entry = 3", "entry 3 was changed"),
        ("delete from access_log where entry = 2", "entry 3 does not follow"),
        ("delete from access_log where entry = 3", "ends at entry 2, but 3 were written"),
        ("delete from access_log where entry = 1", "the entries before 2 were removed"),
        ("delete from access_log", "every entry was removed"),
    ],
)
def test_an_entry_that_was_changed_past_the_triggers_is_found(lite: LabelStore, statement: str, fault: str) -> None:
    for number in range(3):
        record_event(lite, Event.EXPORT, PETRA, NOW, f"file {number}")
    assert log_faults(lite) == []
    with lite.begin() as tx:
        for change in ("update", "delete"):
            tx.execute(text(f"drop trigger access_log_no_{change}"))
        tx.execute(text(statement))
    assert fault in " ".join(log_faults(lite))


def test_a_pruned_log_and_one_from_before_there_were_hashes_are_as_they_were_written(store: LabelStore) -> None:
    assert log_faults(store) == []
    old = {"at": to_timestamp(NOW), "account": "ana", "address": "", "event": "export", "detail": "old"}
    with store.begin() as tx:
        tx.execute(insert(access_log).values(entry=1, **old))
    for day in range(4):
        record_event(store, Event.EXPORT, PETRA, later(day * 86_400), f"file {day}")
    assert log_faults(store) == []
    prune_log(store, later(2 * 86_400), PETRA, later(4 * 86_400))
    assert log_faults(store) == []
