"""Labels files: CSV, TSV, JSON and JSON Lines, with a row for each item, or for each item and annotator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from annotation.ratings.file_rows import GOLD_COLUMNS, ROW, RatingCounts, labels_elsewhere
from annotation.ratings.gold_rows import with_gold_column
from annotation.ratings.long_format import (
    ITEM,
    LAST_RESORT,
    NAMES,
    OF_ITEM,
    OF_RATER,
    REPEAT_COLUMNS,
    LabelsFile,
    is_long,
    wide_labels,
)
from annotation.ratings.tool_exports import ARGILLA_END, POTATO_SEPARATOR, LabelRows, rows_of_records, rows_of_table
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
from audit.vocabulary import EMPTY_WORDS, plain

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
