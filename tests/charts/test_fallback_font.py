"""Names beside a figure have room in a font that is wider than the page's."""

import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from audit.charts.captions import BESIDE_PX, width_of, with_room_for_names

NAME = "National Heart, Lung, and Blood Institute"


def test_widths_are_those_of_helvetica():
    # Adobe's metrics: H 722, e 556, l 222, o 556
    assert width_of("Hello", 10) == pytest.approx(10 * (0.722 + 0.556 + 0.222 + 0.222 + 0.556))
    assert width_of("<b>Hello</b><br>l", 10) == width_of("Hello", 10)
    assert width_of("l&amp;l", 10) == pytest.approx(10 * (0.222 + 0.667 + 0.222))
    assert width_of("心臓", 10) == 20


def bars(names, **axis):
    figure = go.Figure(go.Bar(x=[1] * len(names), y=names, orientation="h"))
    return figure.update_layout(margin={"l": 8}, font={"size": 14}).update_yaxes(axis)


def test_the_left_margin_holds_the_widest_name():
    figure = with_room_for_names(bars([0, 1], tickvals=[0, 1], ticktext=["kidney", NAME], ticklabelstandoff=6))
    assert figure.layout.margin.l == round(width_of(NAME, 14) + 6 + BESIDE_PX)
    figure = with_room_for_names(bars([1, 2], tickvals=[1, 2], ticktext=["kidney", NAME], tickfont={"size": 12}))
    assert figure.layout.margin.l == round(width_of(NAME, 12) + BESIDE_PX)


@pytest.mark.parametrize(
    "axis", [{"showticklabels": False}, {"visible": False}, {"side": "right"}, {"ticklabelposition": "inside top"}]
)
def test_names_that_are_not_at_the_left_edge_need_no_margin(axis):
    assert with_room_for_names(bars([0], tickvals=[0], ticktext=[NAME], **axis)).layout.margin.l == 8


def test_numbers_a_wide_margin_and_names_of_a_panel_further_right_leave_the_margin_as_it_is():
    assert with_room_for_names(bars([1, 2])).layout.margin.l == 8
    assert with_room_for_names(bars([0], tickvals=[0], ticktext=[NAME]).update_layout(margin_l=400)).layout.margin.l == 400
    panels = make_subplots(1, 2).add_bar(x=[1], y=[0], orientation="h", row=1, col=1)
    panels.add_bar(x=[1], y=[0], orientation="h", row=1, col=2)
    panels.update_layout(yaxis={"tickvals": [0], "ticktext": ["a"]}, yaxis2={"tickvals": [0], "ticktext": [NAME]})
    assert with_room_for_names(panels).layout.margin.l == round(width_of("a", 12) + BESIDE_PX)
