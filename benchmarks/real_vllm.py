"""Every protocol through a real vLLM on a machine without a GPU, as one table.

    python -m benchmarks.real_vllm [--folder DIR] [--steps NAME...]        (bash .ci/test vllm)

Installs the CPU build of vLLM into an environment of its own in DIR (default: the user's cache; 4 GB), makes two models that it
can serve, and puts the demo to them with the commands that a user has:
    protocols   structured (both orders), label_only, positions, absence, eight criteria, measures by evidence, MedRGB's tests,
                planted changes; then the server is killed in the middle, and the same command continues from the journal. With
                random weights also thinking within a budget, and the prefix cache by the order of the calls
    batch       two shards by `vllm run-batch` under SLURM, collected (needs Debian's slurm-wlm)
    probe       guided decoding as vLLM has it by default, which writes white space for ever with many models
Of two models, the first has the killed server and the batch, the last the probe: each start of vLLM takes minutes.
How fast the server is, is measured first, on the machine as busy as it is: a step asks about as few items as fit into three
minutes, has five times the expected time before it is stopped, and says how slow the model is where not even one item fits.
Columns: calls; replies that the program could read; prompt tokens and the share that the prefix cache had; reply tokens; seconds
of the whole command and calls a second. The models have 270 million parameters and none that learnt anything: nothing here says
how good a judge is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.formatting import text_table
from audit.pipeline.llm.client import Endpoint
from benchmarks.prefix_cache import ORDERS, at_server, calls
from benchmarks.vllm_server import (
    LEARNT,
    NO_WHITE_SPACE,
    RANDOM,
    START_S,
    Pace,
    Place,
    Server,
    default_folder,
    endpoint_of,
    environment,
    install,
    options,
    pace_of,
    serving,
)
from tests.support.slurm import ENDED, NoSlurmError, one_node

ROOT = Path(__file__).parents[1]
DEMO, RUN = "demo-small-2057", "demo"
THINKING = 64
PARSER = {LEARNT: (), RANDOM: ("--reasoning-parser", "qwen3")}
PLANTED = ("negation", "amount")
ITEMS = "{items}"
STEP_S, PATIENCE, OVERHEAD_S = 180.0, 5.0, 300.0
"""Expected seconds of a step at most; how many times that, and what else, it may take before it is stopped."""
THINKS, STRUCTURED, LABEL, POSITIONS = "thinking", "structured, both orders", "label_only", "positions"
ABSENCE, KILLED, BATCH = "absence", "server killed, same command", "run-batch under SLURM"
WORK = {
    THINKS: (1, 2_100, 260), STRUCTURED: (2, 2_100, 200), LABEL: (2, 1_300, 40), POSITIONS: (2, 900, 60), ABSENCE: (2, 800, 40),
    "criteria": (1, 1_300, 500), "evidence": (1, 600, 40), "stress, MedRGB": (4, 1_000, 170), "stress, planted": (4, 1_500, 20),
    KILLED: (2, 2_100, 200), BATCH: (1, 2_100, 200),
}  # fmt: skip
"""Step -> calls of one of its items, and tokens of a prompt and of a reply, roughly."""
HEAD = ("step", "calls", "read", "prompt tokens", "from the cache", "reply tokens", "s", "calls/s", "")


@dataclass
class Bench:
    """The working folder of one go: the demo as a release and as a run, journals, and the rows so far."""

    place: Place
    work: Path
    size: int
    name: str
    rows: list[tuple[str, ...]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    first: bool = True
    pace: Pace | None = None
    ready_s: float = 0.0

    def items(self, step: str) -> int:
        """How many items a step can ask about in its time; with a row that says why where there is none."""
        one = self.pace.seconds(*WORK[step]) if self.pace else 0.0
        if self.pace and one > STEP_S:
            why = f"not run: {self.pace.reply:.1f} reply tokens a second, so one item takes some {one:,.0f} s"
            self.row(step, *["-"] * (len(HEAD) - 2), why)
            return 0
        return min(self.size, int(STEP_S / one)) if one else self.size

    def limit_s(self, step: str, items: int) -> float:
        """When a step with so many items is stopped."""
        return OVERHEAD_S + PATIENCE * (items * self.pace.seconds(*WORK[step]) if self.pace else STEP_S)

    @property
    def release(self) -> Path:
        return self.work / DEMO

    def audit(
        self, *words: str | Path, server: dict[str, str] | None = None, allowed: Sequence[int] = (0, 1), limit_s: float = 900.0
    ) -> Ran:
        """Run a command of ours. An exit code that is not `allowed` is a fault, and so is one that has not ended in time."""
        ours = {**environment(), "AUDIT_DATA_DIR": str(self.work / "data"), **(server or {})}
        began = time.monotonic()
        command = [sys.executable, "-m", "audit", *map(str, words)]
        try:
            done = subprocess.run(command, env=ours, cwd=ROOT, capture_output=True, text=True, timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.fault(f"audit {' '.join(map(str, words))}: not done after {limit_s:,.0f} s, stopped")
            return Ran(-1, "", "", limit_s)
        ran = Ran(done.returncode, done.stdout, done.stderr, time.monotonic() - began)
        if done.returncode not in allowed:
            self.fault(f"audit {' '.join(map(str, words))}: exit code {done.returncode}. {ran.last}")
        return ran

    def fault(self, sentence: str) -> None:
        """Note what did not hold; the other steps go on."""
        self.faults.append(sentence)
        print(f"FAULT {sentence}", flush=True)

    def row(self, step: str, *cells: object) -> None:
        """Add a row, and show it."""
        self.rows.append((step, *(f"{cell:,.2f}" if isinstance(cell, float) else str(cell) for cell in cells)))
        print(" | ".join(self.rows[-1]), flush=True)

    def asked(self, step: str, journal: Path, ran: Ran, unread: int, words: str = "") -> None:
        """Add the row of a command that called a model, from its journal."""
        made = figures(journal)
        read = f"{made.keys - unread} of {made.keys}"
        share = f"{made.cached / made.prompt:.0%}" if made.prompt else "-"
        cells = (made.keys, read, f"{made.prompt:,}", share, f"{made.written:,}", round(ran.seconds))
        self.row(step, *cells, made.keys / ran.seconds, words)


@dataclass(frozen=True)
class Ran:
    """A command that ended."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def record(self) -> dict[str, Any]:
        """What it printed with --json."""
        return dict(json.loads(self.out)) if self.out.startswith("{") else {}

    @property
    def last(self) -> str:
        return (self.err.strip() or self.out.strip())[-400:]


