"""The matrix of labels by keyboard: Tab reaches it, the arrow keys move from cell to cell, Enter opens a pair.

Plotly draws a chart whose cells no key reaches. This lies over it, takes no clicks, and says of the cell that the keys are on
whose it is and what its label is, in letters beside it and to a screen reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from audit.charts.labels import SELF, VALUES
from audit.charts.style import LABEL_WORDS

HERE = Path(__file__).parent
_keys = st.components.v2.component(
    "matrix_keys",
    html='<div class="matrix-keys"></div>',
    css=(HERE / "matrix_keys.css").read_text(encoding="utf-8"),
    js=(HERE / "matrix_keys.js").read_text(encoding="utf-8"),
)
KEY = "matrix_keys"


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
    data = {"names": list(names), "rows": _digits(cells), "words": list(words.values()), "opened": list(opened), **texts}
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
