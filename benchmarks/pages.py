"""Server time of a warm rerun of every page at paper scale, beside an empty Streamlit page in the same run.

    python -m benchmarks.pages [--data-dir DIR] [--runs N]

DIR is an AUDIT_DATA_DIR with the run to look at (default: a fresh demo at paper scale). Each page is opened once cold and
then rerun N times with nothing changed, in one process without a browser (Streamlit's AppTest), the pages in turn, so that
a slow moment of the machine falls on all of them. Reported: CPU milliseconds of all threads, and of the cold first run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]
EMPTY = "import streamlit as st\nst.title('Nothing')\n"
MEDIAN_MS, P95_MS = 250, 600


def opened(page: str) -> tuple[AppTest, float]:
    """A page after its first run, and what that run cost."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    before = time.process_time()
    app = app.switch_page(f"pages/{page}.py").run()
    cold = (time.process_time() - before) * 1_000
    assert not app.exception, app.exception
    return app, cold


def rerun(app: AppTest) -> float:
    """CPU milliseconds of one rerun."""
    before = time.process_time()
    app.run()
    return (time.process_time() - before) * 1_000


def measure(runs: int) -> None:
    """Print a table of every page."""
    apps = {path.stem: opened(path.stem) for path in sorted((ROOT / "pages").glob("*.py")) if path.stem != "__init__"}
    apps["(empty page)"] = (AppTest.from_string(EMPTY).run(), 0.0)
    times: dict[str, list[float]] = {name: [] for name in apps}
    for _ in range(runs):
        for name, (app, _) in apps.items():
            times[name].append(rerun(app))
    empty = statistics.median(times["(empty page)"])
    print(f"{'page':<16}{'cold ms':>9}{'median ms':>11}{'p95 ms':>9}{'/ empty':>9}  target: median {MEDIAN_MS}, p95 {P95_MS}")
    for name, values in times.items():
        middle, high = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        verdict = "" if middle <= MEDIAN_MS and high <= P95_MS else "  MISSED"
        print(f"{name:<16}{apps[name][1]:>9.0f}{middle:>11.0f}{high:>9.0f}{middle / empty:>9.1f}{verdict}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="an AUDIT_DATA_DIR with a loaded run")
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["AUDIT_DATA_DIR"] = str(arguments.data_dir or scratch)
        if not arguments.data_dir:
            from audit.cli.main import main as audit

            audit(["demo", "--scale", "paper", "--no-serve"])
        measure(arguments.runs)


if __name__ == "__main__":
    main()
