"""Labels files: CSV, TSV, JSON and JSON Lines, with a row for each item, or for each item and annotator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from string import ascii_lowercase

import pandas as pd

from annotation.ratings.file_rows import GOLD_COLUMNS, ROW, RatingCounts, labels_elsewhere
from annotation.ratings.gold_rows import GROUND_TRUTH, gold_apart, with_gold_column
from annotation.ratings.tool_exports import ARGILLA_END, GOLD_ROW, POTATO_SEPARATOR, LabelRows, rows_of_records, rows_of_table
from audit.errors import AuditError
from audit.people_tables import (
    ANNOTATOR,
    INVISIBLE,
    RATER_FIELDS,
    WHOLE_NUMBER,
    TableSource,
    alike,
    json_records,
    listed,
    rater_columns,
    rater_key,
    read_csv,
    visible,
)
from audit.vocabulary import EMPTY_WORDS, LABEL_SPELLINGS, LABELS, nearest, plain

LABELS_FILE_COLUMNS = """columns of a labels file with one row per item:
  item_id, annotator_a, annotator_b, judge       required; an empty cell means: not labelled, or no readable verdict
  annotator_c, annotator_lee ...                 further annotators: every column that begins with annotator
  gold                                           the adjudicated label (also gold_label, gold_standard, ground_truth)
  significance_a, ..., judge_significance        low, medium or high
  design_weight, stratum                         pairs in the item's stratum divided by items sampled from it; the stratum's
                                                 name (default: the judge's label)
  seconds_a ..., order_a ...                     how long an item took, and its position in the work (1, 2, ...)
  baseline                                       another judge's labels to compare the judge with (or name a column with
                                                 --against)
  question_id, handbook_a, handbook_b            which pair it is

columns of a labels file with one row per item and annotator (long format), such as that of `audit study export`:
  item_id, annotator, label                      required; also by the names that other tools give them, such as user or choice
  significance, seconds, order                   of that rating
  judge, gold, design_weight, stratum, ...       as above, the same in all rows of an item
