"""A frame as CSV, Markdown or JSON."""

from __future__ import annotations

import json
import re

import pandas as pd

from audit.number_format import typed
from audit.spreadsheet_safety import safe_cell
from audit.store.runs import Run


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as CSV; an unknown value is an empty cell."""
    safe = frame.apply(lambda column: column if pd.api.types.is_numeric_dtype(column) else column.map(safe_cell))
    return str(safe.rename(columns=safe_cell).to_csv(index=False))


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """`csv_text` as UTF-8 with a byte order mark, which Excel needs to read accents right."""
    return csv_text(frame).encode("utf-8-sig")


def markdown_text(frame: pd.DataFrame, run: Run, name: str) -> str:
    """The frame as a Markdown table under a line that says which data it holds; an unknown value is a dash."""
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    header = [str(column) for column in frame.columns]
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join([f"{name} of {plain(run.title)} ({run.key})", "", *(f"| {' | '.join(line)} |" for line in lines)])


def json_text(frame: pd.DataFrame, run: Run, name: str) -> str:
    """`{"metric", "run", "digest", "rows": [...]}`; an unknown value is null."""
    rows = json.loads(frame.to_json(orient="records", force_ascii=False, double_precision=15))
    return json.dumps({"metric": name, "run": run.run_id, "digest": run.digest, "rows": rows}, ensure_ascii=False, indent=1)


def file_name(run: Run, name: str) -> str:
    """`run-id_digest_name.csv`, so that a file on a desk still tells which data it holds."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{run.run_id}_{run.digest[:8]}_{name}") + ".csv"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "-" if pd.isna(value) else typed(value, 4)
    return "-" if value is None or value is pd.NA else plain(str(value))


def plain(text: str) -> str:
    """Text that cannot break out of a cell of a Markdown table."""
    return re.sub(r"([\\|`*_\[\]<>$])", r"\\\1", " ".join(text.split()))
