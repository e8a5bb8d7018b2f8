"""A question to all handbooks of a run: what is asked, what comes back, and the processes that search the handbooks."""

from __future__ import annotations

import atexit
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from audit.errors import AuditError
from audit.formatting import printable
from audit.own_process import environment
from audit.queries.run_texts import section_count
from audit.store.connection import open_store
from audit.store.runs import Run
from audit.vocabulary import Found

# -- the question and what comes back ------------------------------------------------------------------------------------

MAX_CHARACTERS = 1_000
MIN_LETTERS = 3
NOTHING = "Nothing was asked."
BY_WORDS = "words"
"""What compared question and passages where no sentence model did."""


@dataclass(frozen=True)
class AskScope:
    """The handbooks to ask. `organ`: those that concern it (None: all); `sources`: those of these centers ((): all)."""

    organ: str | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class AskedPassage:
    """A passage of a handbook, whole and word for word: characters `start` to `end` of a section's text.

    title      its section under those above it
    leads      lines that introduce it ("Avoid the following:") and stand before it
    statement  (start, end) of its best statement, in characters of `text`
    score      closeness to the question, less what is usual in the handbook
    """

    section_id: str
    title: str
    page: int | None
    start: int
    end: int
    leads: tuple[str, ...]
    text: str
    statement: tuple[int, int]
    score: float


@dataclass(frozen=True)
class AskedHandbook:
    """A handbook with its passages closest to the question, best first.

    found    how surely the first passage answers; None where the search cannot tell, for the reason in `unread`
    """

    handbook_id: str
    organ: str
    center: str
    phase: str
    found: Found | None
    passages: tuple[AskedPassage, ...] = ()
    unread: str | None = None

    @property
    def score(self) -> float:
        """The score of its best passage; lower than any score where it has none."""
        return self.passages[0].score if self.passages else -1.0


STATES = (Found.STATED, Found.PERHAPS, Found.NOT_FOUND, None)
"""In the order in which they are shown."""


@dataclass(frozen=True)
class Asked:
    """The reply.

    handbooks  those in the scope, by state and then the closest first
    compared   what compared the question with the passages: the name of a sentence model, or BY_WORDS
    encoded    (handbooks that the sentence model has read, all handbooks), where it has not read all and words were compared
    errors     how often such a search errs on questions of known answer, as `generator_errors` of a manifest; None: not measured
    seconds    duration, once the handbooks were ready
    near       ids of the questions of the run that are nearest in meaning, the nearest first
    """

    question: str
    scope: AskScope
    handbooks: tuple[AskedHandbook, ...]
    compared: str
    encoded: tuple[int, int] | None = None
    errors: Mapping[str, Any] | None = None
    seconds: float = 0.0
    near: tuple[str, ...] = ()

    def by_state(self) -> dict[Found | None, tuple[AskedHandbook, ...]]:
        """The handbooks of each state that has any, in the order of STATES."""
        return {state: tuple(books) for state, books in groupby(self.handbooks, key=lambda book: book.found)}


def clean_question(text: str) -> str:
    """The question on one line, without control characters. Raises AuditError for one that is empty, too short or too long."""
    question = " ".join(printable(text).split())
    example = "Write it in full words, such as: When may I drive again?"
    if not question:
        raise AuditError(f"The question is empty. {NOTHING} {example}")
    if sum(map(str.isalnum, question)) < MIN_LETTERS:
        raise AuditError(f"'{question[:MAX_CHARACTERS]}' is too short to search for. {NOTHING} {example}")
    if len(question) > MAX_CHARACTERS:
        raise AuditError(
            f"The question has {len(question):,} characters; allowed: {MAX_CHARACTERS:,}. {NOTHING} Ask one thing at a time."
        )
    return question


# -- the process ---------------------------------------------------------------------------------------------------------


class AskRequest(NamedTuple):
    """A question for one run (store file and digest), with the folder of indexes. Without a question: only get the run ready.

    Without a scope it is put to no handbook: wanted are the questions of the run that are near to it.
    """

    store: Path
    digest: str
    folder: Path
    question: str | None
    scope: AskScope | None


STEP, DONE, REFUSED = "step", "done", "refused"
"""Kinds of reply to a request."""
WAITING, PREPARING = "waiting", "preparing"
Step = Callable[[str, int, int], None]
"""Called with what is being done, how many handbooks are done, and of how many."""
PROCESSES = 2
TIME_LIMIT_S = 120.0
"""Without a sign of life: reading one handbook, or answering."""
IDLE_S = 3600.0
POLL_S = 0.05
MANY_SECTIONS = 2_000
PROCESS = "audit.pipeline.asking.process"


def no_step(_doing: str, _done: int, _total: int) -> None:
    """Show nothing."""


