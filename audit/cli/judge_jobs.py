"""Judging in the background: each job is a folder below AUDIT_DATA_DIR/judge, carried out by `audit judge` in its own process.

What a job is and how far it is stands in its folder and nowhere else, so whoever started it may go away and come back:

    order.json       what is to be judged, and how          pairs.csv       which pairs, where some were chosen
    estimate.json    what it would cost (judge_status)       status.json     how far it is, how it ended (judge_status)
    process.json     the process that was started last      log             what that process printed
    release/         the result, and release.journal        loaded/         the result as a run, to compare it with
    saved.json       under which name it was saved

The key of the endpoint is in none of them: the process has it from the environment, as the settings do.
"""

from __future__ import annotations

import csv
import fcntl
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import audit
from audit.atomic_io import write_atomic
from audit.cli.command import FINDINGS, OK
from audit.cli.judge_source import COLUMNS, Triple
from audit.cli.judge_status import ENDED
from audit.errors import AuditError
from audit.llm.journal import journal_path
from audit.settings import Settings

NAME = re.compile(r"rejudged-\d{8}-\d{6}-[0-9a-f]{4}")
ESTIMATE, JUDGE = "estimate", "judge"
TRIES, PAUSE_S = 20, 0.05
KILLED = "Its process ended without a word: it was killed, or the machine was switched off. What came back is stored."


class State(StrEnum):
    """Where a job stands."""

    ORDERED = "not started"
    ESTIMATING = "estimating"
    ESTIMATED = "estimated"
    RUNNING = "running"
    STOPPED = "stopped"
    JUDGED = "judged"
    SAVED = "saved"


@dataclass(frozen=True)
class Order:
    """What is to be judged, and how.

    run, title   the digest and the title of the run; chosen, count   which pairs, in words, and how many
    pairs        all, sample:N, or file (those that were handed to `place`); pair   the only one, where it is one
    model        the model that was set when it was ordered; by   who ordered it, where people sign in
    """

    run: str
    title: str
    chosen: str
    count: int
    pairs: str = "file"
    pair: Triple | None = None
    baseline: bool = False
    model: str = ""
    protocol: str = "structured"
    swap: bool = False
    blind: bool = False
    repeats: int = 0
    by: str = ""


@dataclass(frozen=True)
class Job:
    """One job as its folder told it when it was read."""

    name: str
    folder: Path
    order: Order
    state: State
    status: dict[str, Any] = field(default_factory=dict)
    estimate: dict[str, Any] = field(default_factory=dict)
    saved: str = ""

    @property
    def release(self) -> Path:
        """Where the result is."""
        return self.folder / "release"

    @property
    def journal(self) -> Path:
        """Where the replies are."""
        return journal_path(self.release)

    @property
    def said(self) -> str:
        """The sentence with which its last process ended, if it ended otherwise than well."""
        process = _read(self.folder / "process.json")
        if not process or self.state in (State.RUNNING, State.ESTIMATING):
            return ""
        told = _read(self.folder / ("estimate.json" if process["doing"] == ESTIMATE else "status.json"))
        if told.get("phase") == ENDED:
            return str(told.get("said") or "")
        return KILLED if told else _last_line(self.folder / "log") or KILLED


# -- ordering and looking ------------------------------------------------------------------------------------------------


