"""The matrix of labels on one question, whose cells open a pair, by mouse, touch or keyboard.

Plotly draws a chart whose cells no key reaches. What is reached with Tab, the arrow keys and Enter lies over it, takes no clicks,
and says of the cell that the keys are on whose it is and what its label is, in letters beside it and to a screen reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from audit.charts.labels import SELF, VALUES, matrix_figure
from audit.charts.style import LABEL_WORDS
from audit.formatting import isolated
from audit.store.runs import Run
from audit.tables import Row
from audit.terms import fill
from audit.vocabulary import DISAGREEING
from pages._blinded.templates import component
from pages._shared.pair_list import click_opens
from pages._shared.pickers import choose, named_by
from pages._shared.widgets import clicked_point, linked_rows, title_of

_keys = component("_shared/matrix_keys")
KEY = "matrix_keys"
SHOWN_HANDBOOKS = {"answering": "Only those that answer", "everyone": "All"}
NAMED = 4  # handbooks in a row of those that another disagrees with
KEYS_HELP = "The arrow keys move from cell to cell, Enter opens the pair."


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
    with st.container(key="matrix"):
        _reached_by_keys(run, cells.loc[ids, ids], names, opened)
        cell = clicked_point(figure, "_".join(("matrix", question, *opened)), alt)
    if cell:
        row, column = divmod(int(cell), len(ids))
        click_opens((ids[row], ids[column]), opened)


def disagreeing_list(run: Run, question: str, cells: pd.DataFrame, names: dict[str, str]) -> None:
    """The same in a narrow window: each handbook with those that it disagrees with, contradictions first; a row opens a pair."""
    pairs = cells.rename_axis("a").reset_index().melt("a", var_name="b", value_name="label")
    pairs = pairs[pairs["label"].isin(DISAGREEING)].sort_values("label", kind="stable")
    named = pairs.assign(name=pairs["a"].map(names), other=pairs["b"].map(names)).groupby(["a", "name"], sort=False)
    rows = named.agg(b=("b", "first"), others=("b", "size"), such=("other", lambda own: "; ".join(own.head(NAMED)))).reset_index()
    columns = {"name": title_of(run, "handbook"), "others": "Disagrees with", "such": "Such as"}
    rows = rows.sort_values("others", ascending=False, kind="stable")

    def pair(row: Row) -> dict[str, str | list[str]]:
        return {"question": question, "a": str(row["a"]), "b": str(row["b"])}

    linked_rows(run, rows, "disagreeing", columns, "question", pair, rows=6)


def _reached_by_keys(run: Run, cells: pd.DataFrame, names: dict[str, str], opened: tuple[str, str]) -> None:
    ids = list(cells.index)

    def open_pair(row: int, column: int) -> None:
        # Before the page is drawn again, so without a rerun of its own
        st.query_params.update(a=ids[row], b=ids[column])

    texts = {"name": fill(run, "Labels of every two {handbooks}"), "help": KEYS_HELP, "same": fill(run, "the same {handbook}")}
    row, column = (ids.index(handbook_id) if handbook_id in ids else -1 for handbook_id in opened)
    matrix_keys(cells, [names.get(handbook_id, handbook_id) for handbook_id in ids], (row, column), texts, open_pair)


def matrix_keys(
    cells: pd.DataFrame, names: Sequence[str], opened: tuple[int, int], texts: dict[str, str], on_open: Callable[[int, int], None]
) -> None:
    """Make the cells of the matrix that is drawn next in the same container reachable by keyboard.

    cells    the labels as drawn (`matrix_figure`); names  of their handbooks, in the same order
    opened   row and column of the open pair, -1 for a handbook that is not drawn
    texts    "name" of the matrix and "help" on its keys, for screen readers, and "same", for a cell on the diagonal
    on_open  gets row and column of a cell on which Enter was pressed, before the page is drawn again
    """
    words = {number: texts["same"] if value == SELF else LABEL_WORDS[value] for number, value in enumerate(VALUES)}
    data = {
        "names": list(map(isolated, names)), "rows": _digits(cells), "words": list(words.values()), "opened": list(opened),
        **texts,
    }  # fmt: skip
    _keys(key=KEY, data=data, on_picked_change=partial(_picked, on_open, len(names)))


def _digits(cells: pd.DataFrame) -> list[str]:
    """Each row as a text with one digit for each cell, its place in VALUES: a hundred handbooks have ten thousand cells."""
    digits = {value: str(number) for number, value in enumerate(VALUES)}
    return ["".join(map(digits.__getitem__, row)) for row in cells.to_numpy(dtype=object)]


def _picked(on_open: Callable[[int, int], None], count: int) -> None:
    cell = getattr(st.session_state.get(KEY), "picked", None)
    # What a browser sends is not believed: another tab may still show a larger matrix
    if isinstance(cell, int | float) and 0 <= cell < count**2 and len({*divmod(int(cell), count)}) > 1:
        on_open(*divmod(int(cell), count))
