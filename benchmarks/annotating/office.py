"""A server, a study, and ratings that are stored already."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from annotation.label_store.assignments import Choice, list_tasks
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.ratings import NewRating, add_rating
from annotation.label_store.studies import ItemKind
from annotation.label_store.study_creation import NewItem, NewStudy, create_study
from annotation.studies.accounts import add_account, open_session

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
STUDY = "bench"
SENTENCES = (
    "Call the transplant coordinator before you start any new medicine, including herbal ones.",
    "Most patients return to light work after six to eight weeks.",
    "Keep the incision dry for the first ten days and look at it every morning.",
    "A temperature above 38 degrees is a reason to call at any hour.",
    "Your team measures the level of your medicine twice a week at first, and monthly after that.",
)


@dataclass(frozen=True)
class Server:
    """A running server. lines: where it writes the time of every script run."""

    address: str
    pid: int
    lines: Path

    def cpu_ms(self) -> float:
        """CPU time of the process so far, all threads, user and system."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")

    def script_runs(self) -> list[tuple[float, float]]:
        """(ms of a run, ms of it with the label store), since the start."""
        return [(float(run), float(store)) for run, store in map(str.split, self.lines.read_text().splitlines())]


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """The dashboard on the studies in `folder`, until the block ends."""
    lines = folder / "runs.txt"
    lines.touch()
    with _started([str(HERE / "served.py"), str(lines), "run", str(ROOT / "app.py")], ROOT, folder) as (address, pid):
        yield Server(address, pid, lines)


@contextmanager
def serving_bare(folder: Path) -> Iterator[str]:
    """The bare page as `streamlit run` serves it, away from the settings of the dashboard; its address."""
    with _started(["-m", "streamlit", "run", str(HERE / "bare.py")], folder, folder) as (address, _):
        yield address


@contextmanager
def _started(command: list[str], where: Path, folder: Path) -> Iterator[tuple[str, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"port": port, "address": "127.0.0.1", "headless": "true", "fileWatcherType": "none"}
    flags = [f"--server.{name}={value}" for name, value in settings.items()] + ["--browser.gatherUsageStats=false"]
    environment = {**os.environ, "AUDIT_DATA_DIR": str(folder), "AUDIT_BROWSING": "signed-in", "BARE_FOLDER": str(folder)}
    process = subprocess.Popen(
        [sys.executable, *command, *flags], cwd=where, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(20)


def _wait_for(address: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not come up in 30 s")


@dataclass(frozen=True)
class Office:
    """A study and its people. tokens: by annotator, what the browser's cookie holds."""

    folder: Path
    tokens: dict[str, str]


def office(folder: Path, annotators: int, labels: int, stored: int = 0) -> Office:
    """A study in which each of so many annotators has `labels` items to do, and with `stored` ratings in it already.

    The stored ratings are the annotators' own and in the same study, by equal parts: what would slow them down most.
    """
    names = [f"rater{n:02}" for n in range(1, annotators + 1)]
    pool = names if annotators > 1 else [*names, "absent"]
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    now = datetime.now(UTC)
    for name in pool:
        add_account(store, name, "annotator", None, now)
    spare = 20 if len(pool) > 2 else 0  # assignments are prefetched
    size = (stored + (labels + spare) * len(pool)) // 2  # two assignments an item
    with store.begin() as tx:
        create_study(tx, NewStudy(STUDY, "Benchmark", pool, [_item(n) for n in range(size)], seed=1), now)
    _rate(store, pool, stored, now)
    tokens = {name: open_session(store, name, now) for name in names}
    store.close()
    return Office(folder, tokens)


def _item(number: int) -> NewItem:
    answers = (" ".join(SENTENCES[(number + n) % 5] for n in range(4)), " ".join(SENTENCES[(number + n) % 5] for n in range(5)))
    question = f"{number + 1}. What should I know about medicines, work and wounds after my operation?"
    return NewItem(f"i{number:05}", ItemKind.STUDY, f"q{number}", question, "a", "b", "A", "B", *answers)


def _rate(store: LabelStore, names: Sequence[str], stored: int, now: datetime) -> None:
    for name in names[:2] if stored else ():
        assignments = [task.assignment_id for task in list_tasks(store, STUDY, name)][: stored // 2]
        with store.begin() as tx:
            for assignment in assignments:
                add_rating(tx, name, NewRating(assignment, Choice("CONSISTENT"), f"stored/{assignment}"), now)
