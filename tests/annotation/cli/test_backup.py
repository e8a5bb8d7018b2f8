"""`audit study backup` and `restore`: what they print, and what they leave behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from annotation.label_store.access_log import list_log
from annotation.label_store.engine import open_label_store
from audit.cli.main import main
from tests.support.studies import rate, study_of


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A data folder with one study and one rating."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("AUDIT_STUDIES_URL", raising=False)
    url = f"sqlite:///{tmp_path / 'data' / 'studies.db'}"
    store = open_label_store(url)
    study_of(store, 2)
    rate(store, "ana", 1, "ABSENT")
    store.close()
    return url


def test_a_backup_is_written_verified_logged_and_restored(url: str, tmp_path: Path, capsys) -> None:
    backup = str(tmp_path / "backup.db")
    assert main(["study", "backup", backup]) == 0
    contents = "Studies: 1. Ratings, revisions included: 1. Nothing in them was altered."
    assert capsys.readouterr().out == f"Wrote {backup}\n{contents}\n"
    store = open_label_store(url)
    assert f"backup: {backup}" in [entry.detail for entry in list_log(store)]
    store.close()
    assert main(["study", "restore", backup]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"Restored {backup}. The database that it replaced is kept as ")
    assert len(list((tmp_path / "data").glob("studies.db.replaced-*"))) == 1


def test_a_backup_of_an_altered_study_is_kept_and_says_so(url: str, tmp_path: Path, capsys) -> None:
    store = open_label_store(url)
    with store.begin() as tx:
        tx.execute(text("update items set question = '?' where item_id = 'i001'"))
    store.close()
    assert main(["study", "backup", str(tmp_path / "backup.db"), "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["faults"] == ["s: items: 1 row was changed after the study was sealed (i001)"]
    assert (tmp_path / "backup.db").is_file()
    assert main(["study", "restore", str(tmp_path / "backup.db")]) == 2
    assert "Nothing was replaced" in capsys.readouterr().err
    assert main(["study", "restore", str(tmp_path / "backup.db"), "--accept-faults"]) == 1
