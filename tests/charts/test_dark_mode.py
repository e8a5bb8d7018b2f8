"""Five labels that everybody can tell apart, on paper and in the dark; and no colour of a chart left behind on the way there."""

from __future__ import annotations

import json
import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.colors import sample_colorscale

from audit.charts.captions import with_notice
from audit.charts.coverage import SHADES
from audit.charts.dark_mode import DARK_BACKGROUND, DARK_COLOURS, DARK_LABEL_COLOURS, LIGHT_BACKGROUND, to_dark_mode
from audit.charts.labels import matrix_figure, two_step_bar
from audit.charts.style import BLACK, DARK_INK, FAINT, INK, LABEL_COLOURS, NOT_ASKED, QUALITATIVE, SIGNIFICANCE_COLOURS, ink_on
from audit.charts.themes import theme_treemap
from tests.charts.colour_vision import SIGHT, contrast, difference, lab

ROOT = Path(__file__).resolve().parents[2]
FLOOR, FLOOR_TO_GROUND = 15.0, 8.5
"""CIEDE2000; 10 is plain at a glance. Absence may come nearer to the ground than any label to another."""
GROUNDS = {"light": (LABEL_COLOURS, LIGHT_BACKGROUND), "dark": (DARK_LABEL_COLOURS, DARK_BACKGROUND)}
HEX = re.compile(r"#[0-9a-f]{6}\b")


@pytest.mark.parametrize(
    ("one", "other", "published"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (61, -5, 29), 22.8977), ((50, 2.5, 0), (56, -27, -3), 31.9030), ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)  # fmt: skip
def test_differences_are_those_of_sharma_wu_and_dalal(one, other, published):
    assert round(difference(np.array(one, dtype=float), np.array(other, dtype=float)), 4) == published


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("ground", GROUNDS)
def test_labels_are_told_apart_whatever_the_sight_and_the_ground(ground, sight):
    colours = {label: lab(colour, sight) for label, colour in GROUNDS[ground][0].items() if label != NOT_ASKED}
    apart = {(a, b): difference(colours[a], colours[b]) for a, b in combinations(colours, 2)}
    assert min(apart.values()) >= FLOOR, min(apart, key=apart.__getitem__)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("ground", GROUNDS)
def test_no_label_sinks_into_its_ground(ground, sight):
    colours, behind = GROUNDS[ground]
    near = {label: difference(lab(colour, sight), lab(behind, sight)) for label, colour in colours.items() if label != NOT_ASKED}
    assert min(near.values()) >= FLOOR_TO_GROUND
    assert min(near, key=near.__getitem__) == "ABSENT"


@pytest.mark.parametrize("scale", [SHADES, list(SIGNIFICANCE_COLOURS.values())], ids=["absence", "significance"])
def test_what_stands_out_more_in_the_light_stands_out_more_in_the_dark(scale):
    for colours, ground in ((scale, LIGHT_BACKGROUND), ([DARK_COLOURS[colour] for colour in scale], DARK_BACKGROUND)):
        apart = [contrast(colour, ground) for colour in colours]
        assert all(more >= less - 0.01 for less, more in pairwise(apart)), ground


def test_the_cell_of_a_question_that_need_not_be_answered_has_the_faintest_letters_in_the_dark():
    fills, letters = ["#f3f4f6", SHADES[10]], [FAINT, INK]
    bars = go.Bar(x=[1, 1], marker={"color": fills}, insidetextfont={"color": letters})
    aside, own = to_dark_mode(go.Figure(bars)).data[0].insidetextfont.color
    assert contrast(aside, DARK_BACKGROUND) < contrast(own, DARK_BACKGROUND)


@pytest.mark.parametrize(
    "colour", sorted({*LABEL_COLOURS.values(), *DARK_LABEL_COLOURS.values(), *SIGNIFICANCE_COLOURS.values()})
)
def test_letters_on_a_label_can_be_read(colour):
    assert contrast(colour, ink_on(colour)) >= 4.5


