"""Takes the README's screenshots anew: the demo's pages in Chromium, into data/screenshots/.

.venv/bin/python .ci/screenshots.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from time import sleep

from playwright.sync_api import Page, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "data" / "screenshots"
PORT = 8599
WINDOW: ViewportSize = {"width": 1280, "height": 800}
ADDRESS = f"http://127.0.0.1:{PORT}"
STUDIES = {
    "ana": {"annotate": ""},
    "petra": {"downloads": "downloads", "study": "study", "agreement": "agreement", "prevalence": "prevalence"},
}
"""Pages on studies, by the simulated person who sees them."""
PAGES = {
    "overview": "", "organs": "organs", "coverage": "coverage", "handbook": "handbook", "disagreements": "disagreements",
    "question": "question", "themes": "themes", "theme": "theme", "topics": "topics", "centers": "centers", "runs": "runs",
    "compare": "compare", "judge": "judge", "glossary": "glossary",
}  # fmt: skip
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]


def main() -> None:
    """Load the demo with its studies into a scratch folder, serve it, and photograph every page."""
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "AUDIT_DATA_DIR": scratch}
        python = [sys.executable, "-m"]
        said = subprocess.run(
            [*python, "annotation", "demo"], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        )
        passwords = dict(re.findall(r"(\w+) +password (\S+)", said.stdout))
        server = subprocess.Popen([*python, "audit", "serve", "--port", str(PORT)], cwd=ROOT, env=environment)
        try:
            photograph(passwords)
        finally:
            server.terminate()
            server.wait(10)


def photograph(passwords: dict[str, str]) -> None:
    """Every page at 1280 x 800, as it stands when its script has run and its charts are drawn."""
    wait_for_server()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS, headless=True)
        visit(chromium.new_page(viewport=WINDOW), PAGES)
        for person, pages in STUDIES.items():
            page = signed_in(chromium.new_context(viewport=WINDOW).new_page(), person, passwords[person])
            visit(page, pages)
        rejudged(page)
        chromium.close()


def signed_in(page: Page, person: str, password: str) -> Page:
    """The page after `person` has signed in."""
    page.goto(f"{ADDRESS}/sign_in")
    page.get_by_label("Name").fill(person)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Sign out").wait_for()
    page.wait_for_timeout(2_000)
    return page


def rejudged(page: Page) -> None:
    """The result of putting some pairs to plain rules, as the PI sees it who was signed in last."""
    page.goto(
        f"{ADDRESS}/rejudge?topic=alcohol+and+substances&label=CONTRADICTORY&label=DIVERGENT&label=COMPLEMENTARY&label=CONSISTENT"
    )
    page.get_by_role("button", name="Choose these pairs").click()
    page.get_by_role("button", name=re.compile("Judge [0-9,]+ pairs")).click()
    page.get_by_text("Pair by pair").wait_for(timeout=60_000)
    page.wait_for_timeout(3_000)
    page.screenshot(path=TARGET / "rejudge.png")


def visit(page: Page, pages: dict[str, str]) -> None:
    """One picture of each page."""
    for name, path in pages.items():
        page.goto(f"{ADDRESS}/{path}")
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
        page.wait_for_timeout(3_000)
        page.screenshot(path=TARGET / f"{name}.png")


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
