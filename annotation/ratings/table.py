"""A table of labelled items, read and checked.

Everything after this module works on codes: a label is its index in the declared order, MISSING where none was given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.ratings.design import MISSING, Codes, Floats, SampleDesign, design_from
from annotation.ratings.file_rows import ROW, row_name
from annotation.schemes import PAIRS, Scheme
from audit.errors import AuditError
from audit.people_tables import ANNOTATOR, decimal_number, rater_columns, rater_key, visible
from audit.tables import IntervalKind
from audit.vocabulary import EMPTY_WORDS, LABEL_SPELLINGS, LABELS, SIGNIFICANCE_SPELLINGS, SIGNIFICANCES, nearest, plain

Texts = npt.NDArray[np.object_]
JUDGE, GOLD = "judge", "gold"
REQUIRED_COLUMNS = ("item_id", "annotator_a", "annotator_b", JUDGE)
SHORT_RATER = re.compile(r"annotator_[a-z0-9]{1,2}")
NOT_A_RATER = " If it is not a rater's column, rename it so that it does not begin with 'annotator'."
Vocabulary = tuple[Sequence[str], Mapping[str, str]]
"""Terms in order, and their spellings."""
LABEL_VOCABULARY: Vocabulary = (LABELS, LABEL_SPELLINGS)
SIGNIFICANCE_VOCABULARY: Vocabulary = (SIGNIFICANCES, SIGNIFICANCE_SPELLINGS)


@dataclass(frozen=True)
class Ratings:
    """Labelled items; every array has one value per item.

    items         the item ids
    labels        rater -> label codes; the raters are the annotators in the order of the columns, `judge`, and `gold` if given
    significance  rater -> significance codes, for the raters that gave any
    design        how the items were sampled; None where the table has no design_weight
    seconds       annotator -> seconds taken, NaN where not known, for the annotators whose times the table has
    order         annotator -> position of the item in that annotator's order of work, NaN where not known, likewise
    scheme        what the labels are: their words in order, and whether they are an ordered scale
    live          whether ratings are still coming in, so intervals have to be right however often somebody looks
    """

    items: Texts
    labels: Mapping[str, Codes]
    significance: Mapping[str, Codes]
    design: SampleDesign | None
    seconds: Mapping[str, Floats]
    order: Mapping[str, Floats]
    scheme: Scheme = PAIRS
    live: bool = False

    @property
    def annotators(self) -> tuple[str, ...]:
        """The human raters, in the order of the columns."""
        return tuple(rater for rater in self.labels if rater not in (JUDGE, GOLD))

    @property
    def intervals(self) -> IntervalKind:
        """The kind of the intervals of figures that come from them."""
        return IntervalKind.ALWAYS_VALID if self.live else IntervalKind.FIXED

    def as_live(self, *, live: bool = True) -> Ratings:
        """The same, while ratings are still coming in, or not."""
        return replace(self, live=live, design=self.design and replace(self.design, live=live))


def labels_in(frame: pd.DataFrame, column: str, where: str) -> Codes:
    """The label codes of any one column, MISSING for an empty cell.

    Raises AuditError when the column does not exist or contains an unknown word.
    """
    if column not in frame:
        raise AuditError(
            f"{where}: column '{column}' is missing; the columns are {', '.join(str(name) for name in frame if name != ROW)}. "
            "Nothing was computed. Name a column that contains labels."
        )
    return _term_codes(frame, column, frame["item_id"].to_numpy(dtype=object), LABEL_VOCABULARY, where)


def ratings_from(
    frame: pd.DataFrame, where: str = "The table", pairs: Mapping[str, float] | None = None, scheme: Scheme = PAIRS
) -> Ratings:
    """The labels in a frame, checked.

    item_id                       unique
    annotator_a, annotator_b, ... one column per human rater, two at least: every column that begins so; a label in any
                                  spelling of the vocabulary, or empty
    judge                         the judge's label; empty where its reply was unparseable
    gold                          optional: the adjudicated label
    significance_a, ..., judge_significance, significance_gold   optional: low, medium, high or empty
    design_weight, stratum        optional: pairs in the item's stratum over items sampled from it; the stratum's name (the
                                  judge's label where there is no such column)
    seconds_a, ..., order_a, ...  optional: how long an item took, and its position in the order of work (1, 2, ...)

    Other columns are ignored. `where` names the table in errors, `scheme` says what its labels are. `pairs` gives the pairs of
    the run in each stratum, where these are known from another source than the weights; strata without an item may be among them.
    Raises AuditError for a missing column, a table without rows, a repeated item, an unknown word, or a wrong number.
    """
    _check_columns(frame, where)
    items = frame["item_id"].astype(str).str.strip().to_numpy(dtype=object)
    _check_items(frame, items, where)
    annotators = rater_columns(frame.columns)
    raters = [*annotators, JUDGE, *([GOLD] if GOLD in frame else [])]
    vocabulary = LABEL_VOCABULARY if scheme is PAIRS else (scheme.words, scheme.spellings)
    _check_number_columns(frame, raters, where)
    labels = {rater: _term_codes(frame, rater, items, vocabulary, where) for rater in raters}
    # A rater without a significance column is absent, not MISSING throughout, so no figure expects one.
    graded = {rater: column for rater in raters if (column := _significance_column(frame, rater))}
    significance = {rater: _term_codes(frame, column, items, SIGNIFICANCE_VOCABULARY, where) for rater, column in graded.items()}
    design = design_from(frame, labels[JUDGE], where, pairs)
    seconds, order = (_annotator_numbers(frame, prefix, annotators, where) for prefix in ("seconds", "order"))
    return Ratings(items, labels, significance, design, seconds, order, scheme)


def _check_columns(frame: pd.DataFrame, where: str) -> None:
    raters = rater_columns(frame.columns)
    others = [name for name in ("annotator_a", "annotator_b") if name not in raters][: max(0, 2 - len(raters))]
    missing = [name for name in REQUIRED_COLUMNS if name in others or (name not in frame and not name.startswith(ANNOTATOR))]
    if missing:
        names = ", ".join(str(name) for name in frame.columns if name != ROW) or "none"
        raise AuditError(
            f"{where}: column{'s' if len(missing) > 1 else ''} {', '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} missing; the columns are {names}. "
            f"Needed: {', '.join(REQUIRED_COLUMNS)}. Nothing was computed. Add what is missing to the first line and run again."
        )
    keys = [rater_key(rater) for rater in raters]
    if twice := next((raters[index] for index, key in enumerate(keys) if key in keys[:index]), None):
        raise AuditError(f"{where}: two columns are of the rater '{rater_key(twice)}'. Nothing was computed. Rename one of them.")
    if frame.empty:
        raise AuditError(
            f"{where}: the table has column names and no rows. Needed: one row per item. Nothing was computed. "
            "Export the labels again."
        )


def _check_items(frame: pd.DataFrame, items: Texts, where: str) -> None:
    empty, repeated = np.flatnonzero(items == ""), np.flatnonzero(pd.Series(items).duplicated())
    if not len(empty) and not len(repeated):
        return
    fault = f"{row_name(frame, empty[0])} has no item_id" if len(empty) else f"item '{items[repeated[0]]}' has two rows"
    raise AuditError(
        f"{where}: {fault}. Needed: one row per item, with its own item_id. Nothing was computed. Correct the rows and run again."
    )


def _term_codes(frame: pd.DataFrame, column: str, items: Texts, vocabulary: Vocabulary, where: str) -> Codes:
    """Indices in the declared order of a vocabulary; MISSING for an empty cell."""
    order, spellings = vocabulary
    codes_by_spelling = {spelling: order.index(term) for spelling, term in spellings.items()}
    codes_by_spelling |= dict.fromkeys(EMPTY_WORDS, MISSING)
    # Looked up in one pass; what is in neither table becomes NaN and is reported with its row.
    codes = _cell_texts(frame, column).map(plain).map(codes_by_spelling)
    unknown = np.flatnonzero(codes.isna())
    if len(unknown):
        row = int(unknown[0])
        cell = f"{where}, {row_name(frame, row)} (item '{items[row]}'), {column}"
        rename = "" if not column.startswith(ANNOTATOR) or SHORT_RATER.fullmatch(column) else NOT_A_RATER
        raise AuditError(_unknown_term(frame[column].iloc[row], cell, order) + rename)
    return np.asarray(codes, dtype=np.intp)


def _cell_texts(frame: pd.DataFrame, column: str) -> pd.Series:
    return frame[column].astype("object").fillna("").astype(str).map(visible)


def _check_number_columns(frame: pd.DataFrame, raters: Sequence[str], where: str) -> None:
    """Refuse a column of numbers among columns of words: `annotators` may count them, and 2 is also a spelling of a label."""
    cells = {rater: [cell for cell in _cell_texts(frame, rater) if plain(cell) not in EMPTY_WORDS] for rater in raters}
    numbers = [rater for rater, own in cells.items() if own and all(map(str.isdigit, own))]
    words = any(not cell.isdigit() for own in cells.values() for cell in own)
    unclear = [rater for rater in numbers if rater.startswith(ANNOTATOR) and not SHORT_RATER.fullmatch(rater)]
    if unclear and words:
        raise AuditError(
            f"{where}: column {unclear[0]} has numbers only and other raters gave words, so it may count something. "
            f"Nothing was computed. Write the labels as words.{NOT_A_RATER}"
        )


def _unknown_term(word: object, cell: str, order: Sequence[str]) -> str:
    allowed = tuple(map(str, order))
    kind = "significance" if allowed == SIGNIFICANCES else "label"
    # In the case of the vocabulary, because `nearest` compares letter by letter.
    suggestion = nearest(str(word).strip().upper() if kind == "label" else str(word).strip().lower(), allowed)
    return (
        f"{cell}: {kind} '{word}' is not in the vocabulary.{suggestion} Allowed: {', '.join(allowed)}, or an empty cell. "
        "Nothing was computed. Correct the cell and run again."
    )


def _significance_column(frame: pd.DataFrame, rater: str) -> str | None:
    names = (f"significance_{rater_key(rater)}", f"{rater}_significance")
    return next((name for name in names if name in frame), None)


def _annotator_numbers(frame: pd.DataFrame, prefix: str, annotators: Sequence[str], where: str) -> dict[str, Floats]:
    """Columns of times or positions, for the annotators who have one; NaN for an empty cell."""
    columns = {rater: (f"{prefix}_{rater_key(rater)}", f"{rater}_{prefix}") for rater in annotators}
    found = {rater: next((name for name in names if name in frame), "") for rater, names in columns.items()}
    return {rater: _number_column(frame, column, where) for rater, column in found.items() if column}


def _number_column(frame: pd.DataFrame, column: str, where: str) -> Floats:
    texts = _cell_texts(frame, column)
    numbers = np.array(list(map(decimal_number, texts)), dtype=float)
    wrong = np.flatnonzero((texts != "") & ~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        raise AuditError(
            f"{where}, {row_name(frame, int(wrong[0]))}: {column} must be a number of at least 0 or empty, not "
            f"'{frame[column].iloc[wrong[0]]}'. Nothing was computed. Correct the cell and run again."
        )
    return numbers
