"""The bars of the three states: they add up, have numbers where there is room, and change colour in dark mode."""

from __future__ import annotations

import pandas as pd

from audit.charts.dark_mode import DARK_BACKGROUND, LIGHT_BACKGROUND, to_dark_mode
from audit.charts.found_states import STATES, state_bars

TABLE = pd.DataFrame(
    {"name": ["q"], "called": ["Oak <b>"], "asked": [100], "stated": [60], "perhaps": [38], "not_found": [2],
     "silent": [0.1], "silent_low": [0.0], "silent_high": [0.2]}
)  # fmt: skip


def test_the_three_states_add_up_to_all_that_were_asked():
    figure = state_bars(TABLE)
    assert [bar.name for bar in figure.data] == list(STATES.values())
    assert sum(bar.x[0] for bar in figure.data) == 1


def test_a_number_stands_only_where_its_bar_has_room():
    assert [bar.text[0] for bar in state_bars(TABLE).data] == ["60", "38", ""]


def test_hover_says_what_is_silent_in_truth_and_a_name_is_no_markup():
    hover = state_bars(TABLE).data[2].hovertext[0]
    assert "silent in truth, estimated: 10.0 % (95 % interval 0.0 to 20.0 %)" in hover
    assert "Oak <b>" not in hover


def test_what_is_stated_stands_out_most_from_the_page_in_light_and_in_dark_mode():
    light = state_bars(TABLE)
    for figure, page in ((light, LIGHT_BACKGROUND), (to_dark_mode(light), DARK_BACKGROUND)):
        apart = [abs(brightness(bar.marker.color) - brightness(page)) for bar in figure.data]
        assert apart == sorted(apart, reverse=True)


def brightness(colour):
    return sum(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def test_the_three_colours_differ_in_light_and_in_dark_mode():
    light = state_bars(TABLE)
    colours = [[bar.marker.color for bar in figure.data] for figure in (light, to_dark_mode(light))]
    assert all(len(set(three)) == 3 for three in colours)
    assert not set(colours[0]) & set(colours[1])
