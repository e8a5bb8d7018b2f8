"""Python processes that begin as copies of one in which everything is imported: `audit serve` computes for two seconds until it
answers and for another until its first page is shown, a command for two, nearly all of it imports; the tests start about 150.

Each worker keeps one such process, `python -m tests.support.forked`, which forks for each request on its socket.
"""

from __future__ import annotations

import atexit
import gc
import gettext
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
IMPORTED = (
    "aiohttp", "duckdb", "openpyxl", "pandas", "plotly.graph_objects", "pyarrow.parquet", "scipy.stats", "streamlit.testing.v1",
    "streamlit.web.bootstrap", "streamlit.web.cli", "uvicorn", "audit.cli.dashboard", "audit.jobs.asking", "audit.result_cache",
)  # fmt: skip
PACKAGES = (
    "annotation", "audit.charts", "audit.jobs", "audit.metrics", "audit.queries", "audit.release", "audit.stats", "audit.store",
    "audit.pipeline.cli",
)  # fmt: skip
MOST_BYTES = 1 << 20
SERVE = ["-m", "audit", "serve"]
LOCK = threading.Lock()


class ForkedPython(subprocess.Popen[Any]):
    """`Popen([sys.executable, "-m", MODULE, ...])`, or with "-c", without starting Python and importing again."""

    def _execute_child(self, args: Sequence[str], *rest: Any) -> None:  # its private method, the same in Python 3.11 to 3.14
        (_, _, _, _, cwd, env, _, _, _, *pipes) = rest[:15]
        read, _, _, write, _, errors = pipes
        ends, status = os.pipe()
        streams = [number if fd == -1 else fd for number, fd in enumerate((read, write, errors))]
        new_session = rest[20]
        request = [
            [str(word) for word in args[1:]],
            str(cwd or Path.cwd()),
            dict(os.environ if env is None else env),
            new_session,
        ]
        with LOCK:
            origin = _origin()
            socket.send_fds(origin, [json.dumps(request).encode()], [*streams, status])
            self.pid = int(origin.recv(MOST_BYTES))
        os.close(status)
        self._status = ends
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """(process id, status) of one that has ended, and (0, 0) of one that has not where `wait_flags` is os.WNOHANG."""
        os.set_blocking(self._status, wait_flags == 0)
        try:
            status = os.read(self._status, 16)
        except BlockingIOError:
            return 0, 0
        os.close(self._status)
        return self.pid, int(status or 9)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode


Python = ForkedPython if sys.platform == "linux" else subprocess.Popen
FORKING = SimpleNamespace(**{**vars(subprocess), "Popen": Python})
"""Stands in for the module `subprocess` where a module of the product starts Python."""


@cache
def _origin() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", "tests.support.forked", str(theirs.fileno())]
        # A thread of OpenBLAS would not be there after the fork. The process ends with this one, which closes the socket.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    return ours


def main(number: str) -> None:
    """Fork for each request, and reply with the process id; later its status is written to the last file of the request."""
    import_everything()
    gc.collect()
    gc.freeze()  # so that no process looks through what it only shares, which would copy it
    reports: dict[int, int] = {}

    def report(*_: object) -> None:
        while reports:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            place = reports.pop(pid)
            os.write(place, str(status).encode())
            os.close(place)

    requests = socket.socket(fileno=int(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, report)
    while True:
        request, files, _, _ = socket.recv_fds(requests, MOST_BYTES, 4)
        if not request:
            os._exit(0)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # a child may end before it is noted here
        if (pid := os.fork()) == 0:
            requests.close()
            for place, file in enumerate(files[:3]):
                os.dup2(file, place)
            for file in (*files, *reports.values()):
                os.close(file)
            leave(partial(be, *json.loads(request)))
        for file in files[:3]:
            os.close(file)
        reports[pid] = files[3]
        requests.send(str(pid).encode())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def import_everything() -> None:
    for name in IMPORTED:
        import_module(name)
    for name in (
        PACKAGES if find_spec("audit.pipeline") else PACKAGES[:-1]
    ):  # where one side of the wall is deleted, the other can be tested
        for found in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
            if not found.name.endswith("__main__"):
                import_module(found.name)
    from streamlit.components.v2 import manifest_scanner

    from audit.text.quantity import find_quantities

    find_quantities("2 mg")  # compiles the patterns of all units
    gettext.find = cache(gettext.find)  # as in tests/conftest.py
    found = manifest_scanner.scan_component_manifests()  # reads what is installed: half of what a server computes to start
    manifest_scanner.scan_component_manifests = lambda *_, **__: list(found)


def be(words: list[str], cwd: str, environment: dict[str, str], new_session: bool) -> None:
    """Be Python with these arguments."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    if new_session:
        os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:1] = [cwd, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    if words[:3] == SERVE:
        from audit.jobs import asking

        asking.prepare = lambda *_: None  # reads the handbooks for questions, which the tests that ask do themselves
        os.execv = _run_instead  # type: ignore[assignment]
    sys.argv = words[1:]
    if words[0] == "-m":
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["-c", *words[2:]]
        sys.modules["__main__"] = module = ModuleType("__main__")
        exec(words[1], vars(module))


def leave(work: Callable[[], None]) -> NoReturn:
    """Do `work` and exit as Python does, without taking every module apart: that takes as long as most commands."""
    code: object = 0
    try:
        work()
    except SystemExit as left:
        code = left.code or 0
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(ValueError):  # closed
            stream.flush()
    os._exit(code)


def _run_instead(_: str, words: list[str]) -> NoReturn:
    sys.argv = words[1:]
    sys.path.insert(0, str(Path(words[1]).parent))
    runpy.run_path(words[1], run_name="__main__")
    sys.exit()


if __name__ == "__main__":
    main(sys.argv[1])
