"""The matrix of labels on one question, whose cells open a pair, by mouse, touch or keyboard."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.labels import matrix_figure
from audit.store.runs import Run
from audit.terms import fill
from pages._shared.matrix_keys import matrix_keys
from pages._shared.pair_list import click_opens
from pages._shared.pickers import choose, named_by
from pages._shared.widgets import clicked_point

SHOWN_HANDBOOKS = {"answering": "Only those that answer", "everyone": "All"}
KEYS_HELP = "The arrow keys move from cell to cell, Enter opens the pair."
FIT_A_PHONE = 12
"""Rows whose names do not overlap on a phone; a larger matrix is scrolled sideways there."""


def label_matrix(
    run: Run, question: str, cells: pd.DataFrame, table: pd.DataFrame, names: dict[str, str], opened: tuple[str, str]
) -> None:
    """Draw the matrix; a click on a cell, or Enter, opens its pair.

    question  its id or its text: another question starts without a selected cell
    """
    shown = choose("Show", tuple(SHOWN_HANDBOOKS), "show", named_by(SHOWN_HANDBOOKS), show_label=False)
    ids = list(table["handbook_id"] if shown == "everyone" else table.loc[table["state"] == "answers", "handbook_id"])
    figure = matrix_figure(cells.loc[ids, ids], names, table.set_index("handbook_id")["group"], opened)
    alt = fill(run, f"The label of every pair of {len(ids)} {{handbooks}}; those that agree are next to each other.")
    # Streamlit repeats a selection on every rerun, so each opened pair gets a chart key of its own, with nothing selected yet.
    with st.container(key="wide_matrix" if len(ids) > FIT_A_PHONE else "matrix"):
        _reached_by_keys(run, cells.loc[ids, ids], names, opened)
        cell = clicked_point(figure, "_".join(("matrix", question, *opened)), alt)
    if cell:
        row, column = divmod(int(cell), len(ids))
        click_opens((ids[row], ids[column]), opened)


def _reached_by_keys(run: Run, cells: pd.DataFrame, names: dict[str, str], opened: tuple[str, str]) -> None:
    ids = list(cells.index)

    def open_pair(row: int, column: int) -> None:
        # Before the page is drawn again, so without a rerun of its own
        st.query_params.update(a=ids[row], b=ids[column])

    texts = {"name": fill(run, "Labels of every two {handbooks}"), "help": KEYS_HELP, "same": fill(run, "the same {handbook}")}
    row, column = (ids.index(handbook_id) if handbook_id in ids else -1 for handbook_id in opened)
    matrix_keys(cells, [names.get(handbook_id, handbook_id) for handbook_id in ids], (row, column), texts, open_pair)