@dataclass(frozen=True)
class Figures:
    """The calls of a journal: keys, attempts, and tokens of all attempts."""

    keys: int
    attempts: int
    prompt: int
    cached: int
    written: int
    answered_twice: int
    answered: int


def figures(journal: Path) -> Figures:
    """Read a journal, which may be in use."""
    with closing(sqlite3.connect(journal)) as con:
        replies = [
            (key, outcome, json.loads(reply)) for key, outcome, reply in con.execute("select key, outcome, reply from replies")
        ]
    usages = [reply["usage"] for _, _, reply in replies]
    answered = [key for key, outcome, _ in replies if outcome == "answered"]
    return Figures(
        len({key for key, _, _ in replies}), len(replies), *(sum(usage.get(name, 0) for usage in usages) for name in (
            "prompt_tokens", "cached_tokens", "completion_tokens")), len(answered) - len(set(answered)), len(set(answered)),
    )  # fmt: skip


def unread_of(record: dict[str, Any]) -> int:
    """Items that a command could not read, in whichever words it counts them."""
    return _total(record.get("unscored", record.get("unread", record.get("reasons", 0)))) + _total(record.get("not_asked", 0))


def _total(value: Any) -> int:
    return sum(map(_total, value.values())) if isinstance(value, dict) else int(value)


# -- the steps ---------------------------------------------------------------------------------------------------------


def prepare(bench: Bench) -> None:
    """The demo, unpacked and loaded."""
    bench.work.mkdir(parents=True)
    with tarfile.open(ROOT / "data" / "demo" / f"{DEMO}.tar.xz") as archive:
        archive.extractall(bench.work)  # of our own making, and `filter` is unknown to Python 3.11.2
    bench.audit("load", bench.release, "--json")


def probe_default(bench: Bench) -> None:
    """Guided decoding as vLLM has it by default: endless white space, which the probe must name with its cure."""
    words = ("judge", RUN, "--out", bench.work / "white", "--pairs", "sample:2", "--json")
    with serving(bench.place, bench.name, *PARSER[bench.name]) as server:
        bench.row("server ready", "-", "-", "-", "-", "-", round(server.ready_s), "-", bench.name)
        ran = bench.audit(*words, server=endpoint_of(server, bench.name, 4), allowed=(0, 1, 2))
    if ran.code == 2 and "disable_any_whitespace" in ran.err:
        bench.row("probe, vLLM as it comes", 1, "-", "-", "-", "-", round(ran.seconds), "-", "refused: endless white space")
    elif ran.code == 2:
        bench.fault(f"probe, vLLM as it comes: {ran.last}")
    else:
        bench.row("probe, vLLM as it comes", 1, "-", "-", "-", "-", round(ran.seconds), "-", "accepted")