Exports of Label Studio (JSON, JSON-MIN, CSV), Argilla (JSON, CSV) and potato (CSV, TSV) are read as they are; of doccano and
INCEpTION, tables or JSON Lines with an annotator in each row. Rows of an annotator called gold, ground_truth or CURATION_USER,
and Label Studio's ground truth, are gold labels. Cells are separated by commas, semicolons or tabs; case and blanks of column
names do not matter. Every rating of the file is used or counted with the reason why it is not."""
"""Help text of the command line on labels files."""

JSON_ENDINGS = (".json", ".jsonl", ".ndjson")


def read_labels(path: Path) -> LabelsFile:
    """A labels file with one row per item, whatever its format; see `ratings_from` and `wide_labels` for the columns.

    Every rating of the file is used or counted with a reason in `counts`.

    Raises AuditError when the file does not exist, is not a table, or could be read in two ways.
    """
    where, source = str(path), TableSource(str(path), "Nothing was computed.")
    if path.suffix.lower() in JSON_ENDINGS:
        read = rows_of_records(json_records(path, source), source)
    else:
        read = rows_of_table(read_csv(path, source, is_label_column), source)
    read = replace(read, frame=with_gold_column(read.frame, where))
    file = wide_labels(read, where) if read.from_tool or is_long(read.frame) else _wide(read, where)
    hints = tuple(_id_hints(read.frame, where))
    _check_counts(file.counts, where)
    return replace(file, notes=(*read.notes, *hints, *file.notes, *file.counts.sentences()))


def is_label_column(name: str) -> bool:
    """Whether a plain column name is one that labels files have; used to find the separator of a CSV file."""
    aliases = (other for names in NAMES.values() for other in names)
    known = (*OF_RATER, *OF_ITEM, *NAMES, *aliases, *LAST_RESORT.values(), *GOLD_COLUMNS)
    return name in known or name.startswith((ANNOTATOR, *RATER_FIELDS)) or POTATO_SEPARATOR in name or ARGILLA_END in name


def _wide(read: LabelRows, where: str) -> LabelsFile:
    """A table that has one row per item already."""
    frame = read.frame
    raters = rater_columns(frame.columns)
    fields = [name for name in RATER_FIELDS if name != "comment"]
    own = {name for rater in raters for about in fields for name in (f"{about}_{rater_key(rater)}", f"{rater}_{about}")}
    unused = [str(name) for name in frame if name not in (ITEM, ROW, *raters, *own, *OF_ITEM)]
    rated = [cell for rater in raters for cell in frame[rater] if plain(visible(cell)) not in EMPTY_WORDS]
    lost = labels_elsewhere(frame, unused)
    counts = RatingCounts(len(rated) + lost.total(), len(rated), dict(lost), tuple(unused))
    if ITEM in frame:
        frame = frame.assign(**{ITEM: frame[ITEM].map(visible)})
    return LabelsFile(frame, (), pd.DataFrame(columns=REPEAT_COLUMNS), counts)


def _id_hints(frame: pd.DataFrame, where: str) -> Iterator[str]:
    """What to know about the item ids. Raises AuditError for two ids that nobody can tell apart."""
    column = next((name for name in (ITEM, *NAMES[ITEM], *LAST_RESORT.values()) if name in frame), None)
    written = [] if column is None else list(map(str, frame[column]))
    ids = list(map(visible, written))
    for first, second in alike(dict.fromkeys(ids)):
        if first.casefold() != second.casefold():
            raise AuditError(
                f"{where}, column {column}: '{first}' and '{second}' look alike, and may be one item or two: they differ in "
                "blanks, invisible characters or .0 only. Nothing was computed. Write the id of an item in one way."
            )
        yield f"Item ids '{first}' and '{second}' differ in upper and lower case only; they are read as two items."
    hidden = [new for old, new in zip(written, ids, strict=True) if old.strip(" \t\r\n") != new]
    if hidden:
        yield f"{len(hidden):,} item ids had invisible characters around them, which were removed ({listed(hidden)})."
    inside = [name for name in dict.fromkeys(ids) if INVISIBLE.search(name)]
    if inside:
        yield f"{len(inside):,} item ids have invisible characters inside ({listed(inside)}); they match no id without them."
    decimal = [name for name in dict.fromkeys(ids) if WHOLE_NUMBER.fullmatch(name)]
    if decimal:
        yield f"{len(decimal):,} item ids end in .0 ({listed(decimal)}), as programs write numbers; they match no id without it."


def _check_counts(counts: RatingCounts, where: str) -> None:
    """A rating that is neither used nor named is a fault of the reader, and no figure is better than a wrong one."""
    if counts.in_file != counts.used + sum(counts.left_out.values()):
        raise AuditError(
            f"{where}: {counts.in_file:,} ratings are in the file, {counts.used:,} were read and "
            f"{sum(counts.left_out.values()):,} are left out for a known reason. Nothing was computed. Please report this file."
        )


# -- Labels in long format: a row for each item and annotator ------------------------------------------------
# That is how most tools keep labels, and how this dashboard exports a study (`audit study export`). Columns are found by their
# names alone; whatever is ambiguous, repeated or unknown is refused with its row and column, and nothing is guessed.

ITEM, RATER, LABEL = "item_id", "annotator", "label"
NAMES: Mapping[str, Sequence[str]] = {
    ITEM: ("item", "instance_id", "task_id", "task", "unit", "unit_id", "record_id", "document", "document_id"),
    RATER: (
        "annotator_id", "user", "user_id", "username", "rater", "rater_id", "coder", "worker", "worker_id", "completed_by",
    ),
    LABEL: ("labels", "choice", "category", "classification", "annotation", "value"),
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
SEAT, REPEAT_OF = "seat", "repeat_of"
REPEAT_COLUMNS = ["annotator", "item_id", "first", "second"]
ONE_ROW = "Needed: one row for each item and annotator, with columns item_id, annotator and label."
NOTHING = "Nothing was computed."


@dataclass(frozen=True)
class LabelsFile:
    """A labels file with one row per item, as `annotation.ratings.table.ratings_from` takes it.

    notes    what to know about how it was read, in sentences
    repeats  labels of items that an annotator rated twice, as `retest_agreement` takes them; no rows if there are none
    counts   ratings in the file, used and left out
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]
    repeats: pd.DataFrame
    counts: RatingCounts


