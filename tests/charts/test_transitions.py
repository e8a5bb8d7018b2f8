"""The matrix of two runs: every cell with pairs is drawn once, in label order, and knows its states."""

from __future__ import annotations

import pandas as pd

from audit.charts.transitions import STATE_WORDS, confusion_figure, transitions_figure

STATES = list(STATE_WORDS)
PAIRS = {("DIVERGENT", "COMPLEMENTARY"): 2, ("DIVERGENT", "DIVERGENT"): 6}
EVERY = pd.MultiIndex.from_product([STATES, STATES], names=["first", "second"])
CELLS = pd.Series(PAIRS).reindex(EVERY, fill_value=0).rename("pairs").reset_index().assign(share=lambda cells: cells["pairs"] / 8)


def test_a_cell_without_pairs_is_not_drawn_and_neither_is_its_row_or_column():
    figure = transitions_figure(CELLS, "This run", "The other")
    assert list(figure.layout.yaxis.ticktext) == ["divergent"]
    assert list(figure.layout.xaxis.ticktext) == ["complementary", "divergent"]
    assert len(figure.layout.shapes) == 2


def test_names_of_many_columns_take_turns_in_height():
    whole = transitions_figure(CELLS.assign(pairs=1), "This run", "The other")
    lines = [name.count("<br>") for name in whole.layout.xaxis.ticktext if not name.startswith(("pre-", "not"))]
    assert lines == [1, 0, 1, 0, 1, 0]


def test_short_names_are_level():
    words = {"A": "A", "B": "B", "T": "Tie", "X": "Both bad"}
    counts = pd.DataFrame(1, index=list(words), columns=list(words))
    assert list(confusion_figure(counts, words, "ana", "ben").layout.xaxis.ticktext) == [*words.values(), "total"]


def test_a_clicked_cell_tells_both_states():
    (cells,) = transitions_figure(CELLS, "This run", "The other").data
    assert list(cells.customdata) == ["DIVERGENT\tCOMPLEMENTARY", "DIVERGENT\tDIVERGENT"]
    assert [text.split("<")[0] for text in cells.text] == ["2", "6"]


def test_what_stayed_is_framed_and_what_moved_is_not():
    moved, stayed = transitions_figure(CELLS, "This run", "The other").layout.shapes
    assert (moved.line.width, stayed.line.width) == (0, 1.5)


def test_a_run_s_title_is_no_markup():
    figure = transitions_figure(CELLS, "<b>one</b>", "The other")
    assert "<b>one" not in figure.layout.yaxis.title.text


def test_two_runs_without_a_pair_draw_nothing():
    figure = transitions_figure(CELLS.assign(pairs=0), "This run", "The other")
    assert len(figure.layout.shapes) == 0
