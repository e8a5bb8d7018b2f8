"""`audit account ...`, as people type it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from annotation.label_store.access_log import Actor, Event, record_event
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.studies.accounts import open_session
from annotation.studies.signing_in import PasswordChangeError, sign_in
from audit.cli.main import main
from audit.settings import Settings
from tests.support.studies import CHEAP, people

Typed = Callable[..., tuple[int, str]]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Type a command of `audit account`: (exit code, what it printed)."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("annotation.studies.accounts.default_hasher", lambda: CHEAP)

    def run(*words: str, entered: str = "") -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(entered))
        code = main(["account", *words])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


@pytest.fixture
def store(typed: Typed) -> LabelStore:
    opened = open_label_store(Settings().studies_url)
    people(opened, "petra", role="pi")
    people(opened, "ana")
    return opened


def events(typed: Typed, *words: str) -> list[tuple[str, str]]:
    return [(entry["event"], entry["detail"]) for entry in json.loads(typed("log", "--json", *words)[1])]


def test_an_account_is_disabled_and_enabled(typed: Typed, store: LabelStore) -> None:
    assert typed("disable", "Ana") == (0, "Account 'ana' is disabled, and its sessions have ended. Its ratings stay.\n")
    assert "disabled" in typed("list")[1].splitlines()[0]
    assert json.loads(typed("enable", "ana", "--json")[1]) == {"username": "ana", "state": "enabled"}
    assert events(typed)[:2] == [("account-enabled", "ana"), ("account-disabled", "ana")]


def test_the_last_pi_is_neither_disabled_nor_demoted(typed: Typed, store: LabelStore) -> None:
    for words in (("disable", "petra"), ("role", "petra", "viewer")):
        code, printed = typed(*words)
        assert (code, "is the only PI who can sign in" in printed) == (2, True)


def test_a_role_is_changed_and_an_unknown_one_gets_a_suggestion(typed: Typed, store: LabelStore) -> None:
    assert typed("role", "ana", "adjudicater")[1].count("Did you mean 'adjudicator'?") == 1
    assert json.loads(typed("role", "ana", "adjudicator", "--json")[1]) == {"username": "ana", "role": "adjudicator"}
    assert events(typed)[0] == ("role-changed", "ana: annotator → adjudicator")


def test_signing_out_says_how_many_sessions_ended(typed: Typed, store: LabelStore) -> None:
    for _ in range(2):
        open_session(store, "ana", datetime.now(UTC))
    assert json.loads(typed("sign-out", "ana", "--json")[1]) == {"username": "ana", "sessions_ended": 2}
    assert typed("sign-out", "ana") == (0, "Account 'ana' is signed out everywhere.\n")


def test_a_reset_prints_a_password_that_has_to_be_changed(typed: Typed, store: LabelStore) -> None:
    password = json.loads(typed("reset", "ana", "--json")[1])["one_time_password"]
    with pytest.raises(PasswordChangeError):
        sign_in(store, "ana", password, datetime.now(UTC), CHEAP)
    assert password not in typed("log", "--format", "csv")[1]


def test_the_log_is_filtered_and_its_csv_runs_no_formula(typed: Typed, store: LabelStore) -> None:
    record_event(store, Event.EXPORT, Actor("ana", "192.0.2.1"), datetime.now(UTC), "=HYPERLINK(1)")
    record_event(store, Event.EXPORT, Actor("ana"), datetime.now(UTC) - timedelta(days=3), "old.csv")
    assert len(events(typed, "--account", "ana")) == 3
    assert events(typed, "--account", "ana", "--event", "export", "--days", "2") == [("export", "=HYPERLINK(1)")]
    printed = typed("log", "--event", "export", "--format", "csv")[1].splitlines()
    assert printed[0] == "at,account,address,event,detail"
    assert printed[1].endswith(",'=HYPERLINK(1)") or printed[2].endswith(",'=HYPERLINK(1)")
    assert "| downloaded or exported |" in typed("log")[1]


def test_old_entries_are_removed_on_request_after_the_days_of_the_setting(
    typed: Typed, store: LabelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    for days in (400, 20, 5):
        record_event(store, Event.EXPORT, Actor("ana"), now - timedelta(days=days), f"{days}.csv")
    assert [detail for event, detail in events(typed) if event == "export"] == ["5.csv", "20.csv", "400.csv"]
    assert "1 entries older than 365 days were removed." in typed("log", "--prune")[1]
    monkeypatch.setenv("AUDIT_ACCESS_LOG_DAYS", "10")
    typed("log", "--prune")
    assert [detail for event, detail in events(typed) if event == "export"] == ["5.csv"]
    assert [event for event, _ in events(typed)].count("log-pruned") == 2
    monkeypatch.setenv("AUDIT_ACCESS_LOG_DAYS", "0")
    assert "AUDIT_ACCESS_LOG_DAYS is '0', but must be an integer from 1" in typed("log", "--prune")[1]
