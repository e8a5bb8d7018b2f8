"""The stylesheets of the pages: two sizes of text beside headings, and red for one label alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit.charts.captions import CAPTION_ROOM
from audit.charts.style import LABEL_COLOURS
from audit.vocabulary import Label
from pages._blinded.frame import STYLE

LABELLING = {"_blinded", "my_items"}
"""The labelling board and its list of items have sizes of their own."""
SHEETS = [sheet for sheet in sorted(Path("pages").rglob("*.css")) if not LABELLING & set(sheet.parts)]
BODY_AND_SMALL = {"1rem", "0.875rem"}
OF_HEADINGS = re.compile(r"(?:h[1-6]|strong) \{[^}]*font-size: [\d.]+rem")
RED = {LABEL_COLOURS[Label.CONTRADICTORY], "#ff8a75", "#d03c26"}


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_text_has_two_sizes_and_no_red(sheet):
    css = sheet.read_text(encoding="utf-8")
    sizes = set(re.findall(r"font-size: ([\d.]+\w+)", OF_HEADINGS.sub("", css)))
    assert sizes <= BODY_AND_SMALL
    assert not {colour for colour in RED if colour in css}


def test_a_page_cuts_off_exactly_the_caption_of_a_saved_figure():
    assert f"margin-top: -{CAPTION_ROOM}px; clip-path: inset({CAPTION_ROOM}px 0 0)" in STYLE
