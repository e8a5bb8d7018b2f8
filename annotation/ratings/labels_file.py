"""Labels files: CSV, TSV, JSON and JSON Lines, with a row for each item, or for each item and annotator."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from annotation.ratings.long_format import REPEAT_COLUMNS, LabelsFile, is_long, wide_labels
from annotation.ratings.table import REQUIRED_COLUMNS
from annotation.ratings.tool_exports import frame_of_columns, frame_of_records
from audit.errors import AuditError, describe_error

LABELS_FILE_COLUMNS = """columns of a labels file with one row per item:
  item_id, annotator_a, annotator_b, judge       required; an empty cell means: not labelled, or no readable verdict
  annotator_c ..., gold                          further annotators; the adjudicated label
  significance_a, ..., judge_significance        low, medium or high
  design_weight, stratum                         pairs in the item's stratum divided by items sampled from it; the stratum's
                                                 name (default: the judge's label)
  seconds_a ..., order_a ...                     how long an item took, and its position in the work (1, 2, ...)
  baseline                                       another judge's labels to compare the judge with (or name a column with
                                                 --against)
  question_id, handbook_a, handbook_b            which pair it is; required for --release

columns of a labels file with one row per item and annotator (long format), such as that of `audit study export`:
  item_id, annotator, label                      required; also by the names that other tools give them, such as user or choice
  significance, seconds, order                   of that rating
  judge, gold, design_weight, stratum, ...       as above, the same in all rows of an item
Exports of Label Studio (JSON, JSON-MIN, CSV), Argilla (JSON, CSV) and potato (CSV, TSV) are read as they are."""
"""Help text of the command line on labels files."""

JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
TABS = (".tsv", ".tab")


def read_labels(path: Path) -> LabelsFile:
    """A labels file with one row per item, whatever its format; see `ratings_from` and `wide_labels` for the columns.

    Raises AuditError when the file does not exist, is not a table, or is in long format and cannot be turned without guessing.
    """
    if path.suffix.lower() in JSON_ENDINGS:
        frame = frame_of_records(_records(path), str(path))
    else:
        frame = frame_of_columns(_table(path), str(path))
    if is_long(frame):
        return wide_labels(frame, str(path))
    return LabelsFile(frame, (), pd.DataFrame(columns=REPEAT_COLUMNS))


def _table(path: Path) -> pd.DataFrame:
    separator = "\t" if path.suffix.lower() in TABS else ","
    try:
        # As text and none missing, so an id 007 stays 007; spreadsheets begin a file with a byte order mark.
        return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig", skipinitialspace=True)
    except (OSError, EOFError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise AuditError(
            f"{path}: cannot be read as a CSV table ({describe_error(error)}). Nothing was computed. "
            f"Give a comma-separated file in UTF-8 whose first line names the columns {', '.join(REQUIRED_COLUMNS)}, or item_id, "
            "annotator and label."
        ) from None


def _records(path: Path) -> list[object]:
    """The records of a JSON file: a list, one object per line, or an object with a list for each column."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        parsed = (
            json.loads(text) if path.suffix.lower() == ".json" else list(map(json.loads, filter(str.strip, text.splitlines())))
        )
    except (OSError, ValueError, RecursionError) as error:
        raise AuditError(
            f"{path}: cannot be read as JSON ({describe_error(error)}). Nothing was computed. Export the labels again."
        ) from None
    if isinstance(parsed, dict):
        columns = parsed.values()
        if all(isinstance(column, list) and len(column) == len(next(iter(columns))) for column in columns):
            return [dict(zip(parsed, row, strict=True)) for row in zip(*columns, strict=True)]
        raise AuditError(f"{path}: a list of records was expected. Nothing was computed. Export the labels again.")
    return list(parsed)