class Worker:
    """One process, which answers one question after the other and is started again after it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._idle: threading.Timer | None = None
        self._thread = ThreadPoolExecutor(1, "asking")
        self.open = 0
        self.latest = (WAITING, 0, 0)
        """What it does at present, as a `Step` is told."""

    def submit(self, request: AskRequest) -> Future[Any]:
        """Ask when the requests before it are answered."""
        self.open += 1
        future = self._thread.submit(self.ask, request)
        future.add_done_callback(lambda _: setattr(self, "open", self.open - 1))
        return future

    def ask(self, request: AskRequest, limit_s: float = TIME_LIMIT_S) -> Any:
        """The reply. Raises AuditError where the request is refused, nothing is heard for `limit_s`, or the process dies."""
        if self._idle:
            self._idle.cancel()
        process = self._running()
        try:
            return self._reply(process, request, limit_s)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            self.close()
            raise AuditError(
                f"The handbooks could not be read within {limit_s:.0f} seconds, or the process that reads them ended. {NOTHING} "
                "Ask again; fewer organs or sources are faster."
            ) from error
        finally:
            self.latest = (WAITING, 0, 0)
            self._idle = _after(IDLE_S, self.close)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", PROCESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
            )
        return self._process

    def _reply(self, process: subprocess.Popen[bytes], request: AskRequest, limit_s: float) -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        pickle.dump(request, process.stdin)
        process.stdin.flush()
        while True:
            limit = _after(limit_s, process.kill)
            try:
                kind, content = pickle.load(process.stdout)  # noqa: S301 - from a process that this one started
            finally:
                limit.cancel()
            if kind == STEP:
                self.latest = content
            elif kind == REFUSED:
                raise AuditError(content)
            elif kind == DONE:
                return content

    def close(self) -> None:
        """End the process; the next question starts a new one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _after(seconds: float, action: Callable[[], object]) -> threading.Timer:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer


# -- requests ------------------------------------------------------------------------------------------------------------

_ALL = tuple(Worker() for _ in range(PROCESSES))
_OF_RUN: dict[str, Worker] = {}
"""Digest of a run -> the worker that has it ready: a second one would read all of it again."""
_CHOOSING = threading.Lock()


@atexit.register
def close_workers() -> None:
    """End all processes."""
    _OF_RUN.clear()
    for worker in _ALL:
        worker.close()


def _worker_of(digest: str) -> Worker:
    with _CHOOSING:
        if digest not in _OF_RUN:
            used = list(_OF_RUN.values())
            # The one with the fewest requests and, of these, with the fewest runs
            _OF_RUN[digest] = min(_ALL, key=lambda worker: (worker.open, used.count(worker)))
        return _OF_RUN[digest]


def index_folder(data_dir: Path) -> Path:
    """Where what was computed of the handbooks is kept, in files named by all that they depend on."""
    return data_dir.resolve() / "retrieval" / "indexes"


def prepare(run: Run, data_dir: Path) -> None:
    """Start to get a run ready for questions, and return at once; does nothing where that was started before."""
    if run.digest not in _OF_RUN:
        request = AskRequest(run.path, run.digest, index_folder(data_dir), None, AskScope())
        _worker_of(run.digest).submit(request)


def start_preparing(store: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start a process that stores what questions to a run need; it goes on after this program has ended."""
    return subprocess.Popen(  # noqa: S603 - our own module and the paths of our own data folder
        [sys.executable, "-m", PROCESS, str(store), str(folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(),
        start_new_session=True,
    )  # fmt: skip


def prepare_for_questions(run: Run, data_dir: Path) -> None:
    """Start what makes a loaded run ready for questions; where it has few texts and no sentence model is installed, that is quick
    enough for the first question.
    """
    with open_store(run.path) as con:
        sections = section_count(con)
    if find_spec("sentence_transformers") or sections > MANY_SECTIONS:
        start_preparing(run.path, index_folder(data_dir))


def ask_run(run: Run, text: str, scope: AskScope, data_dir: Path, step: Step = no_step) -> Asked:
    """The passages of a run's handbooks that are closest to a question, found in another process.

    step  is called in the caller's thread. If it raises because the user has left the page, a question that still waits for its
          turn is withdrawn; one that is being answered is, so that the next question does not receive its answer

    Raises AuditError for a question that cannot be asked, a run without texts, a scope without handbooks, or a process that ends.
    """
    request = AskRequest(run.path, run.digest, index_folder(data_dir), clean_question(text), scope)
    worker = _worker_of(run.digest)
    future = worker.submit(request)
    try:
        while not future.done():
            step(*worker.latest)
            wait([future], timeout=POLL_S)
    finally:
        future.cancel()  # a question that its asker has left while it waited: nobody waits behind it
    reply: Asked = future.result()
    return reply


NEAR_S = 1.0


def near_questions(run: Run, text: str, data_dir: Path) -> list[str] | None:
    """Ids of the questions of a run that are nearest in meaning to what somebody types; None where that is not known soon.

    Nobody waits for it: the browser has found what has the same words.
    """
    worker = _worker_of(run.digest)
    if worker.open:
        return None
    future: Future[list[str]] = worker.submit(
        AskRequest(run.path, run.digest, index_folder(data_dir), text[:MAX_CHARACTERS], None)
    )
    wait([future], timeout=NEAR_S)
    return future.result() if future.done() and not future.exception() else None
