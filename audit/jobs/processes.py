"""Starting, watching and stopping the processes of jobs.

A job's process has the lock of its job from its first moment to its last, however it ends: so a locked job is being worked
on, and an active job without the lock was killed. Starting goes through one lock more, which makes two starters take turns.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from filelock import FileLock, Timeout

from audit.errors import AuditError
from audit.jobs.table import Job, JobState, JobTable
from audit.own_process import environment
from audit.settings import Settings

LOCK_WAIT_S = 20.0
START_WAIT_S = 30.0
POLL_S = 0.02
EXITED = "The process exited unexpectedly: it was killed, or the computer was switched off. Replies received so far are kept."
STOPPED = "Stopped."
BUSY = (
    "Another job is running, and only one of its kind runs at a time. Nothing was started. Wait for it to finish, or cancel it."
)


def job_table(settings: Settings) -> JobTable:
    """The jobs of a data folder."""
    return JobTable(settings.data_dir / "judge")


def create_job(settings: Settings, kind: str, slot: str, request: Mapping[str, object]) -> Job:
    """A new job, which is not started."""
    name = f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    return job_table(settings).add(name, kind, slot, request)


def find_job(settings: Settings, name: str) -> Job:
    """The job of that name. Raises AuditError when there is no such job."""
    table = job_table(settings)
    job = table.find(name)
    if job is None:
        raise AuditError(f"There is no job '{name[:80]}' here. It may have been discarded. Nothing was done.")
    return _settled(table, job)


def list_jobs(settings: Settings) -> list[Job]:
    """Every job, newest first."""
    table = job_table(settings)
    return [_settled(table, job) for job in table.jobs()]


# -- starting and stopping ----------------------------------------------------------------------------------------------


def start_process(settings: Settings, job: Job, state: JobState, command: list[str]) -> None:
    """Start `audit COMMAND` for the job, which goes to `state`; returns when the process has taken the job's lock.

    Raises AuditError when another job of the same slot is active.
    """
    table = job_table(settings)
    cleared = {"progress": {}, "started": 1} if state is JobState.RUNNING else {}
    with _starting(table.folder, LOCK_WAIT_S):
        for other in table.jobs():
            # Settled first: a job whose process was killed must not block its slot for ever
            if other.slot == job.slot and _settle(table, other).active:
                raise AuditError(BUSY)
        # `move` compares the state in one statement: two starters that read the same row cannot both win.
        if not table.move(job, state, command=command, pid=None, message="", **cleared):
            raise AuditError("The job has changed in the meantime. Nothing was started. Look at it again.")
        with (job.folder / "log").open("w") as log:
            process = subprocess.Popen(  # noqa: S603 - our own command; what people typed is in the job's row and files
                [sys.executable, "-m", "audit", "jobs", "work", job.name],
                # A session of its own: Ctrl-C in the terminal of the dashboard must not stop the job.
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment(settings), start_new_session=True,
            )  # fmt: skip
        _await_claim(table, job, process)


def _await_claim(table: JobTable, job: Job, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has claimed the job or has exited."""
    # Until then the job is active and not locked, and would be mistaken for a killed one.
    ends = time.monotonic() + START_WAIT_S
    while process.poll() is None and time.monotonic() < ends:
        row = table.find(job.name)
        if row is None or row.pid == process.pid or not row.active:
            return
        time.sleep(POLL_S)


def cancel_job(settings: Settings, job: Job, *, force: bool = False) -> None:
    """Ask the job's process to stop, or kill it with `force`; either way the job can be continued."""
    current = find_job(settings, job.name)
    if current.active and current.pid and _is_locked(current):  # so the number still belongs to our process
        # Windows has no SIGKILL, and ends a process at once for SIGTERM.
        os.kill(current.pid, getattr(signal, "SIGKILL", signal.SIGTERM) if force else signal.SIGTERM)


def discard_job(settings: Settings, job: Job) -> None:
    """Delete the job with its files; a run that its result was saved as stays. Raises AuditError while it is active."""
    if find_job(settings, job.name).active:
        raise AuditError("The job is running. Nothing was deleted. Cancel it first.")
    job_table(settings).delete(job)
    shutil.rmtree(job.folder, ignore_errors=True)


def _environment(settings: Settings) -> dict[str, str]:
    ours = {"AUDIT_DATA_DIR": str(settings.data_dir.resolve())}
    if settings.judge_urls:  # as the dashboard has them, which may be other than the environment's
        ours |= {"AUDIT_JUDGE_URL": ",".join(settings.judge_urls), "AUDIT_JUDGE_MODEL": settings.judge_model}
    # A job's log is read for its last line; the bar of tqdm would otherwise fill it with a line per update.
    return environment(**ours, TQDM_MININTERVAL="60")


