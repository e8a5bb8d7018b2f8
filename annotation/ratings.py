"""A table of labelled items, read and checked: who said what of which item, and how the items were sampled.

Everything after this module works on codes: a label is its place in the declared order, MISSING where nothing was said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.design import FIRST_ROW, Design, Floats, design_from
from audit.errors import AuditError, describe_error
from audit.vocabulary import (
    EMPTY_WORDS,
    LABEL_SPELLINGS,
    LABELS,
    SIGNIFICANCE_SPELLINGS,
    SIGNIFICANCES,
    nearest,
    plain,
)

Codes = npt.NDArray[np.intp]
Texts = npt.NDArray[np.object_]
MISSING = -1
JUDGE, GOLD = "judge", "gold"
REQUIRED = ("item_id", "annotator_a", "annotator_b", JUDGE)
ANNOTATOR = re.compile(r"annotator_[a-z0-9]+")


@dataclass(frozen=True)
class Ratings:
    """Labelled items, one place per item.

    items         the item ids
    labels        seat -> label codes; the seats are the annotators in the order of the columns, `judge`, and `gold` if given
    significance  seat -> significance codes, for the seats that gave any
    design        how the items were sampled; None where the table does not say (no design_weight)
    seconds       annotator -> seconds taken, NaN where not known, for those whose times the table tells
    order         annotator -> place of the item in that annotator's order of work, NaN where not known, likewise
    """

    items: Texts
    labels: Mapping[str, Codes]
    significance: Mapping[str, Codes]
    design: Design | None
    seconds: Mapping[str, Floats]
    order: Mapping[str, Floats]

    @property
    def annotators(self) -> tuple[str, ...]:
        """The human seats, in the order of the columns."""
        return tuple(seat for seat in self.labels if seat not in (JUDGE, GOLD))


def read_ratings(path: Path, pairs: Mapping[str, float] | None = None) -> Ratings:
    """The labels in a CSV file; see `ratings_from` for its columns and for `pairs`.

    Raises AuditError as `read_table` and as `ratings_from`.
    """
    return ratings_from(read_table(path), str(path), pairs)


def read_table(path: Path) -> pd.DataFrame:
    """A labels file as it stands, every cell a text.

    Raises AuditError when there is no such file, or when it is no CSV table.
    """
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig", skipinitialspace=True)
    except (OSError, EOFError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise AuditError(
            f"{path}: cannot be read as a CSV table ({describe_error(error)}). Nothing was computed. "
            f"Give a comma-separated file in UTF-8 whose first line names the columns {', '.join(REQUIRED)}."
        ) from None


def labels_in(frame: pd.DataFrame, column: str, where: str) -> Codes:
    """The label codes of any one column, MISSING for an empty cell.

    Raises AuditError when there is no such column, or when it holds an unknown word.
    """
    if column not in frame:
        raise AuditError(
            f"{where}: there is no column '{column}'; found {', '.join(map(str, frame.columns))}. Nothing was computed. "
            "Name a column that holds labels."
        )
    return _codes(frame, column, frame["item_id"].to_numpy(dtype=object), LABEL_SPELLINGS, "label", where)


def ratings_from(frame: pd.DataFrame, where: str = "The table", pairs: Mapping[str, float] | None = None) -> Ratings:
    """The labels in a frame, checked.

    item_id                       unique
    annotator_a, annotator_b, ... one column per human seat, two at least; a label in any spelling of the vocabulary, or empty
    judge                         the judge's label; empty where it gave no readable verdict
    gold                          optional: the adjudicated label
    significance_a, ..., judge_significance, significance_gold   optional: low, medium, high or empty
    design_weight, stratum        optional: pairs in the item's stratum over items sampled from it; the stratum's name (the
                                  judge's label where there is no such column)
    seconds_a, ..., order_a, ...  optional: how long an item took, and when its turn was (1, 2, ...)

    Other columns are left alone. `where` names the table in errors. `pairs` says how many pairs of the run each stratum
    holds, where that is known otherwise than from the weights; strata without an item may be among them.
    Raises AuditError for a missing column, a table without rows, an item twice, an unknown word, a weight that is none.
    """
    _check_columns(frame, where)
    items = frame["item_id"].astype(str).str.strip().to_numpy(dtype=object)
    _check_items(items, where)
    seats = [*filter(ANNOTATOR.fullmatch, map(str, frame.columns)), JUDGE, *([GOLD] if GOLD in frame else [])]
    labels = {seat: _codes(frame, seat, items, LABEL_SPELLINGS, "label", where) for seat in seats}
    graded = {seat: column for seat in seats if (column := _significance_column(frame, seat))}
    significance = {
        seat: _codes(frame, column, items, SIGNIFICANCE_SPELLINGS, "significance", where) for seat, column in graded.items()
    }
    design = design_from(frame, labels[JUDGE], where, pairs)
    people = [seat for seat in seats if ANNOTATOR.fullmatch(seat)]
    seconds, order = (
        {seat: _numbers(frame, f"{what}_{_letter(seat)}", where) for seat in people} for what in ("seconds", "order")
    )
    return Ratings(items, labels, significance, design, _known(seconds), _known(order))


def _check_columns(frame: pd.DataFrame, where: str) -> None:
    missing = [column for column in REQUIRED if column not in frame]
    if missing:
        raise AuditError(
            f"{where}: column{'s' if len(missing) > 1 else ''} {', '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} missing; found {', '.join(map(str, frame.columns)) or 'none'}. "
            f"Needed: {', '.join(REQUIRED)}. Nothing was computed. Add what is missing to the first line and run again."
        )
    if frame.empty:
        raise AuditError(
            f"{where}: there is no row under the column names. Needed: one row per item. Nothing was computed. "
            "Export the labels once more."
        )


def _check_items(items: Texts, where: str) -> None:
    empty = np.flatnonzero(items == "")
    twice = np.flatnonzero(pd.Series(items).duplicated())
    fault = (
        f"row {empty[0] + FIRST_ROW} has no item_id"
        if len(empty)
        else f"item '{items[twice[0]]}' has two rows"
        if len(twice)
        else ""
    )
    if fault:
        raise AuditError(
            f"{where}: {fault}. Needed: one row per item, with its own item_id. Nothing was computed. "
            "Correct the rows and run again."
        )


def _codes(frame: pd.DataFrame, column: str, items: Texts, spellings: Mapping[str, StrEnum], kind: str, where: str) -> Codes:
    """Places in the declared order; MISSING for an empty cell."""
    order: Sequence[StrEnum] = LABELS if kind == "label" else SIGNIFICANCES
    place = {spelling: order.index(term) for spelling, term in spellings.items()} | dict.fromkeys(EMPTY_WORDS, MISSING)
    words = frame[column].astype("object").fillna("").astype(str).map(plain)
    codes = words.map(place)
    unknown = np.flatnonzero(codes.isna())
    if len(unknown):
        row = int(unknown[0])
        raise AuditError(
            _unknown(frame[column].iloc[row], f"{where}, row {row + FIRST_ROW} (item '{items[row]}'), {column}", kind, order)
        )
    return np.asarray(codes, dtype=np.intp)


def _unknown(word: object, place: str, kind: str, order: Sequence[StrEnum]) -> str:
    allowed = tuple(term.value for term in order)
    meant = nearest(str(word).strip().upper() if kind == "label" else str(word).strip().lower(), allowed)
    return (
        f"{place}: {kind} '{word}' is not in the vocabulary.{meant} Allowed: {', '.join(allowed)}, or an empty cell. "
        "Nothing was computed. Correct the cell and run again."
    )


def _significance_column(frame: pd.DataFrame, seat: str) -> str | None:
    names = (f"significance_{_letter(seat)}", f"{seat}_significance")
    return next((name for name in names if name in frame), None)


def _letter(seat: str) -> str:
    return seat.removeprefix("annotator_")


def _numbers(frame: pd.DataFrame, column: str, where: str) -> Floats | None:
    """A column of times or places, NaN for an empty cell; None where there is no such column."""
    if column not in frame:
        return None
    words = frame[column].astype("object").fillna("").astype(str).str.strip()
    numbers = pd.to_numeric(words.where(words != "", np.nan), errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero((words != "") & ~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        raise AuditError(
            f"{where}, row {wrong[0] + FIRST_ROW}, {column}: '{frame[column].iloc[wrong[0]]}' is no number. Allowed: 0 or more, "
            "or an empty cell. Nothing was computed. Correct the cell and run again."
        )
    return numbers


def _known(columns: Mapping[str, Floats | None]) -> dict[str, Floats]:
    return {seat: numbers for seat, numbers in columns.items() if numbers is not None}