def place(settings: Settings, order: Order, pairs: Iterable[Triple] = ()) -> Job:
    """A new job; nothing is started. `pairs` are those of an order whose `pairs` is file."""
    now = datetime.now(UTC)
    folder = _root(settings) / f"rejudged-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    folder.mkdir(parents=True)
    if order.pairs == "file":
        with (folder / "pairs.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([COLUMNS, *pairs])
    _write(folder / "order.json", asdict(order))
    return _job(folder, None)


def find_job(settings: Settings, name: str) -> Job:
    """The job of that name. Raises AuditError when there is none."""
    folder = _root(settings) / name
    if not NAME.fullmatch(name) or not (folder / "order.json").is_file():
        raise AuditError(f"There is no re-judging '{name[:80]}' here. It may have been discarded. Nothing was done.")
    return _job(folder, running(settings))


def list_jobs(settings: Settings) -> list[Job]:
    """Every job, newest first."""
    busy = running(settings)
    folders = [path for path in _root(settings).glob("rejudged-*") if (path / "order.json").is_file()]
    return [_job(folder, busy) for folder in sorted(folders, reverse=True)]


def running(settings: Settings) -> dict[str, str]:
    """The jobs whose process is at work now, by slot: one for single pairs, one for everything else."""
    found = {slot: _holder(_root(settings) / f"{slot}.running") for slot in ("pair", "set")}
    return {slot: name for slot, name in found.items() if name}


def _job(folder: Path, busy: dict[str, str] | None) -> Job:
    raw = _read(folder / "order.json")
    order = Order(**raw | {"pair": tuple(raw["pair"]) if raw["pair"] else None})
    status, estimate = _read(folder / "status.json"), _read(folder / "estimate.json")
    saved = str(_read(folder / "saved.json").get("run", ""))
    at_work = folder.name in (busy or {}).values()
    state = _at_work(folder) if at_work else _at_rest(folder, status, estimate, saved)
    return Job(folder.name, folder, order, state, status, estimate.get("estimate", {}), saved)


def _at_work(folder: Path) -> State:
    return State.ESTIMATING if _read(folder / "process.json").get("doing") == ESTIMATE else State.RUNNING


def _at_rest(folder: Path, status: dict[str, Any], estimate: dict[str, Any], saved: str) -> State:
    if saved:
        return State.SAVED
    if status.get("phase") == ENDED and status.get("code") in (OK, FINDINGS):
        return State.JUDGED
    if status or _read(folder / "process.json").get("doing") == JUDGE:
        return State.STOPPED
    return State.ESTIMATED if estimate.get("estimate") else State.ORDERED


# -- processes ----------------------------------------------------------------------------------------------------------


def estimate(settings: Settings, job: Job, *, trial: bool = False) -> None:
    """Begin to count what the job would cost; with `trial` a few calls are tried at the endpoint, for tokens and time.

    Raises AuditError when another job is at work.
    """
    _launch(settings, job, ESTIMATE, ["--dry-run", *([] if trial else ["--untried"])])


def start(settings: Settings, job: Job) -> None:
    """Begin the judging, or go on with it: what was answered is not asked again.

    Raises AuditError when another job is at work, or this one is done.
    """
    if job.state in (State.JUDGED, State.SAVED):
        raise AuditError("These pairs are judged already. Nothing was started.")
    _launch(settings, job, JUDGE, ["--load-into", str(job.folder.resolve() / "loaded")])


def cancel(settings: Settings, job: Job, *, at_once: bool = False) -> None:
    """Ask the job's process to stop, which leaves a state to go on from; `at_once` kills it, which does so too."""
    process = _read(job.folder / "process.json").get("pid")
    if process and job.name in running(settings).values():  # so the number is still that of our process
        os.kill(process, signal.SIGKILL if at_once else signal.SIGTERM)


def discard(settings: Settings, job: Job) -> None:
    """Delete the job with its result and its replies; a run that it was saved as stays. Raises AuditError while it is at work."""
    if job.name in running(settings).values():
        raise AuditError("It is at work. Nothing was deleted. Cancel it first.")
    shutil.rmtree(job.folder)


def keep_name(job: Job, run: str) -> None:
    """Note under which key the result was saved."""
    _write(job.folder / "saved.json", {"run": run})


def _launch(settings: Settings, job: Job, doing: str, options: list[str]) -> None:
    folder = job.folder.resolve()
    told = folder / ("estimate.json" if doing == ESTIMATE else "status.json")
    command = [sys.executable, "-m", "audit", "judge", *_arguments(job.order, folder), "--progress", str(told), *options]
    slot = _root(settings) / f"{'pair' if job.order.pair else 'set'}.running"
    with slot.open("a+") as file, (folder / "log").open("w") as log:
        _take(file, job.name)
        told.unlink(missing_ok=True)
        process = subprocess.Popen(  # noqa: S603 - our own command; what was typed stands in its files
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment(settings),
            pass_fds=[file.fileno()], start_new_session=True,
        )  # fmt: skip
        _write(folder / "process.json", {"pid": process.pid, "doing": doing})


def _arguments(order: Order, folder: Path) -> list[str]:
    pairs = str(folder / "pairs.csv") if order.pairs == "file" else order.pairs
    said = [order.run, "--out", str(folder / "release"), "--pairs", pairs]
    if order.baseline:
        return [*said, "--baseline"]
    said += ["--protocol", order.protocol, *(["--swap"] if order.swap else []), *(["--blind-centers"] if order.blind else [])]
    return said + (["--repeat", str(order.repeats)] if order.repeats else [])


def _environment(settings: Settings) -> dict[str, str]:
    paths = [str(Path(audit.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    ours = {"AUDIT_DATA_DIR": str(settings.data_dir.resolve()), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return {**os.environ, **ours, "TQDM_MININTERVAL": "60"}


def _take(file: IO[str], name: str) -> None:
    """Lock the slot. The process that is started has the lock from us, and it ends with that process, however it ends."""
    for _ in range(TRIES):  # somebody who looks whether it is taken holds it for a moment
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_S)
            continue
        file.truncate(0)
        file.write(name)
        file.flush()
        return
    raise AuditError("Another re-judging is at work, and one runs at a time. Nothing was started. Wait for it, or cancel it.")


def _holder(slot: Path) -> str:
    """The job whose process holds the slot; empty where none does."""
    if not slot.is_file():
        return ""
    with slot.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read().strip()
    return ""


# -- files --------------------------------------------------------------------------------------------------------------


def _root(settings: Settings) -> Path:
    return settings.data_dir / "judge"


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _write(path: Path, told: dict[str, Any]) -> None:
    write_atomic(path, json.dumps(told))


def _last_line(path: Path) -> str:
    lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""
