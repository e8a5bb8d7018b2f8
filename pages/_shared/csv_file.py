"""A frame as a CSV file that is safe to open in a spreadsheet."""

from __future__ import annotations

import re

import pandas as pd

from audit.store.runs import Run

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: object) -> object:
    """Text that a spreadsheet would run as a formula gets a leading apostrophe; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """The frame as UTF-8 CSV with a byte order mark, which Excel needs to read accents right."""
    safe = frame.apply(lambda column: column if pd.api.types.is_numeric_dtype(column) else column.map(safe_cell))
    text: str = safe.rename(columns=safe_cell).to_csv(index=False)
    return text.encode("utf-8-sig")


def file_name(run: Run, name: str) -> str:
    """`run-id_digest_name.csv`, so that a file on a desk still tells which data it holds."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{run.run_id}_{run.digest[:8]}_{name}") + ".csv"
