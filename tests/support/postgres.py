"""A PostgreSQL server for the tests, started from Debian's package in a folder of its own; absent: a reason to skip."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import free_port

PROGRAMS = Path("/usr/lib/postgresql")
OWNER = "nobody"
"""PostgreSQL refuses to run as root, so for root this account owns the server."""


class NoPostgresError(Exception):
    """Why there is no server."""


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a fresh server (database `postgres`), stopped and removed at the end.

    It does not wait for the disk: what the tests kill are clients, and then the server lives on.
    """
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    as_owner = _as_owner(folder)
    try:
        port = free_port()
        _run(
            [
                *as_owner,
                str(programs / "initdb"),
                "-D",
                str(folder / "data"),
                "-U",
                "tester",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-sync",
            ]
        )
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=60 -c shared_buffers=16MB -c fsync=off"
        start = [*as_owner, str(programs / "pg_ctl"), "-D", str(folder / "data"), "-o", options, "-w", "-t", "30"]
        _run([*start, "-l", str(folder / "log"), "start"])
        try:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            _run([*as_owner, str(programs / "pg_ctl"), "-D", str(folder / "data"), "-m", "immediate", "-w", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    found = sorted(PROGRAMS.glob("*/bin"), key=lambda path: int(path.parent.name) if path.parent.name.isdigit() else 0)
    if not found or not (found[-1] / "initdb").is_file():
        raise NoPostgresError("PostgreSQL is not installed (Debian package postgresql)")
    return found[-1]


def _as_owner(folder: Path) -> list[str]:
    if os.getuid() != 0:
        return []
    if shutil.which("runuser") is None:
        raise NoPostgresError("PostgreSQL does not run as root, and there is no runuser to run it as somebody else")
    shutil.chown(folder, OWNER)
    return ["runuser", "-u", OWNER, "--"]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode:
        raise NoPostgresError(f"PostgreSQL does not start: {done.stderr.strip()[:300]}")
