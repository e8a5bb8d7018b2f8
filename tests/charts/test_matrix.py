"""The label matrix: every label its own colour, every answering couple a place to click, position groups framed."""

import numpy as np
import pandas as pd

from audit.charts.labels import MAX_BOTH_TRIANGLES, VALUES, matrix_figure

IDS = ["a", "b", "c", "d"]
CELLS = pd.DataFrame(
    [
        ["self", "CONSISTENT", "DIVERGENT", "ABSENT"],
        ["CONSISTENT", "self", "unscored", "ABSENT"],
        ["DIVERGENT", "unscored", "self", "ABSENT"],
        ["ABSENT", "ABSENT", "ABSENT", "self"],
    ],
    index=IDS, columns=IDS,
)  # fmt: skip
CAMPS = pd.Series([1, 1, 2, None], index=IDS, dtype="Int64")
NAMES = {"a": "Alder", "b": "Birch", "c": "<b>Cedar</b>", "d": "Dogwood"}


def buttons(figure):
    return figure.data[-1]


def test_every_couple_of_answering_handbooks_can_be_clicked_and_nothing_else():
    cells = [divmod(int(number), 4) for number in buttons(matrix_figure(CELLS, NAMES, CAMPS)).customdata]
    assert sorted(cells) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


def test_a_place_to_click_lies_on_its_own_cell():
    over = buttons(matrix_figure(CELLS, NAMES, CAMPS))
    for x, y, number, word in zip(over.x, over.y, over.customdata, over.text, strict=True):
        assert divmod(int(number), 4) == (y, x)
        assert word == CELLS.iloc[y, x].lower()


def test_the_six_values_of_a_cell_have_six_colours():
    figure = matrix_figure(CELLS, NAMES, CAMPS)
    heat = figure.data[0]
    assert [VALUES[int(code)] for code in heat.z[0]] == list(CELLS.iloc[0])
    colours = [colour for _, colour in heat.colorscale]
    assert len(set(colours)) == len(VALUES)


def test_the_legend_names_only_what_is_drawn():
    figure = matrix_figure(CELLS, NAMES, CAMPS)
    assert [trace.name for trace in figure.data[1:-1]] == ["absent", "consistent", "divergent ≠", "unscored ?"]


def test_the_legend_has_room_below_the_caption_that_a_page_cuts_off():
    layout = matrix_figure(CELLS, NAMES, CAMPS).layout
    assert (layout.legend.yref, layout.legend.yanchor, layout.legend.y) == ("container", "top", 1)
    # Four labels, two in a line of 22 pixels on a phone
    assert layout.margin.t >= 2 * 22


def test_each_position_group_and_the_open_pair_have_a_frame():
    shapes = [(s.x0, s.x1, s.y0, s.y1) for s in matrix_figure(CELLS, NAMES, CAMPS, ("a", "c")).layout.shapes]
    assert shapes == [(-0.5, 1.5, -0.5, 1.5), (1.5, 2.5, 1.5, 2.5), (-0.5, 0.5, 1.5, 2.5), (1.5, 2.5, -0.5, 0.5)]


def test_a_pair_with_a_handbook_that_is_not_drawn_is_not_outlined():
    assert len(matrix_figure(CELLS, NAMES, CAMPS, ("a", "z")).layout.shapes) == 2


def test_names_are_not_taken_for_tags():
    assert matrix_figure(CELLS, NAMES, CAMPS).layout.yaxis.ticktext[2] == "&lt;b&gt;Cedar&lt;/b&gt;"


def test_a_hundred_handbooks_stay_under_a_megabyte():
    ids = [f"kidney_center{i}_combined" for i in range(102)]
    values = np.full((102, 102), "COMPLEMENTARY", dtype=object)
    np.fill_diagonal(values, "self")
    figure = matrix_figure(pd.DataFrame(values, ids, ids), dict(zip(ids, ids, strict=True)), pd.Series(1, ids, dtype="Int64"))
    assert len(ids) > MAX_BOTH_TRIANGLES
    assert len(buttons(figure).customdata) == 102 * 101 // 2
    assert len(figure.to_json()) < 500_000
