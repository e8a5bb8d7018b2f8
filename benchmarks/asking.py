"""A question to all handbooks of a run: seconds until the answer, from nothing, with indexes kept, and with the process warm.

    python -m benchmarks.asking [--scale small|paper] [--question TEXT ...] [--data-dir DIR --run RUN]

The run is the demo of that scale (24 or 102 handbooks), made in a folder that is deleted afterwards, or RUN in DIR, whose indexes
are then computed in a scratch folder. A question is asked through the process of the dashboard: `first` starts it and reads every
handbook, `kept` starts it with what the first stored, `warm` asks the next question of a process that has answered one.
Seconds are of the clock, because that is what a person waits; the machine's load is printed beside them, and the peak memory of
the process; of `first` and `kept` also the processor seconds, which other work changes less. Words are compared until a sentence
model, where one is installed, has read every handbook.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

from audit.jobs.asking import AskScope, ask_run, close_workers
from audit.settings import Settings
from audit.store.load import load_release
from audit.store.runs import Run, find_run
from tests.simulator.build import write_demo

QUESTIONS = (
    "When may I drive again after the transplant?",
    "Is it safe to eat sushi?",
    "How long should I avoid lifting heavy things?",
    "What should I do if I have a fever?",
)


def demo_run(folder: Path, scale: str) -> Run:
    """The demo of a scale, loaded."""
    settings = Settings(data_dir=folder)
    return load_release(write_demo(folder / "releases" / scale, scale), settings).run


def seconds(run: Run, question: str, folder: Path) -> float:
    """Seconds until the answer to a question."""
    began = time.perf_counter()
    ask_run(run, question, AskScope(), folder)
    return time.perf_counter() - began


def cpu() -> float:
    """Processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=("small", "paper"), default="small")
    parser.add_argument("--question", nargs="+", default=QUESTIONS)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--run", metavar="RUN", help="id or key of the run in --data-dir (default: the newest)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        store = arguments.data_dir and arguments.data_dir / "store"
        run = find_run(store, arguments.run) if store else demo_run(folder, arguments.scale)
        print(f"{run.title}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        first = seconds(run, arguments.question[0], folder)
        close_workers()
        first_cpu = cpu()
        kept = seconds(run, arguments.question[0], folder)
        close_workers()
        kept_cpu = cpu() - first_cpu
        seconds(run, arguments.question[0], folder)
        warm = [seconds(run, question, folder) for question in arguments.question]
        close_workers()
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"first {first:.1f} s ({first_cpu:.1f} of a processor), kept {kept:.1f} s ({kept_cpu:.1f})")
    print(f"warm {min(warm):.2f} to {max(warm):.2f} s, at most {memory:,.0f} MiB")


if __name__ == "__main__":
    main()