def judge(bench: Bench, server: dict[str, str], name: str, *words: str) -> None:
    """One way to judge pairs of the demo, loaded as a run whose counts must reconcile."""
    if not (pairs := bench.items(name)):
        return
    out, command = bench.work / name, ("judge", RUN, "--load", "--json", "--pairs", f"sample:{pairs}", *words)
    ran = bench.audit(*command, "--out", out, server=server, limit_s=bench.limit_s(name, pairs))
    if not ran.record:
        return
    if "do not reconcile" in ran.record["verdict"]:
        bench.fault(f"{name}: {ran.record['verdict']}")
    reasons = ", ".join(f"{reason} {number}" for reason, number in ran.record["unscored"].items())
    bench.asked(name, Path(f"{out}.journal"), ran, unread_of(ran.record), f"unread: {reasons}" if reasons else "")


def killed(bench: Bench, server: Server, again: Callable[[], Server]) -> None:
    """The server dies while it is asked; another takes its place, and the same command asks only the rest."""
    if not (items := bench.items(KILLED)):
        return
    # Two at least come before the end, and two after it
    items, out, journal = max(items, 2), bench.work / "killed", bench.work / "killed.journal"
    limit_s = bench.limit_s(KILLED, items)
    words = [sys.executable, "-m", "audit", "judge", RUN, "--out", str(out), "--pairs", f"sample:{2 * items}", "--json"]
    ours = {**environment(), "AUDIT_DATA_DIR": str(bench.work / "data"), **endpoint_of(server, bench.name, 2)}
    command = subprocess.Popen(words, env=ours, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + limit_s
    while command.poll() is None and time.monotonic() < end and not (journal.is_file() and figures(journal).answered >= 2):
        time.sleep(0.2)
    server.kill()
    _, said = command.communicate(timeout=limit_s)
    stored = figures(journal)
    if command.returncode != 2 or "the same command continues from there" not in said:
        bench.fault(f"killed: exit code {command.returncode}, {said[-300:]}")
    ran = bench.audit(*words[3:], server=endpoint_of(again(), bench.name, 2), limit_s=limit_s)
    whole = figures(journal)
    if whole.answered_twice:
        bench.fault(f"killed: {whole.answered_twice} calls were answered twice")
    bench.asked(KILLED, journal, ran, unread_of(ran.record), f"{stored.answered} replies were kept")


def others(bench: Bench, server: dict[str, str]) -> None:
    """The commands that ask a model about anything but pairs."""
    name = DEMO
    for step, journal, words in (
        ("criteria", f"{name}.criteria", ("systems", "judge", bench.release, "--limit", ITEMS, "--references", "leave-out")),
        ("evidence", f"{name}.evidence", ("systems", "judge", bench.release, "--limit", "1", "--protocol", "evidence")),
        (
            "stress, MedRGB",
            f"{name}.stress.{bench.name}",
            ("stress", "run", bench.release, "--sizes", "5", "--shares", "100", "--limit", "1"),
        ),
        (
            "stress, planted",
            f"{name}.planted",
            ("stress", "judge", bench.release, "--items", "1", "--kinds", *PLANTED, "--protocol", "label_only"),
        ),
    ):
        if not (items := bench.items(step)):
            continue
        counted = [str(items) if word == ITEMS else word for word in words]
        ran = bench.audit(*counted, "--json", server=server, limit_s=bench.limit_s(step, items))
        if ran.record:
            bench.asked(step, bench.work / f"{journal}.journal", ran, unread_of(ran.record))


def batch(bench: Bench) -> None:
    """Two shards under SLURM. Its node has no GPU, and room for one vLLM at a time."""
    model, folder, out = str(bench.place.model(bench.name)), bench.work / "batch", bench.work / "collected"
    if not (items := bench.items(BATCH)):
        return
    server, limit_s = {"AUDIT_JUDGE_MODEL": model}, bench.limit_s(BATCH, items) + 2 * PATIENCE * (bench.ready_s or START_S / 4)
    words = ("judge", RUN, "--out", out, "--pairs", f"sample:{items}", "--json")
    bench.audit(*words, "--emit-batch", folder, "--shards", "2", server=server)
    script = folder / "ask.sbatch"
    script.write_text(script.read_text().replace("#SBATCH --gpus=1\n", "").replace("--cpus-per-task=8", "--cpus-per-task=1"))
    began = time.monotonic()
    try:
        with one_node(Path(tempfile.mkdtemp(prefix="slurm-"))) as slurm:
            ours = {"VLLM": str(bench.place.vllm), "VLLM_ARGS": " ".join(options(bench.name)), "VLLM_CPU_KVCACHE_SPACE": "1"}
            more = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "VLLM_NO_USAGE_STATS": "1"}
            job = slurm.submit("ask.sbatch", folder, "--array=0-1%1", **ours, **more)
            slurm.until(lambda: slurm.states(job) <= ENDED, timeout_s=limit_s)
    except NoSlurmError as why:
        bench.row(BATCH, "-", "-", "-", "-", "-", "-", "-", f"left out: {why}")
        return
    waited = time.monotonic() - began
    ran = bench.audit(*words, "--collect", folder, "--load", server=server)
    text = ran.out[ran.out.find("{") :]
    record = json.loads(text) if text.startswith("{") else {}
    if not record:
        logs = "".join(path.read_text(errors="replace")[-600:] for path in sorted(folder.glob("logs/*")))
        bench.fault(f"run-batch: {ran.last} {logs}")
        return
    whole = Ran(ran.code, ran.out, ran.err, waited)
    bench.asked(BATCH, Path(f"{out}.journal"), whole, unread_of(record), "2 shards, each loads the model")


