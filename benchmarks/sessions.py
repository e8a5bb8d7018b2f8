"""Many people at once: viewers and annotators over real websockets, and what the server's memory does before, during and after.

    python -m benchmarks.sessions [--data-dir DIR] [--viewers N] [--annotators N] [--seconds S] [--pace S] [--waves N]
                                  [--labels N]

DIR is an AUDIT_DATA_DIR with a loaded run (default: a fresh demo); only its store is read. The studies and accounts are made for
the benchmark, in a folder of its own, and the server is the one of `benchmarks.annotate`.

viewer     opens one page of PAGES after another, the next one PACE seconds after the last on average; a time runs from the
           request to the end of the page's script, all frames read
annotator  labels, one item every PACE seconds on average; a time runs from submit to the next item
error      an exception or an error on a page, a refused label, a closed connection, or no answer within TIMEOUT_S
memory     RSS of the server: after one viewer has opened each of PAGES once, the most while everybody was there, and AFTER_S
           after the last one left, when their sessions have ended (the server keeps them for two minutes, in which people may
           come back); in a later wave it should be what it was after the first

Then the annotators label flat out, each as soon as the next item is there (`--labels 0` leaves that out). The clients share the
machine with the server; their own CPU is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from annotation.label_store.engine import open_label_store
from annotation.studies.accounts import add_account, open_session
from benchmarks.annotating.office import ROOT, Server, office, serving
from benchmarks.annotating.wire import Wire, label_together

PAGES = ("start", "disagreements", "question", "coverage", "organs", "topics", "centers", "judge")
LABEL = "label"
TIMEOUT_S = 60
AFTER_S = 155
TARGET_MS, FLAT_OUT_MS = 1_500, 600
"""Targets for the 95th percentile of everything, and of labels flat out, on two idle cores."""


@dataclass
class Measured:
    """Milliseconds by kind (a page, or LABEL), and what went wrong by its text."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def note(self, kind: str, act: Callable[[], Awaitable[str]]) -> None:
        """Do something, and keep how long it took, or why it failed. `act` returns the errors on the page."""
        start = time.perf_counter()
        try:
            wrong = await asyncio.wait_for(act(), TIMEOUT_S)
        except TimeoutError:
            wrong = f"no answer within {TIMEOUT_S} s"
        self.times[kind].append((time.perf_counter() - start) * 1_000)
        if wrong:
            self.errors[f"{kind}: {wrong}"] += 1


@dataclass
class Viewer:
    """One viewer's connection. scripts: hash of a page's script by the name in its address."""

    socket: ClientConnection
    scripts: dict[str, str] = field(default_factory=dict)

    async def open(self, page: str = "") -> str:
        """Open a page, or the first one, read it to its end, and return the first error on it."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self.scripts.get(page, "")
        await self.socket.send(message.SerializeToString())
        wrong = ""
        while True:
            frame = ForwardMsg.FromString(await self.socket.recv())  # type: ignore[arg-type]
            kind = frame.WhichOneof("type")
            if kind == "navigation":
                self.scripts = {page.url_pathname: page.page_script_hash for page in frame.navigation.app_pages}
            elif kind == "delta":
                wrong = wrong or _error_in(frame)
            elif kind == "script_finished" and frame.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return wrong


def _error_in(frame: ForwardMsg) -> str:
    element = frame.delta.new_element
    if element.WhichOneof("type") == "exception":
        return f"{element.exception.type}: {element.exception.message}"
    return element.alert.body if element.alert.format == element.alert.ERROR else ""


async def view(address: str, token: str, pace_s: float, until: float, measured: Measured) -> None:
    """One viewer, until the clock reads `until`."""
    async with _connected(address, token) as socket:
        viewer = Viewer(socket)
        await viewer.open()
        pages = random.sample(PAGES, len(PAGES))
        for number in range(1_000_000):
            await asyncio.sleep(pace_s * random.uniform(0.5, 1.5))
            page = pages[number % len(pages)]
            if time.monotonic() > until:
                return
            await measured.note(page, lambda page=page: viewer.open(page))  # type: ignore[misc]


async def open_every_page(address: str, token: str) -> None:
    """One viewer who opens each of PAGES once, in their order."""
    async with _connected(address, token) as socket:
        viewer = Viewer(socket)
        await viewer.open()
        for page in PAGES:
            assert not (wrong := await viewer.open(page)), f"{page}: {wrong}"


async def label(address: str, name: str, token: str, pace_s: float, until: float, measured: Measured) -> None:
    """One annotator, until the clock reads `until`."""
    async with _connected(address, token) as socket:
        wire = Wire(f"{name}/{time.monotonic_ns()}", socket)
        await wire.open()
        while time.monotonic() < until:
            await asyncio.sleep(pace_s * random.uniform(0.5, 1.5))
            try:
                await asyncio.wait_for(wire.label(), TIMEOUT_S)
                measured.times[LABEL].append(wire.times[-1])
            except (AssertionError, TimeoutError) as error:
                measured.errors[f"{LABEL}: {error or type(error).__name__}"] += 1


def _connected(address: str, token: str) -> connect:
    headers = {"Cookie": f"handbook_session={token}"}
    return connect(address.replace("http", "ws") + "/_stcore/stream", additional_headers=headers, max_size=None)


async def together(server: Server, people: Folk, pace_s: float, seconds: float, measured: Measured) -> float:
    """Everybody at once; the most memory of the server meanwhile, in MB."""
    until = time.monotonic() + seconds
    work = [asyncio.create_task(view(server.address, token, pace_s, until, measured)) for token in people.viewers]
    work += [
        asyncio.create_task(label(server.address, name, token, pace_s, until, measured))
        for name, token in people.annotators.items()
    ]
    most, everybody = 0.0, asyncio.gather(*work, return_exceptions=True)
    while not everybody.done():
        most = max(most, rss_mb(server))
        await asyncio.sleep(0.5)
    for error in filter(None, everybody.result()):
        measured.errors[f"left early: {type(error).__name__}: {error}"] += 1
    return most


def rss_mb(server: Server) -> float:
    """Resident memory of the server."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1_024


