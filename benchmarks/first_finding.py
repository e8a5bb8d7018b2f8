"""How much a fresh browser loads, and how long it computes, until *Start* shows its first finding.

    python -m benchmarks.first_finding [--data-dir DIR] [--visits N]

DIR is an AUDIT_DATA_DIR with the run to look at (default: a fresh demo). Each visit has a browser without a cache. Bytes are as
they cross the network, over HTTP and the web socket, in kB, until the first disputed question stands on the page; CPU seconds are
those of the browser's main thread. Wall seconds are an upper bound where the machine
is busy. Below: the largest files of the last visit. The target is 600 kB and 1 s on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.weight import FLAGS, ROOT, PageLoad, served

FINDING = ".st-key-disputes [data-testid='stPageLink'], .st-key-disputes .dispute"
LARGEST = 8


def visit(chromium: Browser, address: str) -> tuple[PageLoad, float, Counter[str]]:
    """What a visit loaded, the CPU seconds of the browser, and the bytes of each file."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page, seen = context.new_page(), PageLoad()
    files = watched_files(page)
    seen.count(page)
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    start = time.perf_counter()
    page.goto(f"{address}/")
    page.wait_for_selector(FINDING, timeout=120_000)
    seen.seconds = time.perf_counter() - start
    metrics = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    return seen, metrics["TaskDuration"], files


def watched_files(page: Page) -> Counter[str]:
    """Name of a file -> bytes, filled while the page loads."""
    names, sizes = dict[str, str](), Counter[str]()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.requestWillBeSent", lambda sent: names.update({sent["requestId"]: sent["request"]["url"]}))
    session.on("Network.loadingFinished", lambda end: sizes.update({names.get(end["requestId"], "?"): end["encodedDataLength"]}))
    return sizes


def measure(folder: str, visits: int) -> None:
    """Print a table in Markdown, a visit a row, and the largest files."""
    with served(folder) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS, headless=True)
        print("| visit | kB | of them HTTP | browser CPU s | wall s |\n|---|---|---|---|---|")
        totals = []
        for number in range(1, visits + 1):
            seen, cpu, files = visit(chromium, address)
            totals.append((seen.http + seen.socket, cpu))
            print(
                f"| {number} | {totals[-1][0] / 1e3:,.0f} | {seen.http / 1e3:,.0f} | {cpu:.2f} | {seen.seconds:.1f} |", flush=True
            )
        print(f"\nMedian: {median(size for size, _ in totals) / 1e3:,.0f} kB, {median(cpu for _, cpu in totals):.2f} CPU s\n")
        for url, size in files.most_common(LARGEST):
            print(f"{size / 1e3:8,.0f} kB  {url.rsplit('/', 1)[-1] or '/'}")
        chromium.close()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="an AUDIT_DATA_DIR with a loaded run")
    parser.add_argument("--visits", type=int, default=3)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if not wanted.data_dir:
            environment = {**os.environ, "AUDIT_DATA_DIR": scratch}
            subprocess.run([sys.executable, "-m", "audit", "demo", "--no-serve"], cwd=ROOT, env=environment, check=True)
        measure(str(wanted.data_dir or scratch), wanted.visits)


if __name__ == "__main__":
    main()