def prefix(bench: Bench, server: Server, pairs: int = 60) -> None:
    """The share of prompt tokens that the server's cache had, by the order of the calls; each order has questions of its own."""
    for seed, (order, words) in enumerate({"ours": "pairs grouped by question", "random": "shuffled"}.items(), 1):
        ordered = ORDERS[order](calls(5, pairs, 150, RANDOM, seed))
        began = time.monotonic()
        share = at_server(Endpoint(server.url, RANDOM), ordered)
        seconds = time.monotonic() - began
        bench.row(f"prefix cache, {order}", pairs, "-", "-", f"{share:.1%}", pairs, round(seconds), pairs / seconds, words)


def protocols(bench: Bench) -> None:
    """The steps of one server, and of the one that follows it when it is killed."""
    served = (*NO_WHITE_SPACE, *PARSER[bench.name])
    with serving(bench.place, bench.name, *served) as server:
        port = int(server.url.rsplit(":", 1)[1].split("/")[0])
        ours = endpoint_of(server, bench.name, 4)
        pace = bench.pace = pace_of(server, bench.name)
        bench.ready_s = server.ready_s
        words = f"{bench.name}: {pace.prompt:,.0f} prompt and {pace.reply:,.1f} reply tokens a second, one call alone"
        bench.row("server ready", "-", "-", "-", "-", "-", round(server.ready_s), "-", words)
        if bench.name == RANDOM:
            prefix(bench, server)
            judge(bench, {**ours, "AUDIT_JUDGE_THINKING": str(THINKING)}, THINKS)
        judge(bench, ours, STRUCTURED, "--swap")
        judge(bench, ours, LABEL, "--protocol", "label_only")
        judge(bench, ours, POSITIONS, "--protocol", "positions")
        judge(bench, ours, ABSENCE, "--absence", "check")
        others(bench, ours)
        if not bench.first:
            return
        again = serving(bench.place, bench.name, *served, port=port)
        try:
            killed(bench, server, again.__enter__)
        finally:
            again.__exit__(None, None, None)


STEPS = {"protocols": protocols, "batch": batch, "probe": probe_default}


def main() -> int:
    """Read the command line; the exit code is 1 where something did not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=default_folder(), help="of vLLM and the models (default: %(default)s)")
    parser.add_argument("--size", type=int, default=6, help="pairs of a step (default: %(default)s)")
    parser.add_argument("--models", nargs="+", choices=(RANDOM, LEARNT), default=(RANDOM, LEARNT))
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=tuple(STEPS))
    arguments = parser.parse_args()
    # Where Python may not keep its bytecode, each start would compile torch and vLLM again: minutes
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Else a server would outlive the script that is stopped
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    place, rows, faults = Place(arguments.folder.resolve()), list[tuple[str, ...]](), list[str]()
    install(place, arguments.models)
    shutil.rmtree(place.folder / "work", ignore_errors=True)
    for name in arguments.models:
        first, last = (name == arguments.models[end] for end in (0, -1))
        bench = Bench(place, place.folder / "work" / name, arguments.size, name, rows, faults, first)
        prepare(bench)
        for step in (step for step in arguments.steps if {"batch": first, "probe": last}.get(step, True)):
            try:
                STEPS[step](bench)
            except Exception as error:  # the other steps take minutes each, and go on
                bench.fault(f"{name}, {step}: {type(error).__name__}: {error}")
    print("\n" + text_table([HEAD, *rows]))
    print("\n".join(faults) or "Everything held.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
