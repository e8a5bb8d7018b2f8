"""Processes that read handbooks for the dashboard: started on demand, limited in number and time, and ended when idle."""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from queue import LifoQueue, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from audit.errors import AuditError
from audit.formatting import printable
from audit.store.runs import Run

# -- the request (question and scope) and the reply ----------------------------------------------------------

if TYPE_CHECKING:  # so that the dashboard does not load the libraries that answer
    from audit.release.sourced_answers import SourcedAnswer

MAX_CHARACTERS = 500
NOTHING = "Nothing was asked."
QUESTION_ID, SYSTEM_ID = "asked", "all-sources"


@dataclass(frozen=True)
class AskScope:
    """The handbooks to ask. `organ`: those that concern it (None: all); `sources`: those of these sources ((): all)."""

    organ: str | None = None
    sources: tuple[str, ...] = ()


class AskRequest(NamedTuple):
    """A question for one run (store file and digest), with the folder of indexes. Without a question: only prepare the run."""

    store: Path
    digest: str
    folder: Path
    question: str | None
    scope: AskScope


STEP, DONE, REFUSED = "step", "done", "refused"
"""Kinds of reply to a request."""
Step = Callable[[str, float], None]
"""Called with the current step and its progress in [0, 1]."""


def no_step(_doing: str, _share: float) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class Asked:
    """The reply.

    handbooks  a row per handbook in the scope, with the columns of audit.metrics.position_groups, source_id and unread_reason;
               `answer` is missing where the handbook does not address the question
    citations  handbook id -> the citations of its answer, as answers.jsonl has them
    labels     handbooks x handbooks by handbook id: a label, `unscored` where the rules cannot decide, `self` on the diagonal
    verdicts   one record per pair of answering handbooks: handbook_a, handbook_b, label, significance, topic, reasoning
    sourced    one answer from all sources
    notes      messages for the reader
    seconds    duration, once the library was ready
    answers    the records of answers.jsonl
    """

    question: str
    scope: AskScope
    handbooks: pd.DataFrame
    citations: Mapping[str, list[dict[str, Any]]]
    labels: pd.DataFrame
    verdicts: tuple[dict[str, Any], ...]
    sourced: SourcedAnswer
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    answers: tuple[dict[str, Any], ...] = field(default=(), repr=False)


def clean_question(text: str) -> str:
    """The question on one line, without control characters. Raises AuditError for one that is empty or too long."""
    question = " ".join(printable(text).split())
    if not question:
        raise AuditError(f"The question is empty. {NOTHING} Write it in full words, such as: When may I drive again?")
    if len(question) > MAX_CHARACTERS:
        raise AuditError(
            f"The question has {len(question):,} characters; allowed: {MAX_CHARACTERS}. {NOTHING} Ask one thing at a time."
        )
    return question


PROCESSES = 2
TIME_LIMIT_S = 120.0
IDLE_S = 600.0
POLL_S = 0.05
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """One process, which answers one question at a time and is restarted after it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._idle: threading.Timer | None = None

    def ask(self, request: AskRequest, step: Step = no_step, limit_s: float = TIME_LIMIT_S) -> Asked | None:
        """The reply. Raises AuditError where the request is refused, takes longer than the limit, or the process dies."""
        if self._idle:
            self._idle.cancel()
        process = self._running()
        limit = _after(limit_s, process.kill)
        try:
            return _reply(process, request, step)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            self.close()
            raise AuditError(
                f"The handbooks could not be read within {limit_s:.0f} seconds, or the process that reads them ended. {NOTHING} "
                "Ask again; what was indexed is kept. Fewer organs or sources are faster."
            ) from error
        finally:
            limit.cancel()
            self._idle = _after(IDLE_S, self.close)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            path = os.pathsep.join(filter(None, (str(PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))
            self._process = subprocess.Popen(
                [sys.executable, "-m", "audit.pipeline.asking.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
            )
        return self._process

    def close(self) -> None:
        """End the process; the next question starts a new one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _after(seconds: float, action: object) -> threading.Timer:
    timer = threading.Timer(seconds, action)  # type: ignore[arg-type]  # a bound method
    timer.daemon = True
    timer.start()
    return timer


def _reply(process: subprocess.Popen[bytes], request: AskRequest, step: Step) -> Asked | None:
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(tuple(request), process.stdin)
    process.stdin.flush()
    while True:
        kind, content = pickle.load(process.stdout)  # noqa: S301 - from a process that this one started
        if kind == STEP:
            step(*content)
        elif kind == REFUSED:
            raise AuditError(content)
        elif kind == DONE:
            reply: Asked | None = content
            return reply


# -- requests --------------------------------------------------------------------------------------------------------

# The worker that was used last comes first, because it has the run ready
_FREE: LifoQueue[Worker] = LifoQueue()
_ALL = tuple(Worker() for _ in range(PROCESSES))
for _worker in _ALL:
    _FREE.put(_worker)
_THREADS = ThreadPoolExecutor(PROCESSES, "asking")
_READY: set[str] = set()
"""Digests of the runs that were prepared."""


@atexit.register
def close_workers() -> None:
    """End all processes."""
    _READY.clear()
    for worker in _ALL:
        worker.close()


def _ask(request: AskRequest, step: Step) -> Asked | None:
    worker = _FREE.get()
    try:
        return worker.ask(request, step)
    finally:
        _FREE.put(worker)


def _request(run: Run, question: str | None, scope: AskScope, data_dir: Path) -> AskRequest:
    return AskRequest(run.path, run.digest, data_dir.resolve() / "retrieval" / "indexes", question, scope)


def prepare(run: Run, data_dir: Path) -> None:
    """Start preparing a run for questions, and return at once; does nothing if the run is already prepared."""
    if run.digest not in _READY:
        _READY.add(run.digest)
        _THREADS.submit(_ask, _request(run, None, AskScope(), data_dir), no_step)


def ask_run(run: Run, text: str, scope: AskScope, data_dir: Path, step: Step = no_step) -> Asked:
    """The answers of a run's handbooks, computed in another process; concurrent requests wait for one of PROCESSES.

    step  is called in the caller's thread. If it raises because the user has left the page, the process still finishes its
          answer, so that the next question does not receive it

    Raises AuditError for an empty or too long question, a run without texts, a scope without handbooks, or a process that ends.
    """
    request = _request(run, clean_question(text), scope, data_dir)
    steps: SimpleQueue[tuple[str, float]] = SimpleQueue()
    future = _THREADS.submit(_ask, request, lambda doing, share: steps.put((doing, share)))
    latest = ("Waiting", 0.0)
    while not future.done():
        step(*latest)
        wait([future], timeout=POLL_S)
        while not steps.empty():
            latest = steps.get()
    reply = future.result()
    assert reply is not None, "a question was asked"
    return reply
