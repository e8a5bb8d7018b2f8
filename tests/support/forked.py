"""Servers that begin as copies of one process in which everything is imported: `audit serve` takes two seconds of computing
until it answers and another for its first page, nearly all of it for imports, and the tests start about fifty servers.

Each worker keeps one such process (`python -m tests.support.forked`), which forks for each line that it reads. What `audit serve`
would start in its place by exec, this one runs.
"""

from __future__ import annotations

import json
import os
import pkgutil
import runpy
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
IMPORTED = (
    "duckdb", "openpyxl", "pandas", "plotly.graph_objects", "pyarrow.parquet", "scipy.stats", "streamlit.testing.v1",
    "streamlit.web.bootstrap", "streamlit.web.cli", "uvicorn",
)  # fmt: skip
PACKAGES = ("audit.charts", "audit.metrics", "audit.queries", "audit.release", "audit.stats", "audit.store", "annotation")
MODULES = ("audit.cli.dashboard", "audit.jobs.asking", "audit.result_cache")


class ForkedServer:
    """A running `audit serve`, with what is used of `subprocess.Popen`."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], output: Path) -> None:
        self.pid = _fork(json.dumps([list(arguments), dict(environment), str(output)]))
        try:
            self._ended = os.pidfd_open(self.pid)
        except ProcessLookupError:
            self._ended = -1

    def poll(self) -> int | None:
        """0 once the process has ended."""
        return 0 if self._ended < 0 or select.select([self._ended], [], [], 0)[0] else None

    def terminate(self) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._ended, signal.SIGTERM)

    def wait(self, timeout: float) -> None:
        """Raises TimeoutError for a process that goes on."""
        if self._ended < 0:
            return
        if not select.select([self._ended], [], [], timeout)[0]:
            raise TimeoutError(f"the server goes on {timeout:.0f} s after it was told to end")
        os.close(self._ended)
        self._ended = -1


def _fork(request: str) -> int:
    process = _origin()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{request}\n")
    process.stdin.flush()
    return int(process.stdout.readline())


@cache
def _origin() -> subprocess.Popen[str]:
    """Ends when this process does, because its input ends."""
    # A thread of OpenBLAS would not be there after the fork
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.support.forked"]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def main() -> None:
    """Fork for each line of input, and print the process id."""
    for package in PACKAGES:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.rpartition(".")[2].startswith("__"):
                import_module(module.name)
    for name in (*IMPORTED, *MODULES):
        import_module(name)
    signal.signal(signal.SIGCHLD, _reap)
    while line := sys.stdin.readline():
        if pid := os.fork():
            print(pid, flush=True)
        else:
            serve(*json.loads(line))
            return


def _reap(*_: object) -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def serve(arguments: list[str], environment: dict[str, str], output: str) -> None:
    """Be `audit` with these arguments, without what it prepares for questions that nobody may ask."""
    from audit.cli.main import main as audit
    from audit.jobs import asking

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    with Path(output).open("ab") as written, Path(os.devnull).open() as nothing:
        for file, number in ((nothing, 0), (written, 1), (written, 2)):
            os.dup2(file.fileno(), number)
    asking.prepare = lambda *_: None
    os.execv = _run_instead  # type: ignore[assignment]
    sys.exit(audit(arguments))


def _run_instead(_: str, words: list[str]) -> NoReturn:
    sys.argv = words[1:]
    sys.path.insert(0, str(Path(words[1]).parent))
    runpy.run_path(words[1], run_name="__main__")
    sys.exit()


if __name__ == "__main__":
    main()