def test_every_colour_that_a_chart_writes_has_its_like_in_the_dark():
    written = {
        colour for path in (ROOT / "audit/charts").glob("*.py") if path.name != "dark_mode.py"
        for colour in HEX.findall(path.read_text(encoding="utf-8"))
    }  # fmt: skip
    assert written - set(DARK_COLOURS) - {DARK_INK, BLACK} == set()
    assert set(SHADES) <= set(DARK_COLOURS)
    assert all(contrast(DARK_COLOURS[hue], DARK_BACKGROUND) >= 3 for hue in QUALITATIVE)


def test_a_figure_keeps_its_words_and_numbers_and_changes_its_colours():
    light = two_step_bar(60, {"ABSENT": 5, "COMPLEMENTARY": 20, "DIVERGENT": 5}, 10)
    dark = to_dark_mode(light)
    told = [(bar.name, bar.x[0], bar.text, bar.hovertemplate) for bar in light.data]
    assert [(bar.name, bar.x[0], bar.text, bar.hovertemplate) for bar in dark.data] == told
    assert all(bar.textfont.color == ink_on(bar.marker.color) for bar in dark.data)
    assert [bar.marker.color for bar in dark.data if bar.name == "divergent"] == [DARK_LABEL_COLOURS["DIVERGENT"]]
    assert dark.layout.font.color == DARK_COLOURS[INK]
    assert light.layout.font.color == INK


@pytest.mark.parametrize("ground", GROUNDS)
def test_the_names_of_themes_can_be_read_on_every_colour_of_the_treemap(ground):
    themes = pd.DataFrame({"theme_id": [f"t{n}" for n in range(101)], "severity": [3 * n / 100 for n in range(101)]}).assign(
        top="p", name="Salt", pairs=1, disagreeing=1, share=0.1, share_low=0.0, share_high=0.2
    )
    parents = themes[:1].assign(theme_id="p", pairs=101)
    figure = theme_treemap(themes, parents)
    (tree,) = (figure if ground == "light" else to_dark_mode(figure)).data
    scale = [list(stop) for stop in tree.marker.colorscale]
    shades = sample_colorscale(scale, [value / 3 for value in tree.marker.colors], colortype="tuple")
    grounds = ["#" + "".join(f"{round(255 * part):02x}" for part in shade) for shade in shades]
    assert min(contrast(ground, letter) for ground, letter in zip(grounds, tree.textfont.color, strict=True)) >= 4.5
    assert set(tree.textfont.color) == {BLACK, "#ffffff"}


def test_a_word_that_is_the_name_of_a_colour_stays_a_word():
    cells = pd.DataFrame([["self", "DIVERGENT"], ["DIVERGENT", "self"]], index=["white", "b"], columns=["white", "b"])
    figure = to_dark_mode(matrix_figure(cells, {"white": "white", "b": "#e69f00"}, pd.Series({"white": 1, "b": 2})))
    assert list(figure.layout.xaxis.ticktext) == ["white", "#e69f00"]
    assert DARK_LABEL_COLOURS["DIVERGENT"] in {colour for _, colour in figure.data[0].colorscale}


def test_a_faded_colour_fades_on_its_own_ground():
    figure = two_step_bar(1, {}, 0)
    figure.add_shape(type="line", line={"color": "rgba(230, 159, 0, 0.45)"})
    assert to_dark_mode(figure).layout.shapes[-1].line.color == "rgba(242, 177, 52, 0.45)"


def test_the_tour_s_picture_and_the_page_s_style_use_these_colours():
    style = (ROOT / "pages/_blinded/tour/tour.css").read_text(encoding="utf-8")
    for label in ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY"):
        assert f"svg .{label.lower()} {{ fill: light-dark({LABEL_COLOURS[label]}, {DARK_LABEL_COLOURS[label]}); }}" in style
    settings = (ROOT / ".streamlit/config.toml").read_text(encoding="utf-8")
    assert f'backgroundColor = "{LIGHT_BACKGROUND}"' in settings
    assert f'backgroundColor = "{DARK_BACKGROUND}"' in settings


def test_what_pages_make_of_a_figure_without_validating_it_again_is_valid():
    figure = with_notice(two_step_bar(3, dict.fromkeys(map(str, LABEL_COLOURS), 1), 0), "Synthetic: no handbook says this")
    for made in (figure, to_dark_mode(figure)):
        assert json.loads(go.Figure(made.to_dict()).to_json()) == json.loads(made.to_json())
