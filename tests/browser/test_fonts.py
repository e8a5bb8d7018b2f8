"""Letters that the packaged fonts lack are drawn by the machine's own, on pages and in saved pictures: no two look alike."""

from __future__ import annotations

import shutil
import subprocess

import plotly.graph_objects as go
import pytest

from audit.charts.figure_files import pictures
from tests.browser.conftest import Dashboard

pytestmark = pytest.mark.browser

LETTERS = {"zh": "沙棘果", "bo": "ཀཁག", "th": "กขค", "es": "ñüé"}
DRAWN = """letters => {
  const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true})
  return [...letters].map(letter => {
    context.reset()
    context.font = "40px " + getComputedStyle(document.querySelector("h1")).fontFamily
    context.fillText(letter, 5, 60)
    return context.getImageData(0, 0, 100, 100).data.join()
  })
}"""


def can_write(language: str) -> None:
    """Skip where no font of this machine has the letters: no program could draw them."""
    lists = shutil.which("fc-list")
    if not (lists and subprocess.run([lists, f":lang={language}"], capture_output=True).stdout.strip()):
        pytest.skip(f"no font of this machine has the letters of {language}: apt-get install fonts-droid-fallback")


@pytest.mark.parametrize("language", LETTERS)
def test_a_page_draws_the_letters_of_other_languages(demo: Dashboard, language: str) -> None:
    can_write(language)
    drawn = demo.open("/about").evaluate(DRAWN, LETTERS[language])
    assert len({*drawn}) == len(LETTERS[language])


@pytest.mark.parametrize("language", ["zh", "es"])
def test_a_saved_picture_draws_the_letters_of_other_languages(language: str) -> None:
    can_write(language)
    first, second = (
        pictures({"bars": go.Figure(go.Bar(x=[letter * 8], y=[1])).update_layout(height=200)})[0]["bars"]
        for letter in LETTERS[language][:2]
    )
    assert LETTERS[language][0] * 8 in first[0].decode()
    assert first[1] != second[1]
