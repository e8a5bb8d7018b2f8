"""Labels in long format, a row for each item and annotator, turned into the table with a row for each item.

That is how most tools keep labels, and how this dashboard exports a study (`audit study export`). Columns are found by their
names alone; whatever is ambiguous, repeated or unknown is refused with its row and column, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from string import ascii_lowercase

import pandas as pd

from annotation.ratings.tool_exports import ROW
from audit.errors import AuditError
from audit.vocabulary import EMPTY_WORDS, LABEL_SPELLINGS, LABELS, nearest, plain

ITEM, RATER, LABEL = "item_id", "annotator", "label"
NAMES: Mapping[str, Sequence[str]] = {
    ITEM: ("item", "instance_id", "task_id", "task", "unit", "unit_id", "record_id"),
    RATER: (
        "annotator_id", "user", "user_id", "username", "rater", "rater_id", "coder", "worker", "worker_id", "completed_by",
    ),
    LABEL: ("choice", "category", "classification", "annotation", "value"),
}  # fmt: skip
"""Column of the long format -> other names that it may have."""
LAST_RESORT = {ITEM: "id"}
"""Names that count only where there is no other: tools number their tasks `id` beside an id of one's own."""
OF_RATER = {"label": "annotator", "significance": "significance", "seconds": "seconds", "lead_time": "seconds", "order": "order"}
"""Column of a rating -> its name in the wide table, before `_a`, `_b`, ..."""
OF_ITEM = (
    "judge", "judge_significance", "gold", "gold_significance", "significance_gold", "design_weight", "stratum", "question_id",
    "handbook_a", "handbook_b", "baseline",
)  # fmt: skip
KIND, STUDY_ITEM, REPEAT = "kind", "study", "repeat"
REPEAT_COLUMNS = ["annotator", "item_id", "first", "second"]
ONE_ROW = "Needed: one row for each item and annotator, with columns item_id, annotator and label."
NOTHING = "Nothing was computed."