def is_long(frame: pd.DataFrame) -> bool:
    """Whether the columns are those of a row for each item and annotator."""
    others = [name for name in rater_columns(frame.columns) if name not in (RATER, *NAMES[RATER])]
    return len(others) < 2 and any(name in frame for name in (RATER, *NAMES[RATER]))


def wide_labels(read: LabelRows, where: str) -> LabelsFile:
    """The labels in a frame in long format, every cell a text.

    item_id, annotator, label     required, by one of the names in NAMES; without a label, that person did not rate the item
    significance, seconds, order  optional, of that rating (`position` of a study's own export is its order)
    judge, gold, design_weight, stratum, ...   optional, about the item: the same in all its rows
    kind, seat, repeat_of         of a study's own export: calibration items are left out, repeats are kept apart

    Rows of gold labels (of an annotator called gold or CURATION_USER, or marked as ground truth) are not ratings.

    Raises AuditError, naming row and column, for a column that is missing or has two candidates, an unknown label, a second row
    of an item and annotator, a column about the item that differs between its rows, and where fewer than two people rated.
    """
    rows = _with_standard_columns(read.frame, where)
    _check_cells(rows, where)
    own, gold, left_out = gold_apart(rows, where)
    in_file = int((rows[LABEL] != "").sum()) + read.left_out.total()
    left_out = read.left_out + left_out
    ratings, repeats, kinds = _by_kind(own)
    left_out += kinds
    rater = SEAT if SEAT in ratings else RATER
    for column in dict.fromkeys((RATER, rater)):
        _check_duplicates(ratings, column, where)
    raters = _raters(ratings, rater, where)
    wide = _item_rows(ratings, gold, where)
    letters = dict(zip(raters, _letters(), strict=False))
    for name, letter in letters.items():
        rated = ratings[ratings[rater] == name].set_index(ITEM)
        for column, shown in OF_RATER.items():
            if column in rated:
                wide[f"{shown}_{letter}"] = rated[column].reindex(wide.index).fillna("")
    unused = _unused_columns(rows, where)
    lost = labels_elsewhere(rows, unused)
    labels = sum(int((wide[f"{ANNOTATOR}_{letter}"] != "").sum()) for letter in letters.values())
    counts = RatingCounts(in_file + lost.total(), labels + len(repeats), dict(left_out + lost), tuple(unused))
    people = "; ".join(f"{letter.upper()}: {_people(ratings, rater, name)}" for name, letter in letters.items())
    about = f"{where} has one row per rating: {len(ratings):,} rows about {len(wide):,} items. Annotators: {people}."
    return LabelsFile(wide.reset_index(), (about, *_skipped(read)), repeats, counts)


def _skipped(read: LabelRows) -> list[str]:
    return [f"Skipped {count:,} times: {what}." for what, count in read.skipped.items()]


def _raters(rows: pd.DataFrame, rater: str, where: str) -> list[str]:
    """Who gave labels, two at least; nobody twice under names that differ in case or blanks only."""
    raters = sorted(set(rows.loc[rows[LABEL] != "", rater]))
    for first, second in alike(raters):
        raise AuditError(
            f"{where}, column {rater}: '{first}' and '{second}' may be one annotator or two. {NOTHING} Write the name of one "
            "annotator in one way, or give two annotators names that differ in more than case, blanks and .0."
        )
    if len(raters) < 2:
        only = f"only '{raters[0]}' gave labels" if raters else "no row has a label"
        raise AuditError(f"{where}, column {rater}: {only}; agreement needs two annotators. {NOTHING} Add the other's rows.")
    return raters


def _unused_columns(rows: pd.DataFrame, where: str) -> list[str]:
    """The columns that were not read. Raises AuditError for a column of labels that begins with `annotator`."""
    read = {ITEM, RATER, *OF_RATER, *OF_ITEM, KIND, SEAT, REPEAT_OF, ROW, GOLD_ROW, GROUND_TRUTH}
    unused = [str(name) for name in rows if name not in read]
    for name in labels_elsewhere(rows, [name for name in unused if name.startswith(ANNOTATOR)]):
        raise AuditError(f"{where}, row 1: {name.replace('is not', 'cannot be')} in a table with a row per rating. {NOTHING}")
    return unused


