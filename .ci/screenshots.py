"""Takes the README's screenshots anew: the demo's pages in Chromium, into data/screenshots/.

.venv/bin/python .ci/screenshots.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from time import sleep

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "data" / "screenshots"
PORT = 8599
ADDRESS = f"http://127.0.0.1:{PORT}"
PAGES = {
    "overview": "", "organs": "organs", "coverage": "coverage", "handbook": "handbook", "disagreements": "disagreements",
    "question": "question", "topics": "topics", "centers": "centers", "runs": "runs", "glossary": "glossary",
}  # fmt: skip
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]


def main() -> None:
    """Load the demo into a scratch folder, serve it, and photograph every page."""
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "AUDIT_DATA_DIR": scratch}
        audit = [sys.executable, "-m", "audit"]
        subprocess.run([*audit, "demo", "--no-serve"], cwd=ROOT, env=environment, check=True)
        server = subprocess.Popen([*audit, "serve", "--port", str(PORT)], cwd=ROOT, env=environment)
        try:
            photograph()
        finally:
            server.terminate()
            server.wait(10)


def photograph() -> None:
    """Every page at 1280 x 800, as it stands when its script has run and its charts are drawn."""
    wait_for_server()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS, headless=True)
        for name, path in PAGES.items():
            take(chromium, name, path)
        chromium.close()


def take(chromium: Browser, name: str, path: str) -> None:
    """One page."""
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{ADDRESS}/{path}")
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
    page.wait_for_timeout(3_000)
    page.screenshot(path=TARGET / f"{name}.png")
    page.close()


def wait_for_server() -> None:
    """Until it answers, 30 s at most."""
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{ADDRESS}/_stcore/health", timeout=1)
            return
        except OSError:
            sleep(0.1)
    raise SystemExit("the server did not come up")


if __name__ == "__main__":
    main()
