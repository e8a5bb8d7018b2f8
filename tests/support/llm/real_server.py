"""A real OpenAI-compatible server for the tests: llama.cpp's own, from the xllamacpp wheel, with a tiny random model.

with real_server() as url: ...
python -m tests.support.llm.real_server MODEL.gguf     serves until its standard input ends, and prints its address first
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.llm.tiny_model import SEED, write_model

MODEL = "tiny-judge"
AT_ONCE, CONTEXT = 4, 4_096
WHEELS = ("xllamacpp", "gguf", "tokenizers")


class NoServerError(Exception):
    """There is no server, for the reason in the message."""


@contextmanager
def real_server(seed: int = SEED) -> Iterator[str]:
    """The address of a server's API (with /v1) that has the one model MODEL. It runs in its own process and ends with this one.

    Raises NoServerError if a wheel is missing or the server does not start.
    """
    missing = [name for name in WHEELS if importlib.util.find_spec(name) is None]
    if missing:
        raise NoServerError(f"not installed: {', '.join(missing)} (extra `test`)")
    with tempfile.TemporaryDirectory(prefix="llm-") as folder, (Path(folder) / "log").open("w+") as log:
        model = write_model(Path(folder) / "tiny.gguf", seed)
        command = [sys.executable, "-m", "tests.support.llm.real_server", str(model)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process:
            try:
                yield _address(process, log.name)
            finally:
                process.kill()


def _address(process: subprocess.Popen[str], log: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("http://"):
            return f"{line.strip()}/v1"
    raise NoServerError(f"the server does not start: {Path(log).read_text()[-300:]}")


def serve(model: str) -> None:
    """Serve on a free port of the loopback until standard input ends."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = {MODEL}
    settings.port = 0
    settings.n_parallel, settings.n_ctx = AT_ONCE, CONTEXT * AT_ONCE
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_gpu_layers, settings.warmup, settings.use_jinja = 0, False, True
    settings.endpoint_metrics = True
    settings.cache_ram_mib = 0
    settings.n_threads_http = 96  # with fewer than the client's connections, idle ones would starve the others
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