def _with_standard_columns(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """The frame with the column names of the long format; all cells are stripped texts."""
    chosen = {_column_of(frame, name, where): name for name in NAMES}
    # Another column that already has the name would be a second candidate, which `_column_of` refuses.
    named = frame.rename(columns=chosen).rename(columns={"position": "order"} if "order" not in frame else {})
    return named.map(visible)


def _column_of(frame: pd.DataFrame, name: str, where: str) -> str:
    if name in frame:
        return name
    last = LAST_RESORT.get(name, "")
    candidates = [other for other in NAMES[name] if other in frame] or ([last] if last in frame else [])
    if len(candidates) == 1:
        return str(candidates[0])
    columns = ", ".join(str(column) for column in frame if column not in (ROW, GOLD_ROW))
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
        several = " It has several answers, and one is allowed." if row[LABEL].startswith("[") else ""
        hint = several or nearest(row[LABEL].upper(), tuple(map(str, LABELS)))
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


def _by_kind(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, Counter[str]]:
    """The rows of study items; the labels of repeats; and why ratings enter no figure of the sample."""
    none = pd.DataFrame(columns=REPEAT_COLUMNS)
    if KIND not in rows or not (rows[KIND] == STUDY_ITEM).any():
        return rows, none, Counter()
    rated = rows[rows[LABEL] != ""]
    left_out = Counter(f"of kind {kind or '(empty)'}" for kind in rated.loc[rated[KIND] != STUDY_ITEM, KIND])
    study = rows[rows[KIND] == STUDY_ITEM]
    if REPEAT_OF not in rows:
        return study, none, left_out
    repeats, first = rated[rated[KIND] == REPEAT], rated[rated[KIND] == STUDY_ITEM]
    both = repeats.merge(first, left_on=[REPEAT_OF, RATER], right_on=[ITEM, RATER], suffixes=("_again", ""))
    columns = {"annotator": both[RATER], "item_id": both[ITEM], "first": both[LABEL], "second": both[f"{LABEL}_again"]}
    codes = {spelling: term.value for spelling, term in LABEL_SPELLINGS.items()}
    labels = pd.DataFrame(columns)
    # A repeat is used with the first rating of its item; one without it stays among what is left out
    left_out[f"of kind {REPEAT}"] -= len(both)
    return study, labels.assign(**{side: labels[side].map(plain).map(codes) for side in ("first", "second")}), +left_out


def _item_rows(rows: pd.DataFrame, gold: pd.DataFrame, where: str) -> pd.DataFrame:
    """One row per item with what its rows say about it, in the order in which items appear first.

    gold  the gold labels by item, from rows of their own
    """
    columns = [name for name in (ROW, *OF_ITEM) if name in rows]
    first = rows.drop_duplicates(ITEM).set_index(ITEM)[columns]
    for name in columns[1:]:
        differing = rows[rows[name] != rows[ITEM].map(first[name])]
        if len(differing):
            row = differing.iloc[0]
            raise AuditError(
                f"{where}, {row[ROW]}, column {name}: '{row[name][:40]}' for item '{row[ITEM]}', whose first row has "
                f"'{first.loc[row[ITEM], name][:40]}'. Allowed: one value per item. {NOTHING} Correct the cell."
            )
    first = first if "judge" in first else first.assign(judge="")
    if len(gold):
        first = first.assign(**{str(name): gold[name].reindex(first.index).fillna("") for name in gold})
    return first


def _people(rows: pd.DataFrame, rater: str, name: str) -> str:
    """Who rated under this name: several people where a study's own export has seats."""
    return ", ".join(sorted(set(rows.loc[(rows[rater] == name) & (rows[LABEL] != ""), RATER])))


def _letters() -> list[str]:
    return [*ascii_lowercase, *map("".join, product(ascii_lowercase, repeat=2))]
