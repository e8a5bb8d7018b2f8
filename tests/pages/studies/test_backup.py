"""The page Backup: a PI writes an archive, checks it, reads how to restore it, and is told of one that was changed."""

from __future__ import annotations

from pathlib import Path

from annotation.label_store.access_log import Event, list_log
from annotation.label_store.engine import LabelStore
from annotation.studies.whole_backup import read_backup
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import study_of


def test_a_backup_is_written_checked_noted_and_never_downloaded(folk: LabelStore, data_dir: Path, as_user: SignIn) -> None:
    study_of(folk, 2)
    at = as_user("petra", "backup")
    assert "There is no backup here yet" in words_on(at)
    at.button[0].click().run()
    assert not at.exception
    (file,) = (data_dir / "backups").glob("*.zip")
    assert read_backup(file).holds["studies"] == 1
    assert file.stat().st_mode & 0o077 == 0
    assert "It holds accounts 5, studies 1" in at.success[0].value.replace("\\", "")
    assert f"python -m zipfile -e {file} restored" in words_on(at)
    assert "It has no runs" in words_on(at)
    assert "Corrections and replies are copied back by hand" in words_on(at)
    assert not at.get("download_button")
    assert [entry.detail.split(":")[0] for entry in list_log(folk, events=[Event.EXPORT])] == ["backup"]


def test_a_backup_that_was_changed_is_not_to_be_restored(folk: LabelStore, data_dir: Path, as_user: SignIn) -> None:
    at = as_user("petra", "backup")
    at.button[0].click().run()
    (file,) = (data_dir / "backups").glob("*.zip")
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:-200])
    at.button[1].click().run()
    assert "is not a backup that can be read" in words_on(at)