# -- inside the job's process --------------------------------------------------------------------------------------------


def run_job(settings: Settings, name: str, work: Callable[[Job, Callable[[Mapping[str, object]], None]], str]) -> None:
    """Carry out the job in this process, and record how it ended.

    work  (job, store of its figures) -> why it failed, or an empty text
    """
    table = job_table(settings)
    with _sigterm_as_ctrl_c(), _lock(_lock_path(table.folder / name), LOCK_WAIT_S):
        job = table.find(name)
        if job is None or not job.active or job.pid is not None or not table.update(job, pid=os.getpid()):
            return  # it was given up while this process started
        figures: dict[str, Any] = {}

        def store(values: Mapping[str, Any]) -> None:
            figures.update(values)
            if job.state is JobState.RUNNING:
                table.update(job, progress=figures)

        try:
            message = work(job, store)
        # Ctrl-C and SystemExit too: a job must not stay active once its process is gone.
        except BaseException as error:
            _end(table, job, figures, _reason(error))
            raise
        _end(table, job, figures, message, well=not message)


def _end(table: JobTable, job: Job, figures: dict[str, Any], message: str, *, well: bool = False) -> None:
    if job.state is JobState.RUNNING:
        table.move(job, JobState.FINISHED if well else JobState.STOPPED, message=message)
    elif well:
        table.move(job, JobState.ESTIMATED, estimate=figures.get("estimate", {}))
    else:
        table.move(job, _before_estimate(job), message=message)


def _before_estimate(job: Job) -> JobState:
    return JobState.STOPPED if job.started else JobState.CREATED


def _reason(error: BaseException) -> str:
    return STOPPED if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    # asyncio and the commands shut down cleanly after Ctrl-C, so SIGTERM is treated like it.

    def interrupt(_: int, __: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a server that runs in the background ignores SIGINT
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# -- locks ---------------------------------------------------------------------------------------------------------------


def _settled(table: JobTable, job: Job) -> Job:
    """The job, moved on first if its process was killed; left alone while some job is being started."""
    if not job.active or _is_locked(job):
        return job
    try:
        with _starting(table.folder, 0):
            return _settle(table, table.find(job.name) or job)
    except Timeout:
        return job


def _settle(table: JobTable, job: Job) -> Job:
    """As above, for a caller that holds the lock for starting."""
    if not job.active or _is_locked(job):
        return job
    state = JobState.STOPPED if job.state is JobState.RUNNING else _before_estimate(job)
    message = EXITED if job.pid is not None else _last_line(job.folder / "log") or EXITED
    table.move(job, state, message=message)
    return table.find(job.name) or job


def _is_locked(job: Job) -> bool:
    try:
        with _lock(_lock_path(job.folder), 0):
            return False
    except Timeout:
        return True


def _lock_path(folder: Path) -> Path:
    return folder / "process.lock"


def _starting(folder: Path, timeout_s: float) -> Any:
    return _lock(folder / "start.lock", timeout_s)


def _lock(path: Path, timeout_s: float) -> Any:
    return FileLock(path, timeout=timeout_s, poll_interval=POLL_S)


def _last_line(path: Path) -> str:
    if not path.is_file():
        return ""
    lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


# -- The figures that a job shows while it works -------------------------------------------------------------


STARTING, ASKING, WRITING, LOADING = "starting", "asking", "writing", "loading"
"""The phases of a judging."""
COUNTS = (
    "done", "answered", "unreadable", "cut", "refused", "failed", "busy", "in_flight", "waiting_again", "concurrency", "rate",
    "seconds", "prompt_tokens", "completion_tokens", "lost",
)  # fmt: skip
"""What is counted of a stage of calls."""


@dataclass
class Progress:
    """The latest figures of a judging; without `store` they are only collected.

    phase              starting, asking, writing, loading
    stage, calls       the stage of calls: its name, and how many calls it has; also COUNTS, which say how far it is
    pairs              while the release is written: pairs written so far
    estimate           of `--dry-run`: see audit.pipeline.cli.estimates.estimate, and pairs, without_call
    judged, prescreened, not_asked, unscored    the outcome of the pairs; unscored by reason
    message            why it stopped, if it failed
    """

    store: Callable[[Mapping[str, Any]], None] | None = None
    values: dict[str, Any] = field(default_factory=dict)

    def update(self, **values: Any) -> None:
        """Add to the figures, and store them."""
        self.values |= values
        if self.store is not None:
            self.store(self.values)
