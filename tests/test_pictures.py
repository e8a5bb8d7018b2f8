"""The README's pictures: all there, none that nobody looks at, and light enough to be cloned with."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_BYTES = 3_000_000


def test_every_picture_of_the_readmes_is_there_and_every_one_there_is_shown():
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "pages/README.md")]
    shown = {picture for text in texts for picture in re.findall(r"data/screenshots/([\w-]+\.png)", text)}
    assert shown == {path.name for path in (ROOT / "data" / "screenshots").glob("*.png")}


def test_the_pictures_are_light():
    assert sum(path.stat().st_size for path in (ROOT / "data" / "screenshots").glob("*.png")) < MAX_BYTES
