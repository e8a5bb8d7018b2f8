"""Takes the README's pictures anew: every page of the menu in Chromium on the demo, into data/screenshots/, in one run.

.venv/bin/python .ci/screenshots.py [--dark] [--width 1280] [--only NAME ...] [--out DIR]

A page that is added to the menu is photographed without a word here; what it needs beyond its address stands in ADDRESSES.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from time import sleep

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from pages._shared.navigation import PAGES  # noqa: E402 - the menu is the list of pages

HEIGHT, COLOURS = 800, 128
"""A picture is kept in so many colours: a page has few, and it is a third of the size."""
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
ADDRESSES = {
    "answer": "answer?question=kidney-0014&handbook=kidney_hornbeam_post&other=heart_catalpa_post",
    "rejudge": "rejudge?topic=alcohol+and+substances&label=CONTRADICTORY&label=DIVERGENT&label=COMPLEMENTARY&label=CONSISTENT",
}
"""Where a page is photographed at another address than its own."""
STUDIES = {"ana": ("annotate",), "petra": ("downloads", "rejudge", "study", "agreement", "prevalence")}
"""Pages that are photographed as the simulated person who has them; every other as whoever browses."""


def rejudged(page: Page) -> None:
    """Some pairs put to plain rules."""
    page.get_by_role("button", name="Choose these pairs").click()
    page.get_by_role("button", name=re.compile("Judge [0-9,]+ pairs")).click()
    page.get_by_text("Pair by pair").wait_for(timeout=60_000)


PREPARED: dict[str, Callable[[Page], None]] = {"rejudge": rejudged}
"""What is done on a page before its picture is taken."""


def main() -> None:
    """Load the demo with its studies into a scratch folder, serve it, and photograph every page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--only", nargs="*", metavar="NAME")
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "screenshots")
    wanted = parser.parse_args()
    wanted.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, served(scratch) as (address, passwords), sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS, headless=True)
        for person, own in people().items():
            names = [name for name in own if not wanted.only or name in wanted.only]
            page = somebody(chromium, wanted.width, "dark" if wanted.dark else "light")
            if names and person:
                sign_in(page, address, person, passwords[person])
            for name in names:
                (wanted.out / f"{name}.png").write_bytes(picture(page, address, name))
                print(name, flush=True)
        chromium.close()


def people() -> dict[str, list[str]]:
    """Who photographs which pages; the empty name is nobody's."""
    of_others = {name for names in STUDIES.values() for name in names}
    menu = [script for scripts in PAGES.values() for script, _ in scripts]
    return {"": ["tour", *(name for name in menu if name not in of_others)], **{who: list(own) for who, own in STUDIES.items()}}


@contextmanager
def served(folder: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The demo with its earlier run and its studies: its address, and the passwords of its people."""
    environment, python = {**os.environ, "AUDIT_DATA_DIR": folder}, [sys.executable, "-m"]
    subprocess.run([*python, "audit", "demo", "--no-serve"], cwd=ROOT, env=environment, check=True, capture_output=True)
    said = subprocess.run(
        [*python, "audit", "demo", "--studies", "--no-serve"],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    port = 8599
    server = subprocess.Popen([*python, "audit", "serve", "--port", str(port)], cwd=ROOT, env=environment)
    try:
        yield answering(f"http://127.0.0.1:{port}"), dict(re.findall(r"(\w+) +password (\S+)", said.stdout))
    finally:
        server.terminate()
        server.wait(10)


def answering(address: str) -> str:
    """`address` once somebody answers there, 30 s at most."""
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
            return address
        except OSError:
            sleep(0.1)
    raise SystemExit("the server did not come up")


def somebody(chromium: Browser, width: int, ground: str) -> Page:
    """A page in a browser of its own."""
    context = chromium.new_context(viewport={"width": width, "height": HEIGHT}, color_scheme=ground)  # type: ignore[arg-type]
    return context.new_page()


def sign_in(page: Page, address: str, person: str, password: str) -> None:
    """Sign `person` in."""
    page.goto(f"{address}/sign_in")
    page.get_by_label("Name").fill(person)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Sign out").wait_for()
    page.wait_for_timeout(2_000)


def picture(page: Page, address: str, name: str) -> bytes:
    """A page as it stands when its script has run and its charts are drawn, as a small PNG. Only `tour` shows the tour."""
    page.goto(f"{address}/{'' if name in ('tour', 'overview') else ADDRESSES.get(name, name)}")
    page.wait_for_selector(READY, timeout=60_000)
    page.wait_for_timeout(2_000)
    PREPARED.get(name, lambda _: None)(page)
    away = page.get_by_role("button", name="Do not show again")
    if name != "tour" and away.is_visible():
        away.click()
    page.wait_for_timeout(1_500)
    return small(page.screenshot())


def small(png: bytes) -> bytes:
    """The same picture in COLOURS colours."""
    kept = BytesIO()
    Image.open(BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(kept, "PNG", optimize=True)
    return kept.getvalue()


if __name__ == "__main__":
    main()
