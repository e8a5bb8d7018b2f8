"""How a command ends when the machine refuses something: one sentence, never a traceback, and nothing lost."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.cli.conventions import OK
from audit.cli.main import execute
from audit.cli.main import main as audit
from audit.store.connection import DuckDBError
from tests.support.loading import load


@pytest.fixture(autouse=True)
def _data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))


def _failing(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/d/x"), "audit: /d/x: no space left on device. The command stopped"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "Free some disk space"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS), "/d"), "/d: read-only file system."),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/d"), "Name a folder that you may write to"),
        (
            DuckDBError('IO Error: Could not write file "x": No space left on device\nmore'),
            "on device. Everything that was loaded",
        ),
        (KeyboardInterrupt(), "audit: stopped. Everything that was loaded, stored or completely written before is unchanged."),
    ],
)
def test_an_error_of_the_machine_is_one_sentence(capsys: pytest.CaptureFixture[str], error: BaseException, words: str) -> None:
    assert execute("audit", _failing(error)) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1


def test_a_data_folder_that_is_a_file_is_reported(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "taken"))
    assert audit(["load", str(release)]) == 2
    assert audit(["account", "list"]) == 2
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines() if ": " in line] == ["audit", "audit"]
    assert (tmp_path / "taken").read_text() == "mine"


def _python(script: str, **options: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, **options)


WRITES = """
from audit.cli.main import execute
raise SystemExit(execute("audit", lambda: print("a line") or 0))
"""


def test_output_that_nobody_reads_ends_well_and_silently() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = _python(WRITES, stdout=writing)
    os.close(writing)
    _, message = process.communicate(timeout=60)
    assert (process.returncode, message) == (OK, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_to_a_full_disk_is_reported() -> None:
    with Path("/dev/full").open("wb") as full:
        process = _python(WRITES, stdout=full.fileno())
        _, message = process.communicate(timeout=60)
    assert process.returncode == 2
    assert message.startswith(b"audit: no space left on device.")
    assert message.count(b"\n") == 1


def test_ctrl_c_stops_the_program_with_a_sentence() -> None:
    script = "import os, signal\nfrom audit.cli.main import execute\n"
    script += f"signal.signal({int(signal.SIGINT)}, signal.default_int_handler)\n"
    script += f"raise SystemExit(execute('audit', lambda: os.kill(os.getpid(), {int(signal.SIGINT)}) or 0))"
    process = _python(script)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 2
    assert message.startswith(b"audit: stopped.")


def test_a_port_in_use_is_reported_before_the_dashboard_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        assert audit(["serve", "--port", str(other.getsockname()[1])]) == 2
    message = capsys.readouterr().err
    assert "address already in use. It was not started." in message
    assert message.count("\n") == 1


def test_an_invalid_address_is_reported_before_the_dashboard_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(["serve", "--host", "no such host", "--port", "8999"]) == 2
    assert "audit: The dashboard cannot listen on no such host, port 8999" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [("AUDIT_PORT", "0"), ("AUDIT_PORT", "65536"), ("AUDIT_MAX_OBJECT_MB", "-5"), ("AUDIT_JUDGE_CONCURRENCY", "0")],
)
def test_a_setting_out_of_range_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(name, text)
    assert audit(["runs"]) == 2
    assert f"Setting {name} is '{text}', but must be an integer from 1 to" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [["--passages", "-3"], ["--depth", "0"], ["--sufficient", "7"], ["--threads", "-2"], ["--whole-characters", "-1"]],
)
def test_retrieval_refuses_numbers_that_mean_nothing(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    with pytest.raises(SystemExit):
        audit(["retrieve", "documents", "--questions", "q.jsonl", "--out", "out", *options])
    assert f", not {options[1]}" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--target-themes", "-4"], ["--cut", "-1"], ["--cut", "nan"], ["--threads", "0"]])
def test_themes_refuse_numbers_that_mean_nothing(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    with pytest.raises(SystemExit):
        audit(["themes", "build", "--topics", "t.txt", "--out", "t.json", *options])
    assert f", not {options[1]}" in capsys.readouterr().err


def test_a_store_that_cannot_be_read_is_named_beside_the_runs_that_can(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = load(release, tmp_path / "data").run
    (run.path.parent / "spoilt.duckdb").write_bytes(b"no store at all")
    assert audit(["runs"]) == 0
    message = capsys.readouterr()
    assert run.key in message.out
    assert "spoilt.duckdb is left out because it cannot be read (" in message.err


def test_a_load_that_finds_no_room_leaves_the_run_that_was_there(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = load(release, tmp_path / "data").run

    def full(*_: object) -> None:
        raise DuckDBError("IO Error: Could not write file: No space left on device")

    monkeypatch.setattr("audit.store.load.load_questions", full)
    assert audit(["load", str(release), "--again"]) == 2
    assert "Free some disk space" in capsys.readouterr().err
    assert before.path.is_file()
    assert not list(before.path.parent.glob("*.building*"))
