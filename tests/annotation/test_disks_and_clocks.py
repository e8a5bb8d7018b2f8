"""Every command on a disk that is full or read-only, and with a clock ahead or back: it works, or says why in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import NamedTuple, Self
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from annotation.label_store.engine import open_label_store
from annotation.studies.backup import back_up
from audit.cli.main import main
from tests.browser.conftest import server
from tests.support.loading import load
from tests.support.ports import free_port
from tests.support.studies import NOW, people, rate, study_of
from tests.support.tiny import release_from

TABLE = "q1 kidney topics=diet ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT d=absent\nq2 kidney ab=DIVERGENT"
READING = (
    "runs", "metrics labels", "metrics questions", "schema", "check {release}", "pairs", "study backup-verify {good}",
    "study create x --annotators ana,ben --dry-run",
)  # fmt: skip
OF_THE_STORE = (
    "account list", "account log", "account log --verify", "account log --prune", "account add bo --role pi --no-password",
    "account disable ana", "study verify s", "study advance s", "study export s --out {out}.csv",
    "study export s --packet ana --out {out}.csv", "study backup {out}.db", "agreement --study s", "prevalence --study s",
    "backup write {out}.zip", "study create x --annotators ana,ben --per-label 1",
)  # fmt: skip
WRITING = (
    "load {other}", "pairs --out {out}.csv", "export --out {out}.zip", "example tenancy {out}", "demo --no-serve",
    "questions {release}/questions.jsonl --out {out}.jsonl", "study restore {good}",
)  # fmt: skip
CAUSES = {
    "read-only": ("read-only file system", "cannot be written", "cannot write"),
    "full": ("no space", "disk is full", "not enough space"),
}
WITH_A_CLOCK = (*READING, *OF_THE_STORE, "load {other}", "pairs --out {out}.csv")
# A study that is opened or closed by a clock that was ahead stays so; these say how many ratings are missing, or no agreement yet
MAY_REFUSE = (
    "study advance s",
    "agreement --study s",
    "prevalence --study s",
    "study create x --annotators ana,ben --per-label 1",
)


class Prepared(NamedTuple):
    """A data folder with a study and a run, the run's release and another one, and a backup."""

    data: Path
    release: Path
    other: Path
    good: Path

    def typed(self, command: str, out: Path) -> list[str]:
        return command.format(release=self.release, other=self.other, good=self.good, out=out).split()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    folder = tmp_path_factory.mktemp("prepared")
    release, url = release_from(folder, TABLE), f"sqlite:///{folder / 'data' / 'studies.db'}"
    store = open_label_store(url)
    study_of(store, 3)
    rate(store, "ana", 1, "ABSENT")
    people(store, "petra", role="pi")
    store.close()
    load(release, folder / "data")
    back_up(url, folder / "good.db")
    return Prepared(folder / "data", release, release_from(folder, "q1 kidney ab=DIVERGENT", run_id="other"), folder / "good.db")


@pytest.fixture(params=CAUSES)
def disk(request: pytest.FixtureRequest, prepared: Prepared, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A disk of its own with the data folder on it, then filled or made read-only; which of the two, and where it is."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", tmp_path], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no disk of its own can be mounted here: that needs root")
    try:
        shutil.copytree(prepared.data, tmp_path / "data")
        if request.param == "full":
            _fill(tmp_path / "filling")
        else:
            subprocess.run(["mount", "-o", "remount,ro", tmp_path], check=True)
        yield request.param, tmp_path
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


def _fill(file: Path) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    with suppress(OSError):
        while True:
            os.write(descriptor, bytes(4096))
    os.close(descriptor)


def test_on_a_full_or_read_only_disk_every_command_works_or_tells_the_cause(
    disk: tuple[str, Path], prepared: Prepared, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, folder = disk
    monkeypatch.setenv("AUDIT_DATA_DIR", str(folder / "data"))
    monkeypatch.delenv("AUDIT_STUDIES_URL", raising=False)
    for command in READING:
        code = main(prepared.typed(command, folder / "out"))
        assert code in (0, 1), (command, capsys.readouterr().err)
    for command in (*OF_THE_STORE, *WRITING):
        code, said = main(prepared.typed(command, folder / "out")), capsys.readouterr().err
        assert (code, "Traceback" in said) == (2, False), (command, said)
        sentence = said.strip().splitlines()[-1]
        assert sentence.startswith("audit"), (command, said)
        assert any(cause in sentence.casefold() for cause in CAUSES[kind]), (command, sentence)
    assert {path.name for path in folder.iterdir()} <= {"data", "filling"}


def test_a_server_on_a_read_only_disk_ends_in_one_sentence_and_on_a_full_one_serves_what_can_be_read(
    disk: tuple[str, Path],
) -> None:
    kind, folder = disk
    if kind == "full":
        with server(folder / "data") as address, pytest.raises(HTTPError) as unready:
            urlopen(f"{address}/ready")
        assert json.load(unready.value) == {"store": "ready", "label_store": "not ready"}
        return
    environment = {**os.environ, "AUDIT_DATA_DIR": str(folder / "data")}
    command = [sys.executable, "-m", "audit", "serve", "--port", str(free_port())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "cannot write to" in done.stderr
    assert "Read-only file system. It was not started." in done.stderr


@pytest.mark.parametrize("days", [-400, 400])
def test_a_clock_that_is_ahead_or_back_stops_no_command(
    days: int, prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Shifted(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp((NOW + timedelta(days=days)).timestamp(), tz or UTC)

    for name, module in list(sys.modules.items()):
        if name.startswith(("annotation.", "audit.")) and getattr(module, "datetime", None) is datetime:
            monkeypatch.setattr(module, "datetime", Shifted)
    monkeypatch.setenv("AUDIT_DATA_DIR", str(shutil.copytree(prepared.data, tmp_path / "data")))
    monkeypatch.delenv("AUDIT_STUDIES_URL", raising=False)
    for number, command in enumerate(WITH_A_CLOCK):
        code, said = main(prepared.typed(command, tmp_path / f"out{number}")), capsys.readouterr().err
        assert code in ((0, 1, 2) if command in MAY_REFUSE else (0, 1)), (command, said)
        assert "Traceback" not in said
