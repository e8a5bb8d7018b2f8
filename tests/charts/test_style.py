"""Colours that can be told apart, words without underscores, nothing taken for HTML."""

from __future__ import annotations

import colorsys
import math
import re
from pathlib import Path

import pytest

from audit.charts.dark_mode import DARK_LABEL_COLOURS
from audit.charts.names import clipped_names
from audit.charts.style import LABEL_COLOURS, html, interval, organ_colours, percent
from audit.terms import display_name
from audit.vocabulary import LABELS, Label

ROOT = Path(__file__).resolve().parents[2]


def _lightness(colour: str) -> float:
    linear = [
        (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
        for c in (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_agreement_and_disagreement_are_told_apart_by_lightness_alone():
    light = {label.value: _lightness(LABEL_COLOURS[label]) for label in LABELS}
    assert light["ABSENT"] > light["COMPLEMENTARY"] > light["DIVERGENT"] > light["CONSISTENT"] > light["CONTRADICTORY"]


def test_every_value_of_a_pair_has_a_colour_of_its_own():
    assert len(set(LABEL_COLOURS.values())) == len(LABEL_COLOURS) == 7


def test_an_organ_keeps_its_colour_whatever_the_order_and_general_is_grey():
    assert organ_colours(["lung", "heart", "general"]) == organ_colours(["heart", "lung"])


@pytest.mark.parametrize(("share", "text"), [(0.1234, "12.3 %"), (0.0, "0.0 %"), (math.nan, "–"), (None, "–")])
def test_no_share_is_a_dash_and_zero_is_zero(share, text):
    assert percent(share) == text


def test_an_unknown_interval_is_empty():
    assert interval(math.nan, math.nan) == ""
    assert interval(0.1, 0.25) == "10.0 to 25.0 %"


def test_names_lose_underscores_and_tags_stay_text():
    assert display_name("heart_lung_blood_sleep") == "heart lung blood sleep"
    assert html("<b>a</b> & b") == "&lt;b&gt;a&lt;/b&gt; &amp; b"
    assert clipped_names(["a" * 50], 10) == ["a" * 9 + "…"]


HEX_COLOUR = re.compile(r'"(#[0-9a-f]{6})"')
REDS = {LABEL_COLOURS[Label.CONTRADICTORY], DARK_LABEL_COLOURS[Label.CONTRADICTORY]}


def is_red(colour: str) -> bool:
    hue, _, saturation = colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    return saturation > 0.3 and min(hue, 1 - hue) * 360 < 20


def test_red_is_for_contradictory_alone() -> None:
    files = [*(ROOT / "audit" / "charts").glob("*.py"), *(ROOT / "pages").rglob("*.py")]
    assert {colour for file in files for colour in HEX_COLOUR.findall(file.read_text()) if is_red(colour)} == REDS