@dataclass(frozen=True)
class Folk:
    """Session tokens: of viewers, and of annotators by name."""

    viewers: list[str]
    annotators: dict[str, str]


def gather_folk(folder: Path, viewers: int, annotators: int, labels: int) -> Folk:
    """A study in which every annotator has `labels` items to do, and accounts for everybody."""
    tokens = office(folder, annotators, labels).tokens if annotators else {}
    store, now = open_label_store(f"sqlite:///{folder / 'studies.db'}"), datetime.now(UTC)
    names = [f"viewer{n:02}" for n in range(1, viewers + 1)]
    for name in names:
        add_account(store, name, "viewer", None, now)
    seen = [open_session(store, name, now) for name in names]
    store.close()
    return Folk(seen, tokens)


def report(measured: Measured) -> None:
    """A line a kind, and the errors."""
    print(f"{'kind':<16}{'runs':>8}{'p50 ms':>9}{'p95 ms':>9}{'worst':>9}")
    everything = [ms for times in measured.times.values() for ms in times]
    for kind, times in [*sorted(measured.times.items()), ("all", everything)]:
        if times:
            print(f"{kind:<16}{len(times):>8,}{statistics.median(times):>9.0f}{p95(times):>9.0f}{max(times):>9.0f}")
    print(f"errors: {sum(measured.errors.values())}; p95 under {TARGET_MS} ms: {'yes' if p95(everything) < TARGET_MS else 'NO'}")
    for text, count in sorted(measured.errors.items()):
        print(f"  {count} x {text[:300]}")


def p95(times: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else max(times, default=0.0)


def mixed(server: Server, people: Folk, arguments: argparse.Namespace) -> bool:
    """The waves of viewers and annotators; whether nothing went wrong."""
    asyncio.run(open_every_page(server.address, people.viewers[0]))
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; RSS before {rss_mb(server):.0f} MB", flush=True)
    sound = True
    for wave in range(1, arguments.waves + 1):
        measured, cpu = Measured(), time.process_time()
        most = asyncio.run(together(server, people, arguments.pace, arguments.seconds, measured))
        print(f"\nwave {wave}: {len(people.viewers)} viewers, {len(people.annotators)} annotators, {arguments.seconds:.0f} s")
        report(measured)
        time.sleep(AFTER_S)
        print(f"RSS most {most:.0f} MB, {AFTER_S} s after they left {rss_mb(server):.0f} MB; load {os.getloadavg()[0]:.1f}; "
              f"CPU of the clients {time.process_time() - cpu:.1f} s", flush=True)  # fmt: skip
        sound = sound and not measured.errors
    return sound


def flat_out(server: Server, people: Folk, labels: int) -> None:
    """Everybody labels as fast as the server answers."""
    work = asyncio.run(label_together(server.address, people.annotators, labels, 0.0, lambda: None))
    middle, high = statistics.median(work.times), p95(work.times)
    print(f"\n{len(people.annotators)} annotators flat out: {len(work.times):,} labels, {work.rate:.0f} a second")
    print(f"p50 {middle:.0f} ms, p95 {high:.0f} ms; under {FLAT_OUT_MS} ms: {'yes' if high < FLAT_OUT_MS else 'NO'}")


def main() -> int:
    """Read the command line; 1 where there were errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, metavar="DIR")
    parser.add_argument("--viewers", type=int, default=40)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--pace", type=float, default=10, help="seconds between what one person does, on average (default: 10)")
    parser.add_argument("--waves", type=int, default=1)
    parser.add_argument("--labels", type=int, default=50, help="labels of each annotator flat out; 0: none (default: 50)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if arguments.data_dir is None:
            environment = {**os.environ, "AUDIT_DATA_DIR": scratch}
            subprocess.run([sys.executable, "-m", "audit", "demo", "--no-serve"], cwd=ROOT, env=environment, check=True)
        else:
            (folder / "store").symlink_to((arguments.data_dir / "store").resolve())
        needed = arguments.waves * (int(2 * arguments.seconds / arguments.pace) + 2) + arguments.labels + 2
        people = gather_folk(folder, arguments.viewers, arguments.annotators, needed)
        with serving(folder) as server:
            sound = mixed(server, people, arguments)
            if arguments.labels and people.annotators:
                flat_out(server, people, arguments.labels)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
