"""`audit backup`: one archive that anybody can verify and that never gives way to one that holds less."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from annotation.label_store.engine import open_label_store
from annotation.studies.backup import restore
from annotation.studies.verification import verify_study
from annotation.studies.whole_backup import MANIFEST
from audit.cli.main import main
from tests.support.studies import NOW, rate, study_of


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a study, a setting, a correction and a journal with a reply that is still in its write-ahead log."""
    data = tmp_path / "data"
    monkeypatch.setenv("AUDIT_DATA_DIR", str(data))
    monkeypatch.delenv("AUDIT_STUDIES_URL", raising=False)
    monkeypatch.delenv("AUDIT_SOURCES", raising=False)
    store = open_label_store(f"sqlite:///{data / 'studies.db'}")
    study_of(store, 2)
    rate(store, "ana", 1, "ABSENT")
    store.close()
    for folder in ("sources", "releases"):
        (data / folder).mkdir()
    (data / "sources" / "a.corrections.jsonl").write_text('{"page": 1}\n')
    reply(data, "first")
    (data / "releases" / "elsewhere.journal").symlink_to("/etc/passwd")
    return data


def reply(data: Path, text: str) -> None:
    with closing(sqlite3.connect(data / "releases" / "r.journal")) as con, con:
        con.execute("create table if not exists replies (number integer primary key, reply text)")
        con.execute("insert into replies (reply) values (?)", (text,))


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    code = main(["backup", *words, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else {"refused": said.err}


def test_anybody_verifies_a_backup_and_what_was_changed_in_it_is_named(data: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    file = tmp_path / "all.zip"
    assert main(["backup", "write", str(file)]) == 0
    assert file.stat().st_mode & 0o077 == 0
    shutil.copytree(data, tmp_path / "before", symlinks=True)
    shutil.rmtree(data)
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "nowhere"))
    capsys.readouterr()
    code, told = printed(capsys, "verify", str(file))
    assert (code, told["faults"]) == (0, [])
    assert sorted(told["parts"]) == ["releases/r.journal", "sources/a.corrections.jsonl", "studies.db"]
    assert {key: told["holds"][key] for key in ("accounts", "studies", "ratings", "corrections", "replies of models")} == {
        "accounts": 2, "studies": 1, "ratings": 1, "corrections": 1, "replies of models": 1,
    }  # fmt: skip
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(tmp_path / "changed.zip", "w") as changed:
        for name in archive.namelist():
            changed.writestr(name, b"{}" if name.startswith("sources/") else archive.read(name))
        changed.writestr("../more", b"x")
        archive.extractall(tmp_path / "restored")
    code, told = printed(capsys, "verify", str(tmp_path / "changed.zip"))
    assert code == 1
    assert [fault.partition(" is ")[0] for fault in told["faults"]] == ["../more", "sources/a.corrections.jsonl"]
    restored = tmp_path / "restored" / "studies.db"
    restore(f"sqlite:///{tmp_path / 'new' / 'studies.db'}", restored, NOW)
    assert verify_study(open_label_store(f"sqlite:///{tmp_path / 'new' / 'studies.db'}"), "s") == []


def test_a_backup_is_replaced_by_one_that_holds_as_much_and_never_by_one_that_holds_less(
    data: Path, tmp_path: Path, capsys
) -> None:
    file = tmp_path / "all.zip"
    assert main(["backup", "write", str(file)]) == 0
    reply(data, "second")
    assert main(["backup", "write", str(file)]) == 0
    capsys.readouterr()
    kept = file.read_bytes()
    (data / "releases" / "r.journal").unlink()
    reply(data, "only")
    assert "2 replies of models (now 1)" in printed(capsys, "write", str(file))[1]["refused"]
    assert file.read_bytes() == kept
    other = tmp_path / "thesis.zip"
    other.write_bytes(b"years of work")
    assert "is not a backup" in printed(capsys, "write", str(other))[1]["refused"]
    assert other.read_bytes() == b"years of work"
    assert MANIFEST in zipfile.ZipFile(file).namelist()
