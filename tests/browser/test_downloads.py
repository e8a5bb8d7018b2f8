"""One click and one command: a PI takes the whole package from the page, and it is the command's, byte for byte."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import BUILD_MS, ROOT, Dashboard, serve, settled, signed_in_as

pytestmark = pytest.mark.browser


@pytest.fixture
def data_dir(studied_data: Path, tmp_path: Path) -> Path:
    """The demo with its studies, and a PI."""
    return Path(shutil.copytree(studied_data, tmp_path / "data"))


@pytest.fixture
def dashboard(browser: Browser, data_dir: Path) -> Iterator[Dashboard]:
    yield from serve(data_dir, browser)


def fetched(page: Page, to: Path) -> bytes:
    with settled(page).expect_download(timeout=BUILD_MS) as waiting:
        page.get_by_role("button", name="Download everything").click()
    waiting.value.save_as(to)
    return to.read_bytes()


def test_a_pi_takes_the_package_in_one_click_and_it_is_the_command_s(dashboard: Dashboard, data_dir: Path, tmp_path: Path):
    page = signed_in_as(dashboard, "pia", dashboard.open("/sign_in"))
    page.get_by_role("link", name="Downloads").click()
    settled(page)
    command = page.get_by_text(re.compile(r"^audit export --study demo-finished")).inner_text()
    clicked = fetched(page, tmp_path / "clicked.zip")
    expect(page.get_by_text(re.compile(r"^Built: [\d.]+ MB"))).to_be_visible(timeout=BUILD_MS)
    words = [sys.executable, "-m", *command.split()[:-1], str(tmp_path / "typed.zip")]
    subprocess.run(words, cwd=ROOT, env={**os.environ, "AUDIT_DATA_DIR": str(data_dir)}, check=True, capture_output=True)
    assert (tmp_path / "typed.zip").read_bytes() == clicked
    assert dashboard.strangers == []
