"""What the pages behind Explore share: every row, bar and dot opens the pairs behind it on Disagreements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from audit.charts.style import Figure
from audit.store.runs import Run
from audit.tables import Column
from audit.vocabulary import Label
from pages._shared.widgets import clicked_point, clicked_row, counts, go_to, table

LABELS_OF_RATE: Mapping[str, Label] = {"r_abs": Label.ABSENT, "absence": Label.ABSENT, "r_con": Label.CONSISTENT}
"""A rate that is not about disagreement -> the label of the pairs that it counts."""
CLICK = "Click a row to read its disagreements."
MAX_SUBJECTS = 3


@dataclass(frozen=True)
class RowFilter:
    """What tells the rows of a page apart, and how Disagreements is asked for one of them.

    column  of the frame, with the id of each row
    param   the filter of Disagreements that takes it
    whole   the id of the row of the whole run, which needs no filter
    """

    column: str
    param: str
    whole: str = ""

    def open(self, run: Run, name: str, label: Label | None = None) -> None:
        """Open Disagreements on the pairs of one row; without a label, on those that disagree."""
        chosen = {} if name == self.whole else {self.param: name}
        go_to("disagreements", run, **chosen, **({"label": label.value} if label else {}))


def clickable_rates(run: Run, figure: Figure, key: str, alt: str, rows: RowFilter) -> None:
    """Draw a figure of `rate_dots(..., opens=rows.column)`; a click on a dot opens the pairs that it counts."""
    if (clicked := clicked_point(figure, key, alt)) is not None:
        name, rate = clicked
        rows.open(run, str(name), LABELS_OF_RATE.get(rate))


def clickable_table(
    run: Run, frame: pd.DataFrame, key: str, rows: RowFilter, columns: Sequence[Column], every: Sequence[Column]
) -> None:
    """A table of the few `columns` that fit, where a click opens the disagreements of a row; `every` column is one click away."""
    picked = clicked_row(frame, f"{key}_table", columns)
    counts(run, CLICK)
    with st.expander("All columns"):
        table(frame, f"{key}_all", every)
    if picked is not None:
        rows.open(run, str(picked[rows.column]))


def listed_subjects(subjects: Sequence[str]) -> str:
    """The first subjects, and how many more there are."""
    more = len(subjects) - MAX_SUBJECTS
    return "; ".join(subjects[:MAX_SUBJECTS]) + (f"; {more} more" if more > 0 else "")
