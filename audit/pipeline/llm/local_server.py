"""A model on this machine: llama.cpp's server on a GGUF file, for as long as it is needed.

It is the program `llama-server`, or the package xllamacpp, which has the same server.

That of llama-cpp-python obeys no JSON schema.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from audit.errors import AuditError

MAGIC = b"GGUF"
START_S = 300.0
WHEEL = "xllamacpp"
NO_SERVER = (
    "No server of llama.cpp was found, and no model was called. Install the program llama-server, so it is on the PATH "
    "(https://github.com/ggml-org/llama.cpp), or the package xllamacpp: pip install xllamacpp"
)


@dataclass(frozen=True)
class LocalModel:
    """What is served: the file, the name of the model, and the calls at once, each with a context of so many tokens."""

    file: Path
    name: str
    at_once: int = 1
    context: int = 8_192
    threads: int = 0


Command = Callable[[LocalModel, int], list[str]]
"""(model, port) -> the command that serves it there."""


def program_command(model: LocalModel, port: int) -> list[str]:
    """The command of the program `llama-server`."""
    options = [
        "-m",
        str(model.file),
        "-a",
        model.name,
        "--jinja",
        "-c",
        str(model.context * model.at_once),
        "-np",
        str(model.at_once),
    ]
    threads = ["-t", str(model.threads)] if model.threads else []
    return [shutil.which("llama-server") or "llama-server", *options, *threads, "--host", "127.0.0.1", "--port", str(port)]


def wheel_command(model: LocalModel, port: int) -> list[str]:
    """The command of this module, which serves by the package."""
    options = (str(model.file), model.name, model.at_once, model.context, model.threads, port)
    return [sys.executable, "-m", "audit.pipeline.llm.local_server", *map(str, options)]


def found_command() -> Command:
    """The program if it is there, else the package. Raises AuditError where there is neither."""
    if shutil.which("llama-server"):
        return program_command
    if importlib.util.find_spec(WHEEL):
        return wheel_command
    raise AuditError(NO_SERVER)


@contextmanager
def serving(model: LocalModel, command: Command | None = None) -> Iterator[str]:
    """The address (with /v1) of a server of the model on a free port of this machine; it ends with the block.

    Raises AuditError if the file is no model, no server is found, or it does not start.
    """
    _check_file(model.file)
    words = (command or found_command())(model, port := _free_port())
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log) as process,  # noqa: S603
    ):
        try:
            _until_ready(process, port, lambda: _end_of(log.fileno()))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _check_file(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(MAGIC))
    except OSError as error:
        raise AuditError(f"{file} cannot be read ({error.strerror}). No model was called.") from None
    if magic != MAGIC:
        raise AuditError(f"{file} is no GGUF file, the format of llama.cpp. No model was called. Name a file NAME.gguf.")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _until_ready(process: subprocess.Popen[bytes], port: int, said: Callable[[], str]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        # 503 while the model is being loaded
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as response:
            if response.status == 200:
                return
        time.sleep(0.1)
    raise AuditError(f"The server of the model did not start, and no model was called. It said: {said() or 'nothing'}")


def _end_of(log: int) -> str:
    size = os.fstat(log).st_size
    return " ".join(os.pread(log, 400, max(0, size - 400)).decode(errors="replace").split())


def serve_by_wheel(model: LocalModel, port: int) -> None:
    """Serve until standard input ends, which it does with the process that started this one."""
    xllamacpp = import_module(WHEEL)
    settings = xllamacpp.CommonParams()
    settings.model.path, settings.model_alias, settings.port = str(model.file), {model.name}, port
    settings.n_parallel, settings.n_ctx = model.at_once, model.context * model.at_once
    threads = model.threads or max(1, (os.cpu_count() or 2) // 2)
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.warmup, settings.use_jinja, settings.endpoint_metrics = False, True, True
    settings.cache_ram_mib = 0
    settings.n_threads_http = 96  # with fewer than the client's connections, idle ones would starve the others
    server = xllamacpp.Server(settings)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    file, name, *numbers = sys.argv[1:]
    at_once, context, threads, port = map(int, numbers)
    serve_by_wheel(LocalModel(Path(file), name, at_once, context, threads), port)
