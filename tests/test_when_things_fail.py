"""What the machine refuses a command: no room, no right, nobody who reads. One sentence, never a traceback, nothing lost."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.cli import main as annotation
from audit.cli.command import OK, answer
from audit.cli.main import main as audit
from audit.settings import Settings
from audit.store.connection import DuckDBError
from tests.support.loading import load


@pytest.fixture(autouse=True)
def _data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))


def _program(command: Callable[[argparse.Namespace, Settings], int]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="audit")
    parser.set_defaults(command=command)
    return parser


def _fails(error: BaseException) -> argparse.ArgumentParser:
    def command(_: argparse.Namespace, __: Settings) -> int:
        raise error

    return _program(command)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/d/x"), "audit: /d/x: no space left on device. The command stopped"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "Make room on that disk"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS), "/d"), "/d: read-only file system."),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/d"), "Name a folder that you may write to"),
        (DuckDBError('IO Error: Could not write file "x": No space left on device\nmore'), "on device. What was loaded"),
        (KeyboardInterrupt(), "audit: stopped. What was loaded, stored or written whole before is as it was."),
    ],
)
def test_what_the_machine_refuses_is_one_sentence(capsys: pytest.CaptureFixture[str], error: BaseException, words: str) -> None:
    assert answer(_fails(error), []) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_a_data_folder_that_is_a_file_is_said_by_both_programs(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "taken"))
    assert audit(["load", str(release)]) == 2
    assert annotation(["account", "list"]) == 2
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines() if ": " in line] == ["audit", "annotation"]
    assert (tmp_path / "taken").read_text() == "mine"


def _python(script: str, **options: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, **options)


WRITES = """
import argparse
from audit.cli.command import answer
parser = argparse.ArgumentParser(prog="audit")
parser.set_defaults(command=lambda *_: print("a line") or 0)
raise SystemExit(answer(parser, []))
"""


def test_output_that_nobody_reads_ends_well_and_silently() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = _python(WRITES, stdout=writing)
    os.close(writing)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (OK, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_a_full_disk_does_not_take_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        process = _python(WRITES, stdout=full.fileno())
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.startswith(b"audit: no space left on device.")
    assert said.count(b"\n") == 1


def test_ctrl_c_stops_either_program_with_a_sentence() -> None:
    script = (
        "import os, signal, argparse\nfrom audit.cli.command import answer\nparser = argparse.ArgumentParser(prog='annotation')\n"
    )
    script += f"signal.signal({int(signal.SIGINT)}, signal.default_int_handler)\n"
    script += f"parser.set_defaults(command=lambda *_: os.kill(os.getpid(), {int(signal.SIGINT)}) or 0)\n"
    process = _python(script + "raise SystemExit(answer(parser, []))")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.startswith(b"annotation: stopped.")


def test_a_port_that_is_taken_is_said_before_the_dashboard_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        assert audit(["serve", "--port", str(other.getsockname()[1])]) == 2
    said = capsys.readouterr().err
    assert "address already in use. It was not started." in said
    assert said.count("\n") == 1


def test_an_address_that_is_none_is_said_before_the_dashboard_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(["serve", "--host", "no such host", "--port", "8999"]) == 2
    assert "audit: The dashboard cannot listen on no such host, port 8999" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [("AUDIT_PORT", "0"), ("AUDIT_PORT", "65536"), ("AUDIT_MAX_OBJECT_MB", "-5"), ("AUDIT_JUDGE_CONCURRENCY", "0")],
)
def test_a_setting_beyond_its_bounds_is_said(
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
    assert f"'{options[1]}' is no " in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--target-themes", "-4"], ["--cut", "-1"], ["--cut", "nan"], ["--threads", "0"]])
def test_themes_refuse_numbers_that_mean_nothing(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    with pytest.raises(SystemExit):
        audit(["themes", "build", "--topics", "t.txt", "--out", "t.json", *options])
    assert f"'{options[1]}' is no " in capsys.readouterr().err


def test_a_store_that_cannot_be_read_is_named_beside_the_runs_that_can(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = load(release, tmp_path / "data").run
    (run.path.parent / "spoilt.duckdb").write_bytes(b"no store at all")
    assert audit(["runs"]) == 0
    said = capsys.readouterr()
    assert run.key in said.out
    assert "spoilt.duckdb is left out: it cannot be read (" in said.err


def test_a_load_that_finds_no_room_leaves_the_run_that_was_there(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = load(release, tmp_path / "data").run

    def full(*_: object) -> None:
        raise DuckDBError("IO Error: Could not write file: No space left on device")

    monkeypatch.setattr("audit.store.load.load_answers", full)
    assert audit(["load", str(release), "--again"]) == 2
    assert "Make room on that disk" in capsys.readouterr().err
    assert before.path.is_file()
    assert not list(before.path.parent.glob("*.building*"))
