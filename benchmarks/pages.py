"""Server time of every page at paper scale: its first visit, and visits in which something is changed.

    python -m benchmarks.pages [--data-dir DIR] [--runs N] [PAGE ...]

DIR is an AUDIT_DATA_DIR with the run to look at (default: a fresh demo at paper scale). Each page is opened once cold, in one
process without a browser (Streamlit's AppTest), and then rerun N times, the pages in turn, so that a slow moment of the machine
falls on all of them. Before each rerun the page's first choice is changed (another question, organ, topic, handbook, or a switch
turned), so that what is shown must be counted and drawn again; a page without a choice is only rerun. Reported: CPU milliseconds
of all threads. A page that shows an error ends the benchmark.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages._blinded.scripts import script_path
from pages._shared.doors import BROWSING

ROOT = Path(__file__).resolve().parents[1]
EMPTY = "import streamlit as st\nst.title('Nothing')\n"
FIRST_MS, MEDIAN_MS, P95_MS = 500, 250, 600
# On every page: choosing another run, account or page is not a use of the page itself.
OF_EVERY_PAGE = ("run", "picked_run", "search", "account", "theme")


def opened(page: str) -> tuple[AppTest, float]:
    """A page after its first run, and what that run cost."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    before = time.process_time()
    app = app.switch_page(script_path(page)).run()
    cold = (time.process_time() - before) * 1_000
    _require_sound(app, page)
    return app, cold


def _require_sound(app: AppTest, page: str) -> None:
    # A page that cannot read its run is quick.
    if app.exception or app.error:
        raise SystemExit(f"{page}: {[element.value for element in (*app.exception, *app.error)]}")


def change(app: AppTest, number: int) -> str:
    """Change the first choice of a page; returns its label, or an empty text where it has none."""
    for box in app.selectbox:
        if box.key not in OF_EVERY_PAGE and len(box.options) > 1:
            box.select_index(number % len(box.options))
            return str(box.label)
    for several in app.multiselect:
        if several.options:
            several.set_value([several.options[number % len(several.options)]])
            return str(several.label)
    for switch in (*app.toggle, *app.checkbox):
        switch.set_value(not switch.value)
        return str(switch.label)
    return ""


def rerun(app: AppTest) -> float:
    """CPU milliseconds of one rerun."""
    before = time.process_time()
    app.run()
    return (time.process_time() - before) * 1_000


def measure(pages: list[str], runs: int) -> None:
    """Print a table of every page."""
    apps = {name: opened(name) for name in pages}
    apps[""] = (AppTest.from_string(EMPTY).run(), 0.0)
    times: dict[str, list[float]] = {name: [] for name in apps}
    changed: dict[str, str] = {}
    for number in range(1, runs + 1):
        for name, (app, _) in apps.items():
            changed[name] = change(app, number)
            times[name].append(rerun(app))
            _require_sound(app, name)
    print(f"{'page':<16}{'first ms':>9}{'median ms':>11}{'p95 ms':>9}  changed; targets: {FIRST_MS}, {MEDIAN_MS}, {P95_MS} ms")
    for name, values in times.items():
        middle, high = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        missed = apps[name][1] > FIRST_MS or middle > MEDIAN_MS or high > P95_MS
        shown = f"{changed[name]}{'  MISSED' if missed else ''}"
        print(f"{name or '(empty page)':<16}{apps[name][1]:>9.0f}{middle:>11.0f}{high:>9.0f}  {shown}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="an AUDIT_DATA_DIR with a loaded run")
    parser.add_argument("--runs", type=int, default=20)
    every = sorted(BROWSING)
    parser.add_argument("pages", nargs="*", default=every, metavar="PAGE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["AUDIT_DATA_DIR"] = str(arguments.data_dir or scratch)
        if not arguments.data_dir:
            from audit.cli.main import main as audit

            audit(["demo", "--scale", "paper", "--no-serve"])
        measure(arguments.pages, arguments.runs)


if __name__ == "__main__":
    main()
