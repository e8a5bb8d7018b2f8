"""Every command and the start of a server on a label store that is damaged, emptied or out of reach: one sentence each."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from annotation.label_store.engine import lock_for_serving, open_label_store
from annotation.studies.accounts import account_of_token, open_session
from audit.cli.main import main
from audit.errors import AuditError
from tests.support.studies import NOW, people, rate, study_of


def _written(content: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content(path.read_bytes())) and None


def _out_of_reach(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.write_text("a file in the place of the folder")


BREAKS: dict[str, Callable[[Path], None]] = {
    "emptied": _written(lambda _: b""),
    "no header": _written(lambda content: b"\x00" * 100 + content[100:]),
    "cut in half": _written(lambda content: content[: len(content) // 2]),
    "garbage in the middle": _written(lambda content: content[:4096] + b"\xa5" * (len(content) - 4096)),
    "another file": _written(lambda _: b"not a database, however long this text may be. " * 40),
    "out of reach": _out_of_reach,
}
COMMANDS = (
    "account list", "account log", "account log --verify", "account add bo --role pi --no-password", "account disable ana",
    "study verify s", "study advance s", "study export s --out {new}", "study backup {new}", "study backup-verify {store}",
    "agreement --study s",
)  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "data"
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    study_of(store, 3)
    rate(store, "ana", 1, "ABSENT")
    store.close()
    return folder


@pytest.mark.parametrize("broken", BREAKS)
def test_every_command_and_the_server_end_in_one_sentence(
    sound: Path, broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(shutil.copytree(sound, tmp_path / "data")) / "studies.db"
    for rest in ("-wal", "-shm"):
        Path(f"{path}{rest}").unlink(missing_ok=True)
    BREAKS[broken](path)
    monkeypatch.setenv("AUDIT_DATA_DIR", str(path.parent))
    monkeypatch.delenv("AUDIT_STUDIES_URL", raising=False)
    for command in COMMANDS:
        code = main(command.format(new=tmp_path / "new.db", store=path).split())
        said = capsys.readouterr()
        assert (code, "Traceback" in said.err) == (2, False), (command, said)
        assert len(said.err.strip().splitlines()) == 1, (command, said.err)
        assert not (tmp_path / "new.db").exists()
    if broken in ("emptied", "out of reach"):  # the others are refused when the first page asks for an account
        with pytest.raises(AuditError):
            lock_for_serving(f"sqlite:///{path}")


def test_a_clock_that_was_ahead_or_set_back_locks_nobody_out_and_signs_nobody_in(sound: Path, tmp_path: Path) -> None:
    store = open_label_store(f"sqlite:///{Path(shutil.copytree(sound, tmp_path / 'data')) / 'studies.db'}")
    people(store, "petra", role="pi")
    ahead = open_session(store, "petra", NOW + timedelta(days=300))
    assert account_of_token(store, ahead, NOW) is None
    assert account_of_token(store, open_session(store, "petra", NOW - timedelta(days=2)), NOW - timedelta(days=2)) is not None
    store.close()
