"""Takes the README's screenshots again: every page of the menu, in Chromium on the demo, into data/screenshots/.

.venv/bin/python .ci/screenshots.py [--dark] [--width 1280] [--only NAME ...] [--out DIR]

A page that is added to the menu is included without a change here. What it needs beyond its address goes into ADDRESSES.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from pages._shared.doors import BROWSING  # noqa: E402 - the menu is the list of pages
from tests.browser.conftest import FLAGS, Dashboard, server, settled, signed_in_as  # noqa: E402

COLOURS = 128
"""Colours of a screenshot: a page has few, and so the file is a third of the size."""
ADDRESSES = {
    "sources": "sources?view=one",
    "answer": "answer?question=kidney-0014&handbook=kidney_hornbeam_post&other=heart_catalpa_post",
    "ask": "ask?ask=Can+I+drink+alcohol%3F",
    "rejudge": "rejudge?topic=alcohol+and+substances&label=CONTRADICTORY&label=DIVERGENT&label=COMPLEMENTARY&label=CONSISTENT",
}
"""Pages whose screenshot needs another address than their own."""
STUDIES = {"ana": ("annotate",), "petra": ("downloads", "rejudge", "study", "agreement", "prevalence")}
"""Pages shown as one of the demo's people sees them; all others are shown without signing in."""
CHART_MS = 1_500
"""Plotly and the map draw after the page's script has finished, and animate; no attribute says when they are done."""


def main() -> None:
    """Load the demo with its studies into a temporary folder, serve it, and take a screenshot of every page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--only", nargs="*", metavar="NAME")
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "screenshots")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    scheme = "dark" if arguments.dark else "light"
    with (
        tempfile.TemporaryDirectory() as folder,
        served_demo(Path(folder)) as (address, passwords),
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS, headless=True)
        dashboard = Dashboard(address, chromium)
        for person, pages in pages_by_person().items():
            names = [name for name in pages if not arguments.only or name in arguments.only]
            if not names:
                continue
            page = dashboard.open("/sign_in" if person else "/", width=arguments.width, color_scheme=scheme)
            if person:
                signed_in_as(dashboard, person, page, passwords[person])
            for name in names:
                (arguments.out / f"{name}.png").write_bytes(screenshot(dashboard, page, name))
                print(name, flush=True)
        chromium.close()


def pages_by_person() -> dict[str, list[str]]:
    """The pages that each person sees in the screenshots; the empty name stands for a visitor who is not signed in."""
    study_pages = {name for names in STUDIES.values() for name in names}
    visitor = ["tour", *(name for name in BROWSING if name not in study_pages)]
    return {"": visitor, **{person: list(names) for person, names in STUDIES.items()}}


@contextmanager
def served_demo(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The demo with its earlier run and its studies: its address, and its people's passwords."""
    environment, command = {**os.environ, "AUDIT_DATA_DIR": str(folder)}, [sys.executable, "-m", "audit", "demo", "--no-serve"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    studies = [*command, "--studies"]
    output = subprocess.run(studies, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
    with server(folder) as address:
        yield address, dict(re.findall(r"(\w+) +password (\S+)", output))


def screenshot(dashboard: Dashboard, page: Page, name: str) -> bytes:
    """A page when its script has finished and its charts are drawn, as a small PNG. Only `tour` shows the tour."""
    dashboard.visit(page, f"/{'' if name in ('tour', 'start') else ADDRESSES.get(name, name)}")
    page.wait_for_timeout(CHART_MS)
    dismiss = page.get_by_role("button", name="Do not show again")
    if name != "tour" and dismiss.is_visible():
        dismiss.click()  # below the findings, so that the page scrolls to it
        page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    settled(page).wait_for_timeout(CHART_MS)
    return compressed(page.screenshot())


def compressed(png: bytes) -> bytes:
    """The same picture in COLOURS colours."""
    output = BytesIO()
    Image.open(BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(output, "PNG", optimize=True)
    return output.getvalue()


if __name__ == "__main__":
    main()