@dataclass(frozen=True)
class LabelsFile:
    """A labels file with one row per item, as `annotation.ratings.table.ratings_from` takes it.

    notes    what to know about how it was read, in sentences
    repeats  labels of items that an annotator rated twice, as `retest_agreement` takes them; no rows if there are none
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]
    repeats: pd.DataFrame


def is_long(frame: pd.DataFrame) -> bool:
    """Whether the columns are those of a row for each item and annotator."""
    names = set(_plain_names(frame))
    return "annotator_a" not in names and any(name in names for name in (RATER, *NAMES[RATER]))


def wide_labels(frame: pd.DataFrame, where: str) -> LabelsFile:
    """The labels in a frame in long format, every cell a text; ROW, where it has that column, names its rows in errors.

    item_id, annotator, label     required, by one of the names in NAMES; without a label, that person did not rate the item
    significance, seconds, order  optional, of that rating (`position` of a study's own export is its order)
    judge, gold, design_weight, stratum, ...   optional, about the item: the same in all its rows
    kind, seat, repeat_of         of a study's own export: calibration items are left out, repeats are kept apart

    Raises AuditError, naming row and column, for a column that is missing or has two candidates, an unknown label, a second row
    of an item and annotator, a column about the item that differs between its rows, and where fewer than two people rated.
    """
    rows = _with_standard_columns(frame, where)
    _check_cells(rows, where)
    ratings, repeats, left_out = _by_kind(rows)
    rater = "seat" if "seat" in ratings else RATER
    for column in dict.fromkeys((RATER, rater)):
        _check_duplicates(ratings, column, where)
    raters = sorted(set(ratings.loc[ratings[LABEL] != "", rater]))
    if len(raters) < 2:
        only = f"only '{raters[0]}' gave labels" if raters else "no row has a label"
        raise AuditError(f"{where}, column {rater}: {only}; agreement needs two annotators. {NOTHING} Add the other's rows.")
    wide = _item_rows(ratings, where)
    letters = dict(zip(raters, _letters(), strict=False))
    for name, letter in letters.items():
        own = ratings[ratings[rater] == name].set_index(ITEM)
        for column, shown in OF_RATER.items():
            if column in own:
                wide[f"{shown}_{letter}"] = own[column].reindex(wide.index).fillna("")
    people = "; ".join(f"{letter.upper()}: {_people(ratings, rater, name)}" for name, letter in letters.items())
    read = f"{where} has one row per rating: {len(ratings):,} rows about {len(wide):,} items. Annotators: {people}."
    return LabelsFile(wide.reset_index(), (read, *left_out), repeats)


def _with_standard_columns(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """The frame with the column names of the long format; all cells are stripped texts."""
    frame = frame.set_axis(_plain_names(frame), axis="columns")
    repeated = [name for name in frame if (frame.columns == name).sum() > 1]
    if repeated:
        raise AuditError(f"{where}, row 1: column '{repeated[0]}' appears twice. {NOTHING} Rename one of them.")
    chosen = {_column_of(frame, name, where): name for name in NAMES}
    # Another column that already has the name would be a second candidate, which `_column_of` refuses.
    named = frame.rename(columns=chosen).rename(columns={"position": "order"} if "order" not in frame else {})
    texts = pd.DataFrame({name: named[name].astype("object").fillna("").astype(str).str.strip() for name in named})
    return texts if ROW in texts else texts.assign(**{ROW: [f"row {number + 2}" for number in range(len(texts))]})


def _plain_names(frame: pd.DataFrame) -> list[str]:
    return [str(name).strip().lower().replace(" ", "_") for name in frame.columns]


def _column_of(frame: pd.DataFrame, name: str, where: str) -> str:
    if name in frame:
        return name
    last = LAST_RESORT.get(name, "")
    candidates = [other for other in NAMES[name] if other in frame] or ([last] if last in frame else [])
    if len(candidates) == 1:
        return str(candidates[0])
    columns = ", ".join(str(column) for column in frame if column != ROW)
    fault = (
        f"columns {' and '.join(map(str, candidates))} could both be the {name}" if candidates else f"column '{name}' is missing"
    )
    raise AuditError(f"{where}, row 1: {fault}; the columns are {columns}. {ONE_ROW} {NOTHING} Rename one to {name}.")


def _check_cells(rows: pd.DataFrame, where: str) -> None:
    if rows.empty:
        raise AuditError(f"{where}: the table has column names and no rows. {ONE_ROW} {NOTHING} Export the labels again.")
    empty = rows[LABEL].map(plain).isin(EMPTY_WORDS)
    known = empty | rows[LABEL].map(plain).isin(set(LABEL_SPELLINGS))
    for wrong, column, fault in (
        (rows[ITEM] == "", ITEM, "is empty"),
        ((rows[RATER] == "") & ~empty, RATER, "is empty, but the row has a label"),
    ):
        if wrong.any():
            raise AuditError(f"{where}, {rows.loc[wrong, ROW].iloc[0]}, column {column}: it {fault}. {ONE_ROW} {NOTHING}")
    if not known.all():
        row = rows[~known].iloc[0]
        hint = nearest(row[LABEL].upper(), tuple(map(str, LABELS)))
        raise AuditError(
            f"{where}, {row[ROW]}, column {LABEL}: '{row[LABEL][:40]}' (item '{row[ITEM]}') is not in the vocabulary.{hint} "
            f"Allowed: {', '.join(LABELS)}, or an empty cell. {NOTHING} Correct the cell and run again."
        )
    rows.loc[empty, LABEL] = ""


def _check_duplicates(rows: pd.DataFrame, rater: str, where: str) -> None:
    # Rows without a rater are items that nobody was assigned yet.
    again = rows[rows.duplicated([ITEM, rater]) & (rows[rater] != "")]
    if len(again):
        row = again.iloc[0]
        first = rows[(rows[ITEM] == row[ITEM]) & (rows[rater] == row[rater])].iloc[0]
        raise AuditError(
            f"{where}, {row[ROW]}, column {rater}: item '{row[ITEM]}' already has a row by '{row[rater]}', {first[ROW]} "
            f"('{first[LABEL]}', here '{row[LABEL]}'). {ONE_ROW} {NOTHING} Delete the row that does not count."
        )


def _by_kind(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """The rows of study items; the labels of repeats; and how many rows of each kind enter no figure of the sample."""
    none = pd.DataFrame(columns=REPEAT_COLUMNS)
    if KIND not in rows or not (rows[KIND] == STUDY_ITEM).any():
        return rows, none, []
    others = rows.loc[rows[KIND] != STUDY_ITEM, KIND].value_counts(sort=False)
    notes = [f"Left out: {', '.join(f'{n:,} rows of kind {kind}' for kind, n in others.items())}."] if len(others) else []
    study = rows[rows[KIND] == STUDY_ITEM]
    if "repeat_of" not in rows:
        return study, none, notes
    repeats = rows[(rows[KIND] == REPEAT) & (rows[LABEL] != "")]
    both = repeats.merge(study[study[LABEL] != ""], left_on=["repeat_of", RATER], right_on=[ITEM, RATER], suffixes=("_again", ""))
    columns = {"annotator": both[RATER], "item_id": both[ITEM], "first": both[LABEL], "second": both[f"{LABEL}_again"]}
    codes = {spelling: term.value for spelling, term in LABEL_SPELLINGS.items()}
    labels = pd.DataFrame(columns)
    return study, labels.assign(**{side: labels[side].map(plain).map(codes) for side in ("first", "second")}), notes


def _item_rows(rows: pd.DataFrame, where: str) -> pd.DataFrame:
    """One row per item with what its rows say about it, in the order in which items appear first."""
    columns = [name for name in OF_ITEM if name in rows]
    first = rows.drop_duplicates(ITEM).set_index(ITEM)[columns]
    for name in columns:
        differing = rows[rows[name] != rows[ITEM].map(first[name])]
        if len(differing):
            row = differing.iloc[0]
            raise AuditError(
                f"{where}, {row[ROW]}, column {name}: '{row[name][:40]}' for item '{row[ITEM]}', whose first row has "
                f"'{first.loc[row[ITEM], name][:40]}'. Allowed: one value per item. {NOTHING} Correct the cell."
            )
    return first if "judge" in first else first.assign(judge="")


def _people(rows: pd.DataFrame, rater: str, name: str) -> str:
    """Who rated under this name: several people where a study's own export has seats."""
    return ", ".join(sorted(set(rows.loc[(rows[rater] == name) & (rows[LABEL] != ""), RATER])))


def _letters() -> list[str]:
    return [*ascii_lowercase, *map("".join, product(ascii_lowercase, repeat=2))]
