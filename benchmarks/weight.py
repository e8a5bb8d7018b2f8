"""What every page costs the one who opens it: bytes, seconds to ready and nodes, in a real Chromium.

    python -m benchmarks.weight [--data-dir DIR] [--only NAME ...]

DIR is an AUDIT_DATA_DIR with the run to look at (default: a fresh demo). The first page of a fresh browser brings Streamlit's own
code along and is reported apart. Then each page of the menu is opened in a tab of its own whose browser has that code already:
once cold (the server has computed nothing for it yet) and once warm. Bytes are those of the answers over HTTP and of the frames
of the web socket, towards the browser, in kB; ready is the moment at which the script has run and no frame has come for 0.4 s.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright

from pages._shared.doors import BROWSING

ROOT = Path(__file__).resolve().parents[1]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
QUIET_S = 0.4
NODES = """() => { const count = (root) => [...root.querySelectorAll("*")].reduce(
  (sum, each) => sum + 1 + (each.shadowRoot ? count(each.shadowRoot) : 0), 0); return count(document) }"""


@dataclass
class PageLoad:
    """One opening of a page."""

    http: int = 0
    socket: int = 0
    seconds: float = 0.0
    nodes: int = 0
    last: float = 0.0

    def count(self, page: Page) -> None:
        """Listen to what reaches `page`."""
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.dataReceived", lambda event: self._received("http", event["encodedDataLength"]))
        session.on("Network.webSocketFrameReceived", lambda event: self._received("socket", _size(event["response"])))

    def _received(self, channel: str, size: int) -> None:
        setattr(self, channel, getattr(self, channel) + size)
        self.last = time.perf_counter()


def _size(frame: dict[str, object]) -> int:
    payload = str(frame["payloadData"])
    return len(payload) if frame["opcode"] == 1 else len(payload) * 3 // 4


def load_page(context: BrowserContext, url: str) -> PageLoad:
    """Open `url` in a tab of its own."""
    page, seen = context.new_page(), PageLoad()
    seen.count(page)
    start = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("h1", timeout=120_000)
    while True:
        page.wait_for_selector(READY, timeout=120_000)
        ready = time.perf_counter()
        while time.perf_counter() - max(seen.last, ready) < QUIET_S:
            page.wait_for_timeout(50)
        if page.query_selector(READY):
            break
    seen.seconds = max(seen.last, ready) - start
    seen.nodes = page.evaluate(NODES)
    page.close()
    return seen


@contextmanager
def served(folder: str) -> Iterator[str]:
    """`audit serve` on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "audit", "serve", "--port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "AUDIT_DATA_DIR": folder}, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


def measure(folder: str, only: list[str] | None) -> None:
    """Print a table in Markdown, page by page."""
    names = [script for script in BROWSING if not only or script in only]
    with served(folder) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS, headless=True)
        context = chromium.new_context(viewport={"width": 1280, "height": 800})
        first = load_page(context, f"{address}/glossary")
        load_page(context, f"{address}/organs")  # brings Plotly
        print(f"First page of a fresh browser: {(first.http + first.socket) / 1e3:,.0f} kB, {first.seconds:.1f} s\n")
        print("| page | socket kB | HTTP kB | cold s | warm s | nodes |\n|---|---|---|---|---|---|")
        for name in names:
            print(row(name, load_page(context, f"{address}/{name}"), load_page(context, f"{address}/{name}")), flush=True)
        chromium.close()


def row(name: str, cold: PageLoad, warm: PageLoad) -> str:
    """A row of the table."""
    return (
        f"| {name} | {warm.socket / 1e3:,.0f} | {warm.http / 1e3:,.0f} | {cold.seconds:.1f} | {warm.seconds:.1f} "
        f"| {warm.nodes:,} |"
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="an AUDIT_DATA_DIR with a loaded run")
    parser.add_argument("--only", nargs="*", metavar="NAME")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if not wanted.data_dir:
            environment = {**os.environ, "AUDIT_DATA_DIR": scratch}
            subprocess.run([sys.executable, "-m", "audit", "demo", "--no-serve"], cwd=ROOT, env=environment, check=True)
        measure(str(wanted.data_dir or scratch), wanted.only)


if __name__ == "__main__":
    main()
